// A condition as the values of one type that meet it.
#pragma once

#include <cmath>
#include <limits>
#include <tuple>

#include "dapple/where.h"
#include "lib/cells/tally.h"

namespace dapple::detail {

/// The values of a type from `low` to `high`, both included; none when `low` is above `high`. Or
/// NaNs.
template <Value T>
struct Matching {
  T low{}, high{};
  bool nan = false;
  bool nonzero = false;  // zeros do not match

  bool operator()(T v) const noexcept {
    if (nan) return v != v;
    return (v >= low) & (v <= high) & !(nonzero & (v == 0));
  }
  bool excludes_zero() const noexcept { return nonzero && low <= 0 && high >= 0; }
  bool none() const noexcept { return nan ? !std::is_floating_point_v<T> : !(low <= high); }
};

class Interval {
 public:
  Interval(const Condition& condition, bool nonzero) {
    const Number low = number(condition.low_), below = negated(number(condition.high_));
    const Bounds bounds{low_integer(low), -low_integer(below), low_double(low), low_double(below)};
    const auto make = [&]<Value T>(Matching<T>& found) {
      found = {{}, {}, condition.nan_, nonzero};
      bounds.put(found);
    };
    std::apply([&](auto&... match) { (make(match), ...); }, matching_);
  }

  template <Value T>
  const Matching<T>& of() const noexcept {
    return std::get<Matching<T>>(matching_);
  }
  bool holds_for_zero() const noexcept { return of<double>()(0.0); }

 private:
  /// Bounds as integers and as doubles, from which each type gets its own.
  struct Bounds {
    Int128 low, high;
    double low_real, below_real;  // the lowest double, and the negative of the highest

    template <Value T>
    void put(Matching<T>& found) const {
      using Limits = std::numeric_limits<T>;
      if constexpr (std::is_floating_point_v<T>) {
        found.low = not_below<T>(low_real);
        found.high = -not_below<T>(below_real);
      } else if (low > Limits::max() || high < Limits::min() || low > high) {
        found.low = Limits::max();
        found.high = Limits::min();
      } else {
        found.low = low < Limits::min() ? Limits::min() : static_cast<T>(low);
        found.high = high > Limits::max() ? Limits::max() : static_cast<T>(high);
      }
    }
  };

  using Bound = Condition::Bound;
  static constexpr Int128 kBeyond = Int128{1} << 100;  // of every integer type

  // A bound as a number: an integer, or a double that is none.
  struct Number {
    bool given, strict, integer;
    Int128 whole;
    double real;
  };
  static Number number(const Bound& bound) {
    Number n{bound.given, bound.strict, true, 0, 0};
    if (bound.type == ValueType::u64) {
      n.whole = bound.bits;
    } else if (bound.type == ValueType::i64) {
      n.whole = static_cast<std::int64_t>(bound.bits);
    } else {
      n.integer = false;
      std::memcpy(&n.real, &bound.bits, sizeof n.real);
    }
    return n;
  }
  static Number negated(Number n) {
    n.whole = -n.whole;
    n.real = -n.real;
    return n;
  }

  /// The lowest value of a type that is not below `low`; NaN for NaN.
  template <class T>
  static T not_below(double low) {
    const auto near = static_cast<T>(low);
    return static_cast<double>(near) < low
               ? std::nextafter(near, std::numeric_limits<T>::infinity())
               : near;
  }

  /// The lowest integer that is not below the bound (above it, when it is strict).
  static Int128 low_integer(const Number& n) {
    if (!n.given) return -kBeyond;
    if (n.integer) return n.whole + (n.strict ? 1 : 0);
    if (std::isnan(n.real) || n.real > 0x1p90) return kBeyond;
    if (n.real < -0x1p90) return -kBeyond;
    const double up = std::ceil(n.real);
    return static_cast<Int128>(up) + (n.strict && up == n.real ? 1 : 0);
  }
  /// The lowest double likewise; NaN when there is none.
  static double low_double(const Number& n) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (!n.given) return -infinity;
    double low = n.real;
    bool exact = true;
    if (n.integer) {
      low = static_cast<double>(n.whole);
      const auto back = static_cast<Int128>(low);
      if (back < n.whole) low = std::nextafter(low, infinity);
      exact = back == n.whole;
    }
    if (!n.strict || !exact) return low;
    return low == infinity ? none : std::nextafter(low, infinity);
  }

  std::tuple<Matching<std::uint8_t>, Matching<std::uint16_t>, Matching<std::uint32_t>,
             Matching<std::uint64_t>, Matching<std::int8_t>, Matching<std::int16_t>,
             Matching<std::int32_t>, Matching<std::int64_t>, Matching<float>, Matching<double>>
      matching_;
};

}  // namespace dapple::detail
