// How a matrix is cut into pictures of 256 x 256 pixels at every zoom.
//
// At zoom 0 one picture shows everything. Each further zoom halves the cells of a pixel, rows and
// columns by themselves, until a pixel is a cell. Pictures are numbered as HiGlass numbers them:
// zoom, then across, then down.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "raster.h"

namespace dapple::viewer {

inline constexpr std::uint64_t kTile = 256;

class Pyramid {
 public:
  Pyramid(std::uint64_t rows, std::uint64_t cols)
      : rows_(rows), cols_(cols), row_levels_(levels(rows)), col_levels_(levels(cols)) {}

  unsigned row_levels() const noexcept { return row_levels_; }
  unsigned col_levels() const noexcept { return col_levels_; }
  /// The zoom at which every pixel is a cell.
  unsigned deepest() const noexcept { return std::max(row_levels_, col_levels_); }

  /// Rows and columns of one pixel.
  std::uint64_t row_step(unsigned zoom) const noexcept { return step(row_levels_, zoom); }
  std::uint64_t col_step(unsigned zoom) const noexcept { return step(col_levels_, zoom); }
  /// Tiles from top to bottom, and from left to right.
  std::uint64_t down(unsigned zoom) const noexcept { return tiles(rows_, row_step(zoom)); }
  std::uint64_t across(unsigned zoom) const noexcept { return tiles(cols_, col_step(zoom)); }

  /// The cells of a tile; nothing where there is none.
  std::optional<Region> tile(unsigned zoom, std::uint64_t x, std::uint64_t y) const noexcept {
    if (zoom > deepest() || x >= across(zoom) || y >= down(zoom)) return std::nullopt;
    return Region{part(rows_, y, row_step(zoom)), part(cols_, x, col_step(zoom))};
  }

 private:
  /// Halvings until `cells` are 256 pixels at most.
  static unsigned levels(std::uint64_t cells) noexcept {
    return cells <= kTile ? 0 : static_cast<unsigned>(std::bit_width((cells - 1) / kTile));
  }
  static std::uint64_t step(unsigned levels, unsigned zoom) noexcept {
    return std::uint64_t{1} << (levels - std::min(levels, zoom));
  }
  static std::uint64_t tiles(std::uint64_t cells, std::uint64_t step) noexcept {
    return cells == 0 ? 0 : (cells - 1) / step / kTile + 1;
  }
  static Range part(std::uint64_t cells, std::uint64_t tile, std::uint64_t step) noexcept {
    const std::uint64_t begin = tile * kTile * step;
    const std::uint64_t left = cells - begin;
    return {begin, begin + (left / kTile < step ? left : kTile * step)};  // all may be 2^64
  }

  std::uint64_t rows_, cols_;
  unsigned row_levels_, col_levels_;
};

}  // namespace dapple::viewer
