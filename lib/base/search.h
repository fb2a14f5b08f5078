// Searching among numbers. (clang 14 does not compile views of libstdc++, with which the standard
// library would do.)
#pragma once

#include <cstdint>

namespace dapple::detail {

/// How many of the numbers 0 to n - 1 `holds` is true of. REQUIRES that these are the first ones.
/// O(log n).
template <class F>
std::uint64_t count_first(std::uint64_t n, const F& holds) {
  std::uint64_t begin = 0;
  while (n > 0) {
    const std::uint64_t half = n / 2;
    if (holds(begin + half)) {
      begin += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return begin;
}

}  // namespace dapple::detail
