// Rows or columns cut into pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dapple/region.h"

namespace dapple::picture {

/// A range of rows or columns, and the pixels that it is drawn with. Each pixel shows at least
/// one cell; no two stand for the same.
class Axis {
 public:
  /// At most `most` pixels, whose sizes differ by one cell at most. REQUIRES most > 0.
  static Axis fit(Range cells, std::size_t most);
  /// A pixel for every `step` cells; the last may stand for fewer. REQUIRES step > 0.
  static Axis steps(Range cells, std::uint64_t step);

  Range cells() const noexcept { return cells_; }
  std::size_t pixels() const noexcept { return edges_.size() - 1; }

  /// The cells of a pixel. REQUIRES p < pixels().
  Range pixel(std::size_t p) const noexcept { return {edges_[p], edges_[p + 1]}; }
  /// The pixel of a cell. REQUIRES cells().contains(cell). O(1).
  std::size_t pixel_of(std::uint64_t cell) const noexcept;
  /// The pixels that show some of these cells, which are of this axis.
  struct Pixels {
    std::size_t begin, end;
  };
  Pixels pixels_of(Range cells) const noexcept;

 private:
  Axis(Range cells, std::vector<std::uint64_t> edges);

  Range cells_;
  std::vector<std::uint64_t> edges_;  // first cell of each pixel, then the end of the last
  double pixels_per_cell_ = 0;
};

}  // namespace dapple::picture
