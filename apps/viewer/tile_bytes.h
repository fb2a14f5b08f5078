// Pictures as bytes: what a page gets of each tile.
#pragma once

#include <cstdint>
#include <string>

#include "raster.h"

namespace dapple::viewer {

enum TileFlags : std::uint8_t { kExact = 0, kFromCounts = 1, kSampled = 2 };

/// The picture in as few bytes for each pixel, two to eight, as leave different values different,
/// or as many as anybody could tell apart; whole numbers of a moderate size are exact. TILES.md has
/// the layout.
std::string tile_bytes(const picture::Picture& picture, TileFlags flags);

}  // namespace dapple::viewer
