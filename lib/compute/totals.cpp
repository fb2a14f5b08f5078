#include "lib/compute/totals.h"

#include <cmath>

namespace dapple {

double Stats::mean() const noexcept { return sum / static_cast<double>(count - nans); }

double Stats::variance() const noexcept {
  return squared_distances / static_cast<double>(count - nans);
}

namespace detail {

namespace {

/// The nearest integer, halves away from zero. REQUIRES n > 0.
Int128 rounded_mean(Int128 sum, std::uint64_t n) noexcept {
  const Int128 whole = sum / n, rest = sum % n;
  if (2 * (rest < 0 ? -rest : rest) < n) return whole;
  return sum < 0 ? whole - 1 : whole + 1;
}

/// The sum of squared distances of `n` integers from their mean.
double exact_spread(Int128 sum, const Uint192& squares, std::uint64_t n) noexcept {
  if (n == 0) return 0;
  const Words<2> magnitude = words_of(static_cast<Uint128>(sum < 0 ? -sum : sum));
  return rounded_quotient(
      difference(multiplied(words_of(squares), Words<1>{n}), multiplied(magnitude, magnitude)), n);
}

}  // namespace

Moments Totals::integer_moments(std::uint64_t n) const noexcept {
  const auto high = static_cast<double>(int_sum_);
  const Int128 rest = wrapping_sum(int_sum_, -static_cast<Int128>(high));
  return {n, {high, static_cast<double>(rest)}, {exact_spread(int_sum_, int_squares_, n), 0}};
}

void Totals::set_sums(std::uint64_t zeros_and_integers, Stats& stats) const noexcept {
  Moments all = integer_moments(zeros_and_integers);
  if (floats_.count == 0) {
    stats.sum = all.sum.high;
    stats.sum_squares = rounded_quotient(words_of(int_squares_), 1);
    stats.squared_distances = all.spread.high;
    return;
  }
  all.merge(floats_);
  stats.sum = all.sum.value();
  stats.sum_squares = all.squares();
  stats.squared_distances = all.spread.value();
}

Stats Totals::stats(std::uint64_t count) const noexcept {
  Stats s;
  s.count = count;
  s.nnz = nonzero_;
  s.nans = nans_;
  // Forged statistics may have more floats than there are cells.
  const std::uint64_t numbers = count - std::min(count, nans_);
  set_sums(numbers - std::min(numbers, floats_.count), s);
  double min = float_min_, max = float_max_;
  const bool floats = min <= max;
  Int128 least = int_min_, greatest = int_max_;
  if (nonzero_ < count - nans_) {  // there is a zero
    least = std::min<Int128>(least, 0);
    greatest = std::max<Int128>(greatest, 0);
  }
  if (least <= greatest) {
    min = std::min(min, static_cast<double>(least));
    max = std::max(max, static_cast<double>(greatest));
    if (!floats && count > nans_) {
      // Forged statistics may have any sum.
      const Int128 mean = std::clamp(rounded_mean(int_sum_, count - nans_), least, greatest);
      s.exact = {static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(greatest),
                 static_cast<std::uint64_t>(mean)};
    }
  }
  if (min <= max) {
    s.min = min + 0.0;  // never minus zero
    s.max = max + 0.0;
  }
  const bool finite = std::isfinite(s.min) && std::isfinite(s.max);
  if (numbers == floats_.count && finite && s.min == s.max) {
    s.squared_distances = 0;  // which means that differ by a rounding may miss
  } else if (!std::isfinite(s.sum) || !std::isfinite(s.squared_distances)) {
    // Where sums of finite numbers are beyond f64, their distances are, too.
    s.squared_distances =
        finite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    s.sum_squares = std::numeric_limits<double>::infinity();
  }
  return s;
}

namespace {

template <class Tally>
void merge_all(std::vector<Tally>& into, const std::vector<Tally>& from) {
  if (into.empty()) {
    into = from;
    return;
  }
  for (std::size_t i = 0; i < from.size(); ++i) into[i].merge(from[i]);
}

}  // namespace

void TallyTable::merge(const TallyTable& other) {
  merge_all(small_, other.small_);
  merge_all(wide_, other.wide_);
  merge_all(long_, other.long_);
  merge_all(unsigned_long_, other.unsigned_long_);
  merge_all(floats_, other.floats_);
}

Totals TallyTable::totals(std::uint64_t i) const noexcept {
  Totals totals;
  if (!small_.empty()) totals.add(small_[i]);
  if (!wide_.empty()) totals.add(wide_[i]);
  if (!long_.empty()) totals.add(long_[i]);
  if (!unsigned_long_.empty()) totals.add(unsigned_long_[i]);
  if (!floats_.empty()) totals.add(floats_[i]);
  return totals;
}

}  // namespace detail

}  // namespace dapple
