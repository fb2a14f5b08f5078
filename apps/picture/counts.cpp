#include "counts.h"

#include <array>

namespace dapple::picture {

namespace {

/// Calls `take(pixel, cells)` for each pixel that shows cells of `block`, and how many of them.
template <class Take>
void for_each_pixel(const BlockInfo& block, const Axis& rows, const Axis& cols, const Take& take) {
  const Region seen = intersect(block.cells(), {rows.cells(), cols.cells()});
  const Axis::Pixels down = rows.pixels_of(seen.rows), across = cols.pixels_of(seen.cols);
  for (std::size_t r = down.begin; r < down.end; ++r) {
    const auto high = static_cast<double>(intersect(rows.pixel(r), seen.rows).size());
    for (std::size_t c = across.begin; c < across.end; ++c) {
      const auto wide = static_cast<double>(intersect(cols.pixel(c), seen.cols).size());
      take(r * cols.pixels() + c, high * wide);
    }
  }
}

double area(const BlockInfo& block) {
  return static_cast<double>(block.rows) * static_cast<double>(block.cols);
}

}  // namespace

void draw_counts(const BlocksIn& blocks, Raster& raster) {
  blocks.for_each(raster.region(), [&](const BlockInfo& block) {
    const double share = static_cast<double>(block.stored) / area(block);
    for_each_pixel(block, raster.rows, raster.cols, [&](std::size_t pixel, double cells) {
      raster.pixels[pixel].cells += cells;
      raster.pixels[pixel].nonzero += cells * share;
    });
  });
}

Picture draw_kinds(const BlocksIn& blocks, Axis rows, Axis cols) {
  std::vector<std::array<double, 4>> cells_of_kind(rows.pixels() * cols.pixels());
  blocks.for_each({rows.cells(), cols.cells()}, [&](const BlockInfo& block) {
    for_each_pixel(block, rows, cols, [&](std::size_t pixel, double cells) {
      cells_of_kind[pixel][static_cast<std::size_t>(block.kind)] += cells;
    });
  });
  Picture picture{std::move(rows), std::move(cols), What::kind, {}};
  picture.dots.reserve(cells_of_kind.size());
  for (const auto& cells : cells_of_kind) {
    const auto most = std::max_element(cells.begin(), cells.end());
    picture.dots.push_back(*most > 0 ? Dot::of(static_cast<double>(most - cells.begin())) : Dot());
  }
  return picture;
}

std::uint64_t stored_in(const BlocksIn& blocks, const Region& region) {
  std::uint64_t stored = 0;
  blocks.for_each(region, [&](const BlockInfo& block) { stored += block.stored; });
  return stored;
}

}  // namespace dapple::picture
