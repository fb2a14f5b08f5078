// Measuring in a process of its own.
#pragma once

#include <cstdint>
#include <functional>

namespace dapple::bench {

/// What f() gives in a forked child, which then ends without cleaning up. Throws
/// std::runtime_error when f throws or the child dies.
double in_child(const std::function<double()>& f);

/// Bytes of this process that no other shares and that are no file's: what it costs the machine.
std::uint64_t private_bytes();

}  // namespace dapple::bench
