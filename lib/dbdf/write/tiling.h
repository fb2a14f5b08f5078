// The tiling that a writer fills: which tiles there are, and which cells were never put.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dapple/region.h"
#include "lib/index/block_index.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// The tile shape before anything is known of what will be put.
TileShape presumed_tile(const Schema& schema);

/// The column ranges of the tiles: they end after tile.cols columns, and in a frame also where the
/// value type changes (R8) and, in tiles of 4096 rows or more, before and after each column with a
/// dictionary; none if there are no rows. Throws invalid_argument for more than 2^24.
std::vector<Range> column_strips(const Schema& schema, TileShape tile);

/// The number of the tile that a block is, row by row; nothing for one that is no tile.
std::optional<std::uint64_t> tile_number(const Schema& schema, TileShape tile,
                                         const std::vector<Range>& strips, BlockPos pos,
                                         TileShape shape) noexcept;

using PlacedTile = std::pair<BlockPos, TileShape>;

/// The empty blocks that cover the cells that `entries` do not (R7): the missing tiles if all
/// entries are tiles of the tiling, otherwise rectangles that fill the gaps. In ascending order.
/// Throws invalid_argument for more than 2^24.
std::vector<PlacedTile> uncovered_tiles(const EntryTable& entries, const Schema& schema,
                                        TileShape tile, const std::vector<Range>& strips);

}  // namespace dapple::detail::dbdf
