// Pictures as bytes: what a page gets of each tile, and what is kept of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "raster.h"

namespace dapple::viewer {

enum TileFlags : std::uint8_t { kExact = 0, kFromCounts = 1, kSampled = 2 };

/// The longest that a tile of that many pixels can be.
constexpr std::size_t most_tile_bytes(std::size_t pixels) { return 5 + 8 * pixels; }

/// The picture in as few bytes for each pixel, two to eight, as leave different values different,
/// or as many as anybody could tell apart; whole numbers of a moderate size are exact. PYRAMID.md
/// has the layout.
std::string tile_bytes(const picture::Picture& picture, TileFlags flags);

/// The exact picture of just these pixels that the bytes hold; nothing when they hold no such one.
std::optional<picture::Picture> read_tile(std::string_view bytes, picture::Axis rows,
                                          picture::Axis cols, picture::What what);

}  // namespace dapple::viewer
