// Running statistics of cells of one stored type. Tallies of several types add up to Totals
// (compute/totals.h), of which the Stats of the API are made; BlockStats are those of a file.
// Integers are summed exactly; floats, and the squares of 64-bit integers, in f64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dapple/value_type.h"

namespace dapple::detail {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// The sum modulo 2^64 or 2^128. No real sums overflow; forged statistics may.
template <class Sum>
constexpr Sum wrapping_sum(Sum a, Sum b) noexcept {
  using Unsigned = std::conditional_t<sizeof(Sum) == 8, std::uint64_t, Uint128>;
  return static_cast<Sum>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}

/// Statistics of integers. `Extreme` can hold every value. Cells that are not counted in `nonzero`
/// are zeros, whether they were added or not.
template <class Sum, class Squares, class Extreme>
struct IntegerTally {
  Sum sum = 0;
  Squares squares = 0;
  std::uint64_t nonzero = 0;
  Extreme min = std::numeric_limits<Extreme>::max();  // above `max` until something is added
  Extreme max = std::numeric_limits<Extreme>::lowest();
  static constexpr std::uint64_t nans = 0;

  static constexpr Squares square(Extreme v) noexcept {
    if constexpr (std::is_floating_point_v<Squares>) {
      return static_cast<double>(v) * static_cast<double>(v);
    } else {  // unsigned, where the square of any 32-bit integer fits
      return static_cast<std::uint64_t>(v) * static_cast<std::uint64_t>(v);
    }
  }
  void add(Extreme v) noexcept {
    sum += v;
    squares += square(v);
    nonzero += v != 0 ? 1U : 0U;
    if (v < min) min = v;
    if (v > max) max = v;
  }
  void merge(const IntegerTally& other) noexcept {
    sum = wrapping_sum(sum, other.sum);
    squares += other.squares;
    nonzero += other.nonzero;
    if (other.min < min) min = other.min;
    if (other.max > max) max = other.max;
  }
};

/// Statistics of floats. NaNs are counted and otherwise left out.
struct FloatTally {
  double sum = 0, squares = 0;
  std::uint64_t nonzero = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  std::uint64_t nans = 0;

  void add(double v) noexcept {
    if (v != v) [[unlikely]] {
      ++nans;
      return;
    }
    sum += v;
    squares += v * v;
    nonzero += v != 0 ? 1U : 0U;
    if (v < min) min = v;
    if (v > max) max = v;
  }
  void merge(const FloatTally& other) noexcept {
    sum += other.sum;
    squares += other.squares;
    nonzero += other.nonzero;
    nans += other.nans;
    if (other.min < min) min = other.min;
    if (other.max > max) max = other.max;
  }
};

// 64 bits overflow only after 2^47 cells of 8 or 16 bits.
using SmallTally = IntegerTally<std::int64_t, std::uint64_t, std::int32_t>;
using WideTally = IntegerTally<Int128, Uint128, std::int64_t>;
using LongTally = IntegerTally<Int128, double, std::int64_t>;
using UnsignedLongTally = IntegerTally<Int128, double, std::uint64_t>;

template <Value T>
using TallyOf = std::conditional_t<
    std::is_floating_point_v<T>, FloatTally,
    std::conditional_t<
        sizeof(T) <= 2, SmallTally,
        std::conditional_t<sizeof(T) == 4, WideTally,
                           std::conditional_t<std::is_signed_v<T>, LongTally, UnsignedLongTally>>>>;

/// Adds `n` contiguous values, at any address. The order in which floats are added depends only on
/// `n`.
template <Value T>
void tally_run(TallyOf<T>& tally, const std::byte* values, std::size_t n) noexcept;

/// Adds rows of `cols` values, `row_step` bytes apart, each column to its own tally.
template <Value T>
void tally_columns(TallyOf<T>* tallies, const std::byte* values, std::size_t row_step,
                   std::uint64_t rows, std::size_t cols) noexcept;

}  // namespace dapple::detail
