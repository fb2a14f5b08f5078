// A window of a matrix as pixels, each of which sums up the cells that it shows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "axis.h"
#include "dapple/block.h"

namespace dapple::picture {

/// What is known of a set of cells. Counts are not whole numbers where a block's were shared out
/// among several pixels.
struct Pixel {
  double cells = 0;    // that some block covers
  double nonzero = 0;  // of these, not zero; NaN is not
  double nan = 0;
  double known = 0;  // of these, whose values went into what follows
  double sum = 0;    // of all that are numbers
  double least = std::numeric_limits<double>::infinity();  // of numbers; zeros may be left out,
  double most = -std::numeric_limits<double>::infinity();  // because `nonzero` tells of them

  void add(const Pixel& other) noexcept {
    cells += other.cells;
    nonzero += other.nonzero;
    nan += other.nan;
    known += other.known;
    sum += other.sum;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
  /// A part of these cells, which are all alike.
  Pixel share(double part) const noexcept {
    return {cells * part, nonzero * part, nan * part, known * part, sum * part, least, most};
  }
  bool has_zero() const noexcept { return nonzero < cells; }
  double minimum() const noexcept { return has_zero() ? std::min(least, 0.0) : least; }
  double maximum() const noexcept { return has_zero() ? std::max(most, 0.0) : most; }
};

struct Raster {
  Raster(Axis rows_axis, Axis cols_axis)
      : rows(std::move(rows_axis)),
        cols(std::move(cols_axis)),
        pixels(rows.pixels() * cols.pixels()) {}

  Region region() const noexcept { return {rows.cells(), cols.cells()}; }
  std::size_t height() const noexcept { return rows.pixels(); }
  std::size_t width() const noexcept { return cols.pixels(); }
  Pixel& at(std::size_t row, std::size_t col) { return pixels[row * width() + col]; }
  const Pixel& at(std::size_t row, std::size_t col) const { return pixels[row * width() + col]; }
  /// Everything in the window.
  Pixel total() const noexcept;

  Axis rows, cols;
  std::vector<Pixel> pixels;  // row after row
};

/// What a picture shows of each pixel's cells.
enum class What : std::uint8_t { density, mean, min, max, kind };
inline constexpr What kWhats[] = {What::density, What::mean, What::min, What::max, What::kind};
/// Those that are numbers.
inline constexpr What kFigures[] = {What::density, What::mean, What::min, What::max};
std::string_view name(What what) noexcept;

/// One pixel of a picture.
struct Dot {
  enum class State : std::uint8_t {
    number,
    nan,      // all of its cells are NaN
    absent,   // no block covers any of its cells
    unknown,  // its cells were not read, or are words or times
  };
  double value = 0;
  State state = State::absent;

  static Dot of(double value) noexcept { return {value, State::number}; }
};

/// Of kinds (`What::kind`) a value is the kind's code.
struct Picture {
  Axis rows, cols;
  What what;
  std::vector<Dot> dots;  // row after row

  std::size_t height() const noexcept { return rows.pixels(); }
  std::size_t width() const noexcept { return cols.pixels(); }
  const Dot& at(std::size_t row, std::size_t col) const { return dots[row * width() + col]; }
};

/// What one pixel shows. REQUIRES what != What::kind.
Dot dot_of(const Pixel& pixel, What what) noexcept;

Picture picture_of(const Raster& raster, What what);

}  // namespace dapple::picture
