// Running statistics of cells of one stored type. Tallies of several types add up to Totals
// (compute/totals.h), of which the Stats of the API are made; BlockStats are those of a file.
// Integers and their squares are summed exactly. Floats have moments (moments.h), so that their
// spread does not drown in their mean.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dapple/value_type.h"
#include "lib/cells/moments.h"
#include "lib/cells/wide_sums.h"

namespace dapple::detail {

/// Statistics of integers. `Extreme` can hold every value. Cells that are not counted in `nonzero`
/// are zeros, whether they were added or not.
template <class Sum, class Squares, class Extreme>
struct IntegerTally {
  Sum sum = 0;
  Squares squares{};
  std::uint64_t nonzero = 0;
  Extreme min = std::numeric_limits<Extreme>::max();  // above `max` until something is added
  Extreme max = std::numeric_limits<Extreme>::lowest();
  static constexpr std::uint64_t nans = 0;

  static constexpr Uint128 square(Extreme v) noexcept {
    const auto bits = static_cast<std::uint64_t>(v);
    const std::uint64_t magnitude = v < 0 ? 0 - bits : bits;
    return Uint128{magnitude} * magnitude;
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
  /// Values that are measured from one origin. More make the bound in stats.h larger.
  static constexpr std::uint64_t kPending = 256;

  Moments settled;
  // Of the latest values: their distances from `origin`, which is the first of them.
  double origin = 0, distances = 0, squares = 0;
  std::uint64_t pending = 0;
  std::uint64_t nonzero = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  std::uint64_t nans = 0;

  /// False for NaN, infinities, and numbers from which a distance may be beyond f64. (Among those,
  /// a variance is 0 or infinite.)
  static bool is_origin(double v) noexcept { return std::fabs(v) < 0x1p960; }

  /// Makes room for `n` values, of which `first` will be the origin unless some are pending.
  /// REQUIRES that no more than kPending are.
  void expect(std::uint64_t n, double first) noexcept {
    if (n > kPending - pending) settle();
    if (pending == 0) origin = is_origin(first) ? first : 0;
  }
  void settle() noexcept {
    settled.merge(Moments::of(origin, pending, distances, squares));
    pending = 0;
    distances = squares = 0;
  }
  Moments moments() const noexcept {
    FloatTally copy = *this;
    copy.settle();
    return copy.settled;
  }

  void add(double v) noexcept {
    if (v != v) [[unlikely]] {
      ++nans;
      return;
    }
    expect(1, v);
    const double distance = v - origin;
    distances += distance;
    squares += distance * distance;
    ++pending;
    nonzero += v != 0 ? 1U : 0U;
    if (v < min) min = v;
    if (v > max) max = v;
  }
  void merge(const FloatTally& other) noexcept {
    settled.merge(other.moments());
    nonzero += other.nonzero;
    nans += other.nans;
    if (other.min < min) min = other.min;
    if (other.max > max) max = other.max;
  }
};

using SmallTally = IntegerTally<std::int64_t, Uint128, std::int32_t>;  // of at most 2^47 cells
using WideTally = IntegerTally<Int128, Uint128, std::int64_t>;
using LongTally = IntegerTally<Int128, Uint192, std::int64_t>;
using UnsignedLongTally = IntegerTally<Int128, Uint192, std::uint64_t>;

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
