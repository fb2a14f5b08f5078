// Asking for memory before it is used.
#pragma once

#include <cstddef>

namespace dapple::detail {

/// Asks for as many bytes as are about to be read at `from`, a page further on: the processor's own
/// prefetching ends with each page. Any address will do.
inline void ask_ahead(const std::byte* from, std::size_t n) noexcept {
  constexpr std::size_t kAhead = 4096;
  for (std::size_t i = 0; i < n; i += 64) __builtin_prefetch(from + kAhead + i);
}

}  // namespace dapple::detail
