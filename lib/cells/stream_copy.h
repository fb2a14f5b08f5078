// Copying with non-temporal stores, which bypass the caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dapple::detail {

/// Output of at least this size leaves the caches before it is read. Ordinary stores would also
/// fetch each line before overwriting it, which halves the speed of large reads.
inline constexpr std::uint64_t kStreamBytes = std::uint64_t{16} << 20;

inline constexpr std::size_t kCopyLine = 64;  // bytes of a cache line

/// The offset in a cache line, rounded down to a word, at which a buffer should start for its lines
/// to coincide with those of `to`.
inline std::size_t place_in_line(const std::byte* to) noexcept {
  constexpr std::size_t kWord = 8;
  return reinterpret_cast<std::uintptr_t>(to) % kCopyLine / kWord * kWord;
}

/// memcpy that writes whole lines with non-temporal stores. Each thread calls `finish_streams`
/// after its last one.
void stream_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept;

/// Orders this thread's non-temporal stores before its later stores, so that other threads that
/// synchronise with it see them.
void finish_streams() noexcept;

}  // namespace dapple::detail
