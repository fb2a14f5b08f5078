// Writing past the caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dapple::detail {

/// Output of this size and more leaves the caches before anybody reads it, and is written past
/// them. Ordinary stores would first fetch each line that they are about to overwrite: 4096 x 4096
/// cells in tiles of 256 x 256, read as f64: from u8 8.4 GB/s of output with ordinary stores, 20
/// past the caches; from f64 7.9 and 17.
inline constexpr std::uint64_t kStreamBytes = std::uint64_t{16} << 20;

/// memcpy, whole lines past the caches. Behind the last one of a thread comes `finish_streams`.
void stream_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept;

/// Makes what was written past the caches visible to other threads, like any other store.
void finish_streams() noexcept;

}  // namespace dapple::detail
