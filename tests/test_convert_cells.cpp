// The oracle computes in long double, which holds every value of every type exactly.
#include "lib/cells/convert_cells.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/check.h"

using namespace dapple;
using detail::convert_cell, detail::convert_cell_lossy, detail::convert_cells,
    detail::convert_cells_lossy, detail::load_bits, detail::store_bits;

namespace {

static_assert(LDBL_MANT_DIG >= 64, "the oracle needs 64 bits of precision");

constexpr std::uint64_t kMinusZero64 = std::uint64_t{1} << 63;

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Answer {
  bool fits = false;
  std::uint64_t bits = 0;
  bool operator==(const Answer&) const = default;
};

/// NaN by its bits: sign, payload as the 52 bits of an f64.
Answer nan_oracle(ValueType from, std::uint64_t bits, ValueType to) {
  if (!is_float(to)) return {};
  const bool narrow = from == ValueType::f32;
  const std::uint64_t sign = narrow ? bits >> 31 : bits >> 63;
  const std::uint64_t payload = narrow ? (bits & 0x7fffff) * (1 << 29) : bits % (1ULL << 52);
  if (to == ValueType::f64) return {true, sign * kMinusZero64 + 0x7ffULL * (1ULL << 52) + payload};
  if (payload % (1 << 29) != 0) return {};
  return {true, sign * (1ULL << 31) + 0xffULL * (1ULL << 23) + payload / (1 << 29)};
}

Answer oracle(ValueType from, std::uint64_t bits, ValueType to) {
  const long double value = visit_type(
      from, [&](auto tag) { return static_cast<long double>(value_of<decltype(tag)>(bits)); });
  if (std::isnan(value)) return nan_oracle(from, bits, to);
  return visit_type(to, [&](auto tag) -> Answer {
    using To = decltype(tag);
    if (!is_float(to)) {
      const auto lowest = static_cast<long double>(std::numeric_limits<To>::min());
      const auto highest = static_cast<long double>(std::numeric_limits<To>::max());
      if (value != std::floor(value) || value < lowest || value > highest) return {};
      if (value == 0 && std::signbit(value)) return {};
    }
    const To result = static_cast<To>(value);
    if (static_cast<long double>(result) != value) return {};
    return {true, bits_of(result)};
  });
}

Answer nearest_oracle(ValueType from, std::uint64_t bits, ValueType to) {
  if (const Answer exact = oracle(from, bits, to); exact.fits) return exact;
  const long double value = visit_type(
      from, [&](auto tag) { return static_cast<long double>(value_of<decltype(tag)>(bits)); });
  if (is_float(to)) {
    if (std::isnan(value)) return {true, 0};  // any NaN will do
    const auto single = static_cast<float>(value);
    if (to == ValueType::f32 && std::isinf(single) && !std::isinf(value)) return {};
    return to == ValueType::f32 ? Answer{true, bits_of(single)}
                                : Answer{true, bits_of(static_cast<double>(value))};
  }
  if (std::isnan(value)) return {};
  const long double below = std::floor(value), rest = value - below;
  const bool up = rest > 0.5L || (rest == 0.5L && std::fmod(below, 2.0L) != 0);
  const long double rounded = up ? below + 1 : below;
  return visit_type(to, [&](auto tag) -> Answer {
    using To = decltype(tag);
    if (rounded < static_cast<long double>(std::numeric_limits<To>::min())) return {};
    if (rounded > static_cast<long double>(std::numeric_limits<To>::max())) return {};
    return {true, bits_of(static_cast<To>(rounded))};
  });
}

/// Values at which an answer changes, for every target type: neighbours of all powers of two and
/// of both signs, every type's ends, fractions, infinities, NaNs; and random bits.
std::vector<std::uint64_t> interesting(ValueType type) {
  std::vector<std::uint64_t> all;
  visit_type(type, [&](auto tag) {
    using T = decltype(tag);
    const auto add = [&](T value) { all.push_back(bits_of(value)); };
    if constexpr (std::is_floating_point_v<T>) {
      for (int e = std::is_same_v<T, float> ? -150 : -1080; e <= 1030; ++e) {
        const T power = static_cast<T>(std::ldexp(1.0L, e));
        for (T v : {power, std::nextafter(power, T{0}), std::nextafter(power, power * 2), power + 1,
                    power - 1, power * T{1.5}, power + T{0.5}, power - T{0.5}}) {
          add(v);
          add(-v);
        }
      }
      for (double v : {0.0, -0.0, 0.49999999999999994, 2.5, 3.5, -2.5, double{FLT_MAX},
                       double{FLT_MIN}, double{FLT_TRUE_MIN}, DBL_MAX, DBL_MIN, DBL_TRUE_MIN}) {
        add(static_cast<T>(v));
      }
      const std::uint64_t infinity = bits_of(std::numeric_limits<T>::infinity());
      const std::uint64_t sign = bits_of(T{-0.0});
      for (int shift = 0; shift < std::numeric_limits<T>::digits - 1; ++shift) {
        for (std::uint64_t payload : {1ULL << shift, (2ULL << shift) - 1}) {
          all.push_back(infinity | payload);
          all.push_back(infinity | payload | sign);
        }
      }
      all.push_back(infinity);
      all.push_back(infinity | sign);
    } else {
      for (int e = 0; e < 64; ++e) {
        const std::uint64_t power = std::uint64_t{1} << e;
        for (std::uint64_t v :
             {power - 1, power, power + 1, 0 - power, 0 - power - 1, 1 - power,
              power | (power >> 23), power | (power >> 24), power | (power >> 25),
              power | (power >> 52), power | (power >> 53), power | (power >> 54)}) {
          add(static_cast<T>(v));
        }
      }
    }
    std::mt19937_64 random(20);
    for (int i = 0; i < 2000; ++i) add(value_of<T>(random()));
  });
  return all;
}

template <class F>
void for_all_pairs(F f) {
  for (ValueType from : kValueTypes) {
    const std::vector<std::uint64_t> values = interesting(from);
    for (ValueType to : kValueTypes) {
      CAPTURE(name(from));
      CAPTURE(name(to));
      f(from, to, values);
    }
  }
}

std::vector<std::byte> packed(ValueType type, const std::vector<std::uint64_t>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_bits(type, bytes.data() + i * size_of(type), values[i]);
  }
  return bytes;
}

