#include "lib/object/tile_run.h"

#include <algorithm>

#include "lib/opening.h"

namespace dapple::detail {

DAPPLE_OPENING Entry TileRun::operator[](std::uint64_t number) const noexcept {
  const std::uint64_t strips = (cols_ - 1) / first_.cols + 1;
  Entry e = first_;
  e.pos = {number / strips * first_.rows, number % strips * first_.cols};
  e.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(first_.rows, rows_ - e.pos.rx));
  e.cols = static_cast<std::uint32_t>(std::min<std::uint64_t>(first_.cols, cols_ - e.pos.cx));
  e.stored = std::uint64_t{e.rows} * e.cols;
  const std::uint64_t header = first_.bytes - first_.stored * size_of(first_.value_type);
  e.bytes = header + e.stored * size_of(first_.value_type);
  // In front of it stand all the bands above it, and the tiles to its left in its own.
  const std::uint64_t cells = e.pos.rx * cols_ + e.rows * e.pos.cx;
  e.offset += number * (header + between_) + cells * size_of(first_.value_type);
  return e;
}

}  // namespace dapple::detail
