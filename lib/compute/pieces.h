// Cutting long ranges into pieces that fit memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "dapple/region.h"

namespace dapple::detail {

/// Walks `whole` front to back in pieces, from `first_size` on: doubles them while `take` accepts,
/// and halves one that it refuses by returning false. REQUIRES that it accepts pieces of one.
template <class F>
void walk_in_pieces(Range whole, std::uint64_t first_size, const F& take) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t size = std::max<std::uint64_t>(1, first_size);
  for (std::uint64_t at = whole.begin; at < whole.end;) {
    const Range piece{at, at + std::min(size, whole.end - at)};
    if (take(piece)) {
      at = piece.end;
      size = size > most / 2 ? most : size * 2;
    } else {
      size = std::max<std::uint64_t>(1, piece.size() / 2);
    }
  }
}

}  // namespace dapple::detail
