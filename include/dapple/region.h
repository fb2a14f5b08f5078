// Ranges, rectangles and grids of cells, all half-open. Plain values.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace dapple {

/// Rows or columns begin, begin + 1, ..., end - 1.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  constexpr std::uint64_t size() const noexcept { return end > begin ? end - begin : 0; }
  constexpr bool empty() const noexcept { return begin >= end; }
  constexpr bool contains(std::uint64_t i) const noexcept { return begin <= i && i < end; }
  constexpr bool contains(Range r) const noexcept { return begin <= r.begin && r.end <= end; }
  friend constexpr bool operator==(const Range&, const Range&) = default;
};

constexpr Range intersect(Range a, Range b) noexcept {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// A rectangle of cells.
struct Region {
  Range rows;
  Range cols;

  constexpr bool empty() const noexcept { return rows.empty() || cols.empty(); }
  constexpr bool contains(std::uint64_t row, std::uint64_t col) const noexcept {
    return rows.contains(row) && cols.contains(col);
  }
  friend constexpr bool operator==(const Region&, const Region&) = default;
};

constexpr Region intersect(const Region& a, const Region& b) noexcept {
  return {intersect(a.rows, b.rows), intersect(a.cols, b.cols)};
}

/// A block's key as the file stores it: row and column of its first cell.
struct BlockPos {
  std::uint64_t rx = 0;
  std::uint64_t cx = 0;
  friend constexpr auto operator<=>(const BlockPos&, const BlockPos&) = default;
};

/// The size of a tile, in cells.
struct TileShape {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  friend constexpr bool operator==(const TileShape&, const TileShape&) = default;
};

/// A regular tiling: `rows` x `cols` tiles of shape `tile`, where only those of the last row and
/// the last column may be smaller. Tile (i, j) starts at cell (i * tile.rows, j * tile.cols).
struct Grid {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  TileShape tile;
  friend constexpr bool operator==(const Grid&, const Grid&) = default;
};

}  // namespace dapple
