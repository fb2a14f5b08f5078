// Pictures from what the index tells of each block: no payload is touched.
#pragma once

#include <cstdint>
#include <optional>

#include "blocks_in.h"
#include "raster.h"

namespace dapple::picture {

/// All cells of a block, where the file has statistics of it. Throws corrupt, io.
std::optional<Pixel> known_pixel(const BlockedObject& object, const BlockInfo& block);

/// Cells and non-zeros of every pixel; those of a block are shared out evenly over its area. Where
/// the file has statistics of its blocks, its values are known too, and its extremes are those of
/// each of its pixels; otherwise every value that a block stores counts as one that is not zero, so
/// that a dense block is full. Throws corrupt, io. O(blocks + pixels that they cover).
void draw_counts(const BlocksIn& blocks, Raster& raster);

/// The kind of the blocks that cover most of each pixel. Errors and cost as above.
Picture draw_kinds(const BlocksIn& blocks, Axis rows, Axis cols);

/// Whether the cells of a region are read in a moment: their blocks have at most `most` bytes,
/// counting 1 KiB more for finding each. Errors as above; it stops at the block that is too much.
bool is_quick_to_read(const BlocksIn& blocks, const Region& region, std::uint64_t most);

/// Values that the blocks of a region store, each whole block counted.
std::uint64_t stored_in(const BlocksIn& blocks, const Region& region);

}  // namespace dapple::picture