/// Converts `values` with the given steps beyond the types' sizes; compares count, values and the
/// bytes in between with what the oracle says.
void check_run(ValueType from, ValueType to, const std::vector<std::uint64_t>& values,
               std::size_t from_gap, std::size_t to_gap) {
  const std::size_t from_step = size_of(from) + from_gap, to_step = size_of(to) + to_gap;
  std::vector<std::byte> source(values.size() * from_step + 1), target(values.size() * to_step + 1);
  std::fill(target.begin(), target.end(), std::byte{0x5a});
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_bits(from, source.data() + 1 + i * from_step, values[i]);
  }
  std::size_t expected = 0;
  while (expected < values.size() && oracle(from, values[expected], to).fits) ++expected;
  const std::size_t count = convert_cells(from, source.data() + 1, from_step, to, target.data() + 1,
                                          to_step, values.size());
  REQUIRE(count == expected);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* p = target.data() + 1 + i * to_step;
    REQUIRE(load_bits(to, p) == oracle(from, values[i], to).bits);
    for (std::size_t gap = 0; gap < to_gap; ++gap) {
      REQUIRE(p[size_of(to) + gap] == std::byte{0x5a});
    }
  }
}

}  // namespace

TEST_CASE("convert_cells: one value of any type agrees with the oracle in every type") {
  for_all_pairs([](ValueType from, ValueType to, const std::vector<std::uint64_t>& values) {
    for (std::uint64_t bits : values) {
      CAPTURE(bits);
      Answer got;
      got.fits = convert_cell(from, bits, to, got.bits);
      if (!got.fits) got.bits = 0;
      REQUIRE(got == oracle(from, bits, to));
    }
  });
}

