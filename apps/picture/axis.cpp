#include "axis.h"

#include <algorithm>

namespace dapple::picture {

Axis::Axis(Range cells, std::vector<std::uint64_t> edges)
    : cells_(cells), edges_(std::move(edges)) {
  if (!cells.empty()) {
    const Range first = pixel(0);  // the largest, or as large as all but the last
    const bool even_steps = pixels() < 2 || pixel(pixels() - 1).size() < first.size();
    pixels_per_cell_ = even_steps
                           ? 1 / static_cast<double>(first.size())
                           : static_cast<double>(pixels()) / static_cast<double>(cells.size());
  }
}

Axis Axis::fit(Range cells, std::size_t most) {
  const std::uint64_t n = cells.size();
  const std::uint64_t pixels = std::min<std::uint64_t>(n, most);
  std::vector<std::uint64_t> edges(pixels + 1, cells.begin);
  // Pixel p starts at cell p * n / pixels; the parts keep the product inside 64 bits.
  for (std::uint64_t p = 1; p <= pixels; ++p) {
    edges[p] = cells.begin + n / pixels * p + n % pixels * p / pixels;
  }
  return {{cells.begin, cells.begin + n}, std::move(edges)};
}

Axis Axis::steps(Range cells, std::uint64_t step) {
  const std::uint64_t n = cells.size();
  std::vector<std::uint64_t> edges;
  for (std::uint64_t at = 0; at < n; at += std::min(step, n - at)) {
    edges.push_back(cells.begin + at);
  }
  edges.push_back(cells.begin + n);
  return {{cells.begin, cells.begin + n}, std::move(edges)};
}

std::size_t Axis::pixel_of(std::uint64_t cell) const noexcept {
  const double guess = static_cast<double>(cell - cells_.begin) * pixels_per_cell_;
  std::size_t p = std::min(static_cast<std::size_t>(guess), pixels() - 1);
  while (cell < edges_[p]) --p;
  while (cell >= edges_[p + 1]) ++p;
  return p;
}

Axis::Pixels Axis::pixels_of(Range cells) const noexcept {
  if (cells.empty()) return {0, 0};
  return {pixel_of(cells.begin), pixel_of(cells.end - 1) + 1};
}

}  // namespace dapple::picture
