// Payloads of every kind, type and pattern, for the tests of packing.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/codec/packed/packed_block.h"
#include "tests/support.h"

namespace dapple::test::packing {

using namespace dapple::detail;
using packed::BlockReader;
using packed::Effort;
using packed::Shape;
using Bytes = std::vector<std::byte>;
using Bits = std::vector<std::uint64_t>;

inline const std::string kFile = "packed.dbdf";

/// The bits of a number as a value of that type; of integers, modulo their size.
inline std::uint64_t bits_of(ValueType type, double number) {
  if (type == ValueType::f64) return std::bit_cast<std::uint64_t>(number);
  if (type == ValueType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number)) &
         ~std::uint64_t{0} >> (64 - 8 * size_of(type));
}

/// A name, and the value at a place.
struct Pattern {
  const char* name;
  std::function<std::uint64_t(test::Rng&, std::size_t, ValueType)> value;
};

inline double bell(test::Rng& rng) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng.below(1 << 20)) / (1 << 20);
  return sum - 6;
}

inline const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {
      {"constant", [](auto&, auto, auto type) { return bits_of(type, 7); }},
      {"small", [](auto& rng, auto, auto type) { return bits_of(type, double(rng.below(4))); }},
      {"outliers",
       [](auto& rng, auto, auto type) {
         return rng.chance(5) ? rng.bits() >> 8 * (8 - size_of(type)) : bits_of(type, 3);
       }},
      {"signed",
       [](auto& rng, auto, auto type) { return bits_of(type, double(rng.below(60)) - 30); }},
      {"ascending",
       [](auto& rng, auto i, auto type) { return bits_of(type, double(i * 3 + rng.below(3))); }},
      {"runs", [](auto&, auto i, auto type) { return bits_of(type, double(i / 50 % 9 * 13)); }},
      {"a walk",
       [](auto&, auto i, auto type) {
         return bits_of(type, std::floor(100 * std::sin(double(i) / 40)));
       }},
      {"few",
       [](auto& rng, auto, auto type) {
         return bits_of(type, std::floor(std::exp(double(rng.below(6)) * 1.7) * 1e3));
       }},
      {"decimals",
       [](auto& rng, auto, auto type) {
         return bits_of(type, (double(rng.below(30000)) - 5000) / 100);
       }},
      {"odd floats",
       [](auto& rng, auto i, auto type) {
         constexpr double nan = std::numeric_limits<double>::quiet_NaN();
         if (!is_float(type) || i % 7 > 0) return bits_of(type, double(rng.below(90)) / 8);
         return bits_of(type, rng.chance(50) ? -0.0 : nan) + rng.below(2);
       }},
      {"missing decimals",
       [](auto& rng, auto, auto type) {
         if (rng.chance(20)) return bits_of(type, is_float(type) ? std::nan("5") : 0);
         return bits_of(type, double(rng.below(9000)) / 100);
       }},
      {"pixels",
       [](auto& rng, auto i, auto type) {
         const double wave = 20 * std::sin(double(i) / 60);
         return bits_of(type, std::floor(double(i % 3) * 40 + 20 + wave) + double(rng.below(3)));
       }},
      {"one to two",
       [](auto& rng, auto, auto type) {
         return bits_of(type, 1 + double(rng.below(1 << 23)) / (1 << 23));
       }},
      {"bell", [](auto& rng, auto, auto type) { return bits_of(type, 20 * bell(rng)); }},
      {"random", [](auto& rng, auto, auto type) { return rng.bits() >> 8 * (8 - size_of(type)); }},
  };
  return all;
}

inline void put(Bytes& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::byte>(value >> 8 * i));
}

struct Sample {
  Shape shape;
  Bytes plain;
};

inline Sample dense(ValueType type, std::uint32_t rows, std::uint32_t cols, const Pattern& pattern,
                    test::Rng& rng) {
  Sample sample{{BlockKind::dense, type, rows, cols, std::uint64_t{rows} * cols}, {}};
  for (std::size_t i = 0; i < sample.shape.stored; ++i) {
    put(sample.plain, pattern.value(rng, i, type), size_of(type));
  }
  return sample;
}

/// About one cell in `every` is stored; rows have entries from right to left where `backwards`.
inline Sample csr(ValueType type, std::uint32_t rows, std::uint32_t cols, unsigned every,
                  bool backwards, const Pattern& pattern, test::Rng& rng) {
  Sample sample{{BlockKind::csr, type, rows, cols, 0}, {}};
  for (std::uint32_t row = 0; row < rows; ++row) {
    Bits columns;
    for (std::uint32_t col = 0; col < cols && row % 5 < 4; ++col) {
      if (rng.below(every) == 0) columns.push_back(col);
    }
    if (backwards) columns = {columns.rbegin(), columns.rend()};
    put(sample.plain, columns.size(), 4);
    for (const std::uint64_t col : columns) {
      put(sample.plain, col, 4);
      put(sample.plain, pattern.value(rng, sample.shape.stored++, type), size_of(type));
    }
  }
  return sample;
}

inline Sample coo(ValueType type, std::uint32_t rows, std::uint32_t cols, std::size_t n,
                  const Pattern& pattern, test::Rng& rng) {
  Sample sample{{BlockKind::coo, type, rows, cols, n}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    put(sample.plain, i * rows / n, 4);
    if (cols != 1) put(sample.plain, rng.below(cols), 4);
    put(sample.plain, pattern.value(rng, i, type), size_of(type));
  }
  return sample;
}

inline BlockReader reader_of(const Shape& shape, const Bytes& packed) {
  return {shape, {packed, 1000, &kFile}};
}

inline Bytes decoded(const Shape& shape, const Bytes& packed) {
  Bytes out(packed::plain_bytes(shape).value());
  reader_of(shape, packed).decode(out.data());
  return out;
}

}  // namespace dapple::test::packing
