// Tallies of cells of all types, put together into the statistics that the caller sees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "dapple/stats.h"
#include "lib/cells/tally.h"

namespace dapple::detail {

/// What cells of any types add up to.
class Totals {
 public:
  template <class Tally>
  void add(const Tally& tally) noexcept {
    if constexpr (std::is_same_v<Tally, FloatTally>) {
      floats_.merge(tally.moments());
    } else {
      int_sum_ = wrapping_sum<Int128>(int_sum_, tally.sum);
      int_squares_ += tally.squares;
    }
    nonzero_ += tally.nonzero;
    nans_ += tally.nans;
    if (tally.min > tally.max) return;
    if constexpr (std::is_same_v<Tally, FloatTally>) {
      float_min_ = std::min(float_min_, tally.min);
      float_max_ = std::max(float_max_, tally.max);
    } else {
      int_min_ = std::min<Int128>(int_min_, tally.min);
      int_max_ = std::max<Int128>(int_max_, tally.max);
    }
  }
  void merge(const Totals& other) noexcept {
    int_sum_ = wrapping_sum(int_sum_, other.int_sum_);
    int_squares_ += other.int_squares_;
    floats_.merge(other.floats_);
    nonzero_ += other.nonzero_;
    nans_ += other.nans_;
    float_min_ = std::min(float_min_, other.float_min_);
    float_max_ = std::max(float_max_, other.float_max_);
    int_min_ = std::min(int_min_, other.int_min_);
    int_max_ = std::max(int_max_, other.int_max_);
  }
  /// Of `count` cells, of which those that were not added are zeros.
  Stats stats(std::uint64_t count) const noexcept;

 private:
  /// Of integers, and of `n` cells with the zeros that were not added.
  Moments integer_moments(std::uint64_t n) const noexcept;
  void set_sums(std::uint64_t zeros_and_integers, Stats& stats) const noexcept;

  Int128 int_sum_ = 0;
  Uint192 int_squares_;
  Moments floats_;
  std::uint64_t nonzero_ = 0, nans_ = 0;
  // Above the maximum until something is added.
  double float_min_ = std::numeric_limits<double>::infinity();
  double float_max_ = -std::numeric_limits<double>::infinity();
  Int128 int_min_ = std::numeric_limits<std::uint64_t>::max();
  Int128 int_max_ = std::numeric_limits<std::int64_t>::min();
};

/// A tally for each of many rows or columns, of every class of value types that comes along.
class TallyTable {
 public:
  explicit TallyTable(std::uint64_t n) : n_(n) {}

  /// The tallies for values of type T; made when they are first asked for.
  template <Value T>
  TallyOf<T>* of() {
    auto& tallies = get<TallyOf<T>>();
    if (tallies.empty()) tallies.resize(n_);
    return tallies.data();
  }
  void merge(const TallyTable& other);
  Totals totals(std::uint64_t i) const noexcept;

 private:
  template <class Tally>
  std::vector<Tally>& get() noexcept {
    if constexpr (std::is_same_v<Tally, SmallTally>) {
      return small_;
    } else if constexpr (std::is_same_v<Tally, WideTally>) {
      return wide_;
    } else if constexpr (std::is_same_v<Tally, LongTally>) {
      return long_;
    } else if constexpr (std::is_same_v<Tally, UnsignedLongTally>) {
      return unsigned_long_;
    } else {
      return floats_;
    }
  }

  std::uint64_t n_;
  std::vector<SmallTally> small_;
  std::vector<WideTally> wide_;
  std::vector<LongTally> long_;
  std::vector<UnsignedLongTally> unsigned_long_;
  std::vector<FloatTally> floats_;
};

}  // namespace dapple::detail
