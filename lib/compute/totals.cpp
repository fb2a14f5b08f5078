#include "lib/compute/totals.h"

#include <cmath>

namespace dapple {

double Stats::mean() const noexcept { return sum / static_cast<double>(count - nans); }

double Stats::variance() const noexcept {
  if (min == max) return min - max;  // 0, which the sums may miss; infinities have none
  // Where squares are beyond f64, so is the variance: it must not become inf - inf.
  if (std::isinf(sum_squares) && std::isfinite(min) && std::isfinite(max)) return sum_squares;
  const auto n = static_cast<double>(count - nans);
  // The fused product keeps what rounding it would lose.
  return std::max(std::fma(-sum / n, sum, sum_squares) / n, 0.0);
}

namespace detail {

namespace {

/// The nearest integer, halves away from zero. REQUIRES n > 0.
Int128 rounded_mean(Int128 sum, std::uint64_t n) noexcept {
  const Int128 whole = sum / n, rest = sum % n;
  if (2 * (rest < 0 ? -rest : rest) < n) return whole;
  return sum < 0 ? whole - 1 : whole + 1;
}

}  // namespace

Stats Totals::stats(std::uint64_t count) const noexcept {
  Stats s;
  s.count = count;
  s.nnz = nonzero_;
  s.nans = nans_;
  s.sum = static_cast<double>(int_sum_) + float_sum_;
  s.sum_squares = static_cast<double>(int_squares_) + float_squares_;
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
