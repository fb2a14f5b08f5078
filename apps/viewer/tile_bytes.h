// Pictures as bytes: what a page gets of each tile, and what is kept of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "raster.h"

namespace dapple::viewer {

enum TileFlags : std::uint8_t { kExact = 0, kFromCounts = 1, kSampled = 2 };

/// Width and height, two bytes each, and one of flags. Then the upper bytes of all values, row
/// after row, and the lower ones: of each f32 its upper half, rounded. NaNs say why there is no
/// number: 0x7FC0 it is NaN, 0x7FC1 no block covers it, 0x7FC2 it was not read.
std::string tile_bytes(const picture::Picture& picture, TileFlags flags);

/// The exact picture of just these pixels that the bytes hold; nothing when they hold no such one.
std::optional<picture::Picture> read_tile(std::string_view bytes, picture::Axis rows,
                                          picture::Axis cols, picture::What what);

}  // namespace dapple::viewer
