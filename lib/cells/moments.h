// The number, the sum and the spread of floats, in parts that merge without cancellation.
#pragma once

#include <cmath>
#include <cstdint>

namespace dapple::detail {

/// The unevaluated sum of two f64, of which `low` is what rounding to `high` lost.
struct DoubleDouble {
  double high = 0, low = 0;

  double value() const noexcept { return high + low; }
  void add(DoubleDouble other) noexcept {
    const double sum = high + other.high;
    if (!std::isfinite(sum)) {  // whose rest would be NaN
      *this = {sum, 0};
      return;
    }
    const double part = sum - high;
    const double lost = (high - (sum - part)) + (other.high - part) + low + other.low;
    *this = {sum + lost, 0};
    low = lost - (high - sum);
  }
};

inline DoubleDouble exact_product(double a, double b) noexcept {
  const double product = a * b;
  if (!std::isfinite(product)) return {product, 0};
  return {product, std::fma(a, b, -product)};
}

/// REQUIRES an integer `n` above 0, up to 2^53 for the full precision.
inline DoubleDouble quotient(DoubleDouble a, double n) noexcept {
  const double q = a.high / n;
  if (!std::isfinite(q)) return {q, 0};
  return {q, (std::fma(-q, n, a.high) + a.low) / n};
}

/// Not finite where a sum or a square is beyond f64.
struct Moments {
  std::uint64_t count = 0;
  DoubleDouble sum;
  DoubleDouble spread;  // the sum of squared distances from the mean

  /// Of `n` values, of whose distances from `origin` the sum and the sum of squares are given. If
  /// `origin` is one of the values, no more than log2(n) bits of the spread cancel.
  static Moments of(double origin, std::uint64_t n, double distances, double squares) noexcept {
    if (n == 0) return {};
    const auto count = static_cast<double>(n);
    Moments moments{n, exact_product(origin, count), {squares, 0}};
    moments.sum.add({distances, 0});
    // Divided before it is multiplied: the square of the sum may be beyond f64 where this is not.
    const DoubleDouble mean = quotient({distances, 0}, count);
    const DoubleDouble shift = exact_product(mean.high, distances);
    moments.spread.add({-shift.high, -shift.low - mean.low * distances});
    if (moments.spread.high < 0) moments.spread = {};
    return moments;
  }

  /// Chan's formula. Every term is positive, so that errors do not grow.
  void merge(const Moments& other) noexcept {
    if (other.count == 0) return;
    if (count == 0) {
      *this = other;
      return;
    }
    const auto a = static_cast<double>(count), b = static_cast<double>(other.count);
    const DoubleDouble mean = quotient(sum, a), far = quotient(other.sum, b);
    const double apart = (far.high - mean.high) + (far.low - mean.low);
    spread.add(other.spread);
    spread.add({apart * apart * (a / (a + b) * b), 0});
    sum.add(other.sum);
    count += other.count;
  }

  /// The sum of the squares of the values themselves.
  double squares() const noexcept {
    if (count == 0) return 0;
    const DoubleDouble mean = quotient(sum, static_cast<double>(count));
    DoubleDouble all = exact_product(mean.high, sum.high);
    all.add({mean.high * sum.low + mean.low * sum.high, 0});
    all.add(spread);
    return all.value();
  }
};

}  // namespace dapple::detail
