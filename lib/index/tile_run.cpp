#include "lib/index/tile_run.h"

#include <algorithm>

namespace dapple::detail {

Entry TileRun::operator[](std::uint64_t number) const noexcept {
  Entry e = first_;
  e.pos = {number / strips_ * first_.rows, number % strips_ * first_.cols};
  e.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(first_.rows, rows_ - e.pos.rx));
  e.cols = static_cast<std::uint32_t>(std::min<std::uint64_t>(first_.cols, cols_ - e.pos.cx));
  e.stored = std::uint64_t{e.rows} * e.cols;
  const std::uint64_t header = first_.bytes - first_.stored * size_of(first_.value_type);
  e.bytes = header + e.stored * size_of(first_.value_type);
  // The cells of all rows of tiles above it, and of the tiles to its left.
  const std::uint64_t cells = e.pos.rx * cols_ + e.rows * e.pos.cx;
  e.offset += number * (header + between_) + cells * size_of(first_.value_type);
  return e;
}

std::optional<TileRun> TileRun::ending(const Region& object, const Grid& grid, const Entry& before,
                                       const Entry& last) noexcept {
  if (last.kind != BlockKind::dense || before.kind != BlockKind::dense || last.codec != 0 ||
      before.codec != 0) {
    return std::nullopt;
  }
  const std::uint64_t size = size_of(last.value_type);
  Entry first = last;
  first.pos = {0, 0};
  first.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(grid.tile.rows, object.rows.end));
  first.cols = static_cast<std::uint32_t>(std::min<std::uint64_t>(grid.tile.cols, object.cols.end));
  first.stored = std::uint64_t{first.rows} * first.cols;
  first.bytes = last.bytes - last.stored * size + first.stored * size;
  first.offset = 0;
  first.hash = 0;
  TileRun run(object.rows.end, object.cols.end);
  run.begin(first);
  run.size_ = grid.rows * grid.cols;
  run.between_ = last.offset - before.offset - before.bytes;
  // The offset of the first tile follows from that of the last.
  run.first_.offset = last.offset - run[run.size_ - 1].offset;
  if (run[run.size_ - 1].info() != last.info() || run[run.size_ - 2].info() != before.info()) {
    return std::nullopt;
  }
  return run;
}

}  // namespace dapple::detail
