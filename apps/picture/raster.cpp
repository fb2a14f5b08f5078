#include "raster.h"

#include <cmath>

namespace dapple::picture {

Pixel Raster::total() const noexcept {
  Pixel total;
  for (const Pixel& pixel : pixels) total.add(pixel);
  return total;
}

std::string_view name(What what) noexcept {
  constexpr std::string_view names[] = {"density", "mean", "min", "max", "kind"};
  return names[static_cast<std::size_t>(what)];
}

Dot dot_of(const Pixel& pixel, What what) noexcept {
  if (pixel.cells <= 0) return {};
  if (what == What::density) return Dot::of(std::min(1.0, pixel.nonzero / pixel.cells));
  if (pixel.known <= 0) return {0, Dot::State::unknown};
  // What is known of NaNs is known of as many cells as `known` says.
  const double numbers = pixel.known - pixel.nan;
  if (numbers <= 0) return {0, Dot::State::nan};
  const double value = what == What::mean  ? pixel.sum / numbers
                       : what == What::min ? pixel.minimum()
                                           : pixel.maximum();
  return std::isnan(value) ? Dot{0, Dot::State::nan} : Dot::of(value);
}

Picture picture_of(const Raster& raster, What what) {
  Picture picture{raster.rows, raster.cols, what, {}};
  picture.dots.reserve(raster.pixels.size());
  for (const Pixel& pixel : raster.pixels) picture.dots.push_back(dot_of(pixel, what));
  return picture;
}

}  // namespace dapple::picture
