// Asking for memory before it is used.
#pragma once

#include <cstddef>

namespace dapple::detail {

inline constexpr std::size_t kAskAhead = 4096;

/// Asks for the line of 64 bytes that stands a page (`kAskAhead`) behind `from`, where somebody
/// reads on and on: the processor's own prefetching ends with each page. Any address will do.
inline void ask_ahead(const std::byte* from) noexcept { __builtin_prefetch(from + kAskAhead); }

/// The same for `n` bytes that are about to be read.
inline void ask_ahead(const std::byte* from, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; i += 64) ask_ahead(from + i);
}

}  // namespace dapple::detail
