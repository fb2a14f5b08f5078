// Blocks of dense arrays, which HDF5 and Zarr store in chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "lib/index/entries.h"
#include "lib/object/schema.h"

namespace dapple::detail::arrays {

/// Extents of a block, or of a chunk.
struct Tile {
  std::uint64_t rows, cols;
};

/// Blocks count rows and columns in 32 bits: longer sides are cut into pieces of this many.
inline constexpr std::uint64_t kMostSide = std::uint64_t{1} << 31;

/// Calls f(entry) for dense blocks of at most that size that cover these cells of an object, row by
/// row. The entry lacks the type of its values, and where they are.
template <class F>
void for_each_dense(const Region& cells, const Tile& most, const F& f) {
  if (cells.empty()) return;  // of rows there may be 2^63 without a cell
  Entry e;
  e.kind = BlockKind::dense;
  for (std::uint64_t row = cells.rows.begin; row < cells.rows.end; row += e.rows) {
    e.rows = static_cast<std::uint32_t>(std::min(most.rows, cells.rows.end - row));
    for (std::uint64_t col = cells.cols.begin; col < cells.cols.end; col += e.cols) {
      e.pos = {row, col};
      e.cols = static_cast<std::uint32_t>(std::min(most.cols, cells.cols.end - col));
      e.stored = std::uint64_t{e.rows} * e.cols;
      f(Entry(e));
    }
  }
}

/// The extents of blocks for an array of rows x cols cells: a chunk or, where chunks are small,
/// several; without chunks (0, 0), a strip of rows.
Tile block_of(std::uint64_t rows, std::uint64_t cols, const Tile& chunk);

/// Dense blocks of that size that cover the array. Throws unsupported, naming the array, when there
/// are too many of them.
EntryTable blocks_of(const Schema& schema, const Tile& tile, const std::string& file,
                     const std::string& array);

}  // namespace dapple::detail::arrays
