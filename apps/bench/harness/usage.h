// What the kernel says of this process: time, memory, reads.
#pragma once

#include <cstdint>
#include <string_view>

namespace dapple::bench {

/// Processor seconds of this process, and of its children that have ended and were waited for.
double own_cpu_seconds();
double children_cpu_seconds();

/// Bytes that this process has had read from storage so far; 0 where the kernel does not say.
std::uint64_t bytes_read_from_storage();

/// A field of /proc/self/smaps_rollup in bytes: "Private_Dirty" is memory that no other process
/// shares and that is no file's; "Pss" counts shared pages in parts. 0 where there is none.
std::uint64_t memory_bytes(std::string_view field);

}  // namespace dapple::bench
