// Software prefetch for sequential reads.
#pragma once

#include <cstddef>

namespace dapple::detail {

inline constexpr std::size_t kAskAhead = 4096;

/// Prefetches the cache line one page after `from`, for a sequential reader: the hardware
/// prefetcher stops at page boundaries. Any address is allowed.
inline void ask_ahead(const std::byte* from) noexcept { __builtin_prefetch(from + kAskAhead); }

/// The same for each line of `n` bytes that are about to be read.
inline void ask_ahead(const std::byte* from, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; i += 64) ask_ahead(from + i);
}

}  // namespace dapple::detail
