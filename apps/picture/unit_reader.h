// One part of a block, summed up for a raster: what a thread of a scan does at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "scan.h"

namespace dapple::picture {

/// A part of one block that is read at once.
struct ScanUnit {
  BlockInfo block;
  Region cells;  // inside the window
};

/// The pixels of one unit, before they are added to the raster.
class Patch {
 public:
  explicit Patch(const Raster& raster) : rows_(raster.rows), cols_(raster.cols) {}

  void start(const Region& cells) {
    down_ = rows_.pixels_of(cells.rows);
    across_ = cols_.pixels_of(cells.cols);
    width_ = across_.end - across_.begin;
    pixels_.assign((down_.end - down_.begin) * width_, Pixel());
    for (std::size_t r = down_.begin; r < down_.end; ++r) {
      const auto high = static_cast<double>(intersect(rows_.pixel(r), cells.rows).size());
      for (std::size_t c = across_.begin; c < across_.end; ++c) {
        Pixel& pixel = row(r)[c - across_.begin];
        pixel.cells = high * static_cast<double>(intersect(cols_.pixel(c), cells.cols).size());
        pixel.known = pixel.cells;
      }
    }
  }
  /// Pixels of a row of them, from `across().begin`.
  Pixel* row(std::size_t r) { return pixels_.data() + (r - down_.begin) * width_; }
  const Axis::Pixels& across() const { return across_; }
  bool is_one_pixel() const { return pixels_.size() == 1; }
  /// REQUIRES one pixel.
  void set(const Pixel& pixel) { pixels_.front() = pixel; }

  void add_to(Raster& raster) const {
    const Pixel* from = pixels_.data();
    for (std::size_t r = down_.begin; r < down_.end; ++r) {
      for (std::size_t c = across_.begin; c < across_.end; ++c) raster.at(r, c).add(*from++);
    }
  }

 private:
  const Axis &rows_, &cols_;
  Axis::Pixels down_{}, across_{};
  std::size_t width_ = 0;
  std::vector<Pixel> pixels_;
};

/// Finds the pixel of each column of a block: in a table, unless that takes longer to make than it
/// saves.
class PixelsOfColumns {
 public:
  static constexpr std::uint32_t kOutside = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kMostInTable = std::uint64_t{1} << 20;

  /// Counts pixels from the first one that shows `unit`.
  void start(const Axis& axis, const ScanUnit& unit) {
    axis_ = &axis;
    unit_ = &unit;
    first_ = axis.pixels_of(unit.cells.cols).begin;
    table_.clear();
    if (unit.block.cols > std::min(unit.block.stored, kMostInTable)) return;
    table_.assign(unit.block.cols, kOutside);
    std::uint64_t col = unit.cells.cols.begin;
    for (std::uint32_t p = 0; col < unit.cells.cols.end; ++p) {
      const std::uint64_t end = std::min(axis.pixel(first_ + p).end, unit.cells.cols.end);
      for (; col < end; ++col) table_[col - unit.block.pos.cx] = p;
    }
  }
  /// REQUIRES a column of the block.
  std::uint32_t operator()(std::uint32_t block_col) const {
    if (!table_.empty()) return table_[block_col];
    const std::uint64_t col = unit_->block.pos.cx + block_col;
    if (!unit_->cells.cols.contains(col)) return kOutside;
    return static_cast<std::uint32_t>(axis_->pixel_of(col) - first_);
  }

 private:
  const Axis* axis_ = nullptr;
  const ScanUnit* unit_ = nullptr;
  std::size_t first_ = 0;
  std::vector<std::uint32_t> table_;
};

/// Reads units, one after the other. Borrows everything.
class UnitReader {
 public:
  /// `file` is blamed in errors. `has_rules`: some columns of the raster need rules
  /// (column_rules.h).
  UnitReader(const Object& object, const BlocksIn& blocks, const Raster& raster,
             const std::string& file, bool has_rules);

  /// Sums up the cells of a unit by pixel: from statistics of the block where they are enough, else
  /// from its values. Throws what reading blocks throws.
  void read(const ScanUnit& unit);
  /// Adds the sums of the last unit to the raster that it was read for.
  void add_to(Raster& raster) const { patch_.add_to(raster); }

 private:
  const Object& object_;
  const BlocksIn& blocks_;
  const Raster& raster_;
  const std::string& file_;
  const bool has_rules_;
  Patch patch_;
  PixelsOfColumns pixel_of_;
};

}  // namespace dapple::picture
