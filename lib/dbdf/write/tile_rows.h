// Distributing the sparse rows of a group of tiles to the tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dapple/array.h"
#include "lib/compute/source.h"
#include "lib/dbdf/write/encode_rows.h"

namespace dapple::detail::dbdf {

/// Collects bands of rows, then distributes them. Memory is reused from group to group.
class TileRows {
 public:
  /// Tiles have `tile_rows` rows and the columns of a strip. `schema` and `strips` must outlive
  /// this.
  TileRows(const Schema& schema, const std::vector<Range>& strips, std::uint64_t tile_rows)
      : schema_(schema), strips_(strips), tile_rows_(tile_rows) {}

  void clear();
  /// REQUIRES bands in the order of their rows, all of one type.
  void append(const SourceRows& band);
  std::uint64_t entries() const noexcept { return col_idx_.size(); }

  /// Distributes the bands to `count` rows of tiles of these strips, the first of which begins at
  /// row `top`. O(entries), by at most `threads` workers.
  void deal(std::uint64_t top, std::uint64_t count, Range strips, unsigned threads);

  /// Tile `i` of those, in row-major order. Valid until the next call that is not const.
  CsrCells tile(std::uint64_t i, TileShape shape) const;

 private:
  /// Where the next row of a tile goes.
  struct Cursor {
    std::uint64_t first;  // the tile's first entry
    std::uint64_t entry;
    std::uint64_t left;  // the tile's first column
    std::uint32_t* row_idx;
    std::uint64_t* row_ptr;  // of the previous row
  };
  void deal_tile_row(std::uint64_t top, Range rows, Range strips, std::uint64_t tile);
  void narrow(std::uint64_t first, std::uint64_t count, ValueType type);

  const Schema& schema_;
  const std::vector<Range>& strips_;
  const std::uint64_t tile_rows_;

  // The rows that have entries; a group may have far more rows than entries.
  std::vector<std::uint64_t> row_idx_, row_ptr_, col_idx_;
  std::vector<std::byte> values_;
  ValueType type_ = ValueType::f64;  // as in SourceRows

  // The same, tile by tile. A tile lists at most as many rows as it has entries.
  std::uint64_t first_strip_ = 0, strip_count_ = 0;
  Array<std::uint64_t> first_;         // the first entry of each tile
  Array<std::uint32_t> listed_;        // the number of rows of each tile
  Array<std::uint64_t> tile_row_ptr_;  // counted from the tile's first entry; one more per tile
  Array<std::uint32_t> tile_row_idx_, tile_col_idx_;
  Array<std::byte> tile_values_;
};

}  // namespace dapple::detail::dbdf