TEST_CASE("convert_cells: holds_all is true exactly when every value fits") {
  for_all_pairs([](ValueType from, ValueType to, const std::vector<std::uint64_t>& values) {
    const bool all = std::all_of(values.begin(), values.end(),
                                 [&](std::uint64_t bits) { return oracle(from, bits, to).fits; });
    CHECK(all == holds_all(to, from));
  });
}

TEST_CASE("convert_cells: a lossy value is the nearest, and never wraps") {
  for_all_pairs([](ValueType from, ValueType to, const std::vector<std::uint64_t>& values) {
    const std::vector<std::byte> source = packed(from, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(values[i]);
      const Answer wanted = nearest_oracle(from, values[i], to);
      Answer got;
      got.fits = convert_cell_lossy(from, values[i], to, got.bits);
      REQUIRE(got.fits == wanted.fits);
      std::byte in_run[8];
      REQUIRE(convert_cells_lossy(from, source.data() + i * size_of(from), size_of(from), to,
                                  in_run, size_of(to), 1) == (wanted.fits ? 1 : 0));
      if (!wanted.fits) continue;
      REQUIRE(load_bits(to, in_run) == got.bits);
      const bool rounded_nan = wanted.bits == 0 && to == ValueType::f32 && from == ValueType::f64 &&
                               std::isnan(value_of<double>(values[i]));
      if (rounded_nan) {
        REQUIRE(std::isnan(value_of<float>(got.bits)));
      } else {
        REQUIRE(got.bits == wanted.bits);
      }
    }
  });
}

TEST_CASE("convert_cells: runs of values that fit are copied whole, whatever the steps") {
  for_all_pairs([](ValueType from, ValueType to, const std::vector<std::uint64_t>& values) {
    std::vector<std::uint64_t> fitting;
    for (std::uint64_t bits : values) {
      if (oracle(from, bits, to).fits) fitting.push_back(bits);
    }
    REQUIRE(fitting.size() > 40);
    for (std::size_t i = 0; fitting.size() < 600; ++i) fitting.push_back(fitting[i]);
    for (std::size_t n : {0, 1, 255, 256, 257, 100000}) {
      const auto end = std::min(fitting.size(), n);
      const std::vector<std::uint64_t> part(fitting.begin(),
                                            fitting.begin() + static_cast<std::ptrdiff_t>(end));
      check_run(from, to, part, 0, 0);
      check_run(from, to, part, 3, 0);
      check_run(from, to, part, 0, 8);
      check_run(from, to, part, 5, 7);
    }
  });
}

TEST_CASE("convert_cells: a run stops in front of the first value that does not fit") {
  for_all_pairs([](ValueType from, ValueType to, const std::vector<std::uint64_t>& values) {
    std::vector<std::uint64_t> bad;
    for (std::uint64_t bits : values) {
      if (!oracle(from, bits, to).fits) bad.push_back(bits);
    }
    if (bad.empty()) return;
    for (std::size_t at : {0, 1, 7, 8, 255, 256, 300, 599}) {
      std::vector<std::uint64_t> run(600, bits_of(std::uint8_t{0}));
      run[at] = bad[at % bad.size()];
      run[599] = bad.front();
      check_run(from, to, run, 0, 0);
      check_run(from, to, run, 4, 2);
    }
  });
}

TEST_CASE("convert_cells: bits are loaded and stored little end first") {
  std::byte bytes[9] = {};
  for (ValueType type : kValueTypes) {
    std::fill(std::begin(bytes), std::end(bytes), std::byte{0xee});
    store_bits(type, bytes, 0x8877665544332211);
    CHECK(bytes[0] == std::byte{0x11});
    CHECK(bytes[size_of(type)] == std::byte{0xee});
    const std::uint64_t mask = size_of(type) == 8 ? ~0ULL : (1ULL << (8 * size_of(type))) - 1;
    CHECK(load_bits(type, bytes) == (0x8877665544332211 & mask));
  }
}
