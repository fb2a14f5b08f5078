#include "lib/compute/totals.h"

#include <cmath>

namespace dapple {

double Stats::mean() const noexcept { return sum / static_cast<double>(count - nans); }

double Stats::variance() const noexcept {
  if (min == max) return min - max;  // 0, which the sums may miss; infinities have none
  const auto n = static_cast<double>(count - nans);
  // The fused product keeps what rounding it would lose.
  return std::max(std::fma(-sum / n, sum, sum_squares) / n, 0.0);
}

namespace detail {

Stats Totals::stats(std::uint64_t count) const noexcept {
  Stats s;
  s.count = count;
  s.nnz = nonzero_;
  s.nans = nans_;
  s.sum = static_cast<double>(int_sum_) + float_sum_;
  s.sum_squares = static_cast<double>(int_squares_) + float_squares_;
  double min = min_, max = max_;
  if (nonzero_ < count - nans_) {  // there is a zero
    min = std::min(min, 0.0);
    max = std::max(max, 0.0);
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
