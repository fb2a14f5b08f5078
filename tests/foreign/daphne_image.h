// Files of the DAPHNE runtime put together field by field, as its writers would; a second
// implementation, from the description in lib/foreign/daphne/FORMAT.md alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dapple/value_type.h"
#include "tests/support.h"

namespace dapple::test {

using Bytes = std::vector<std::byte>;

/// In the order of their codes.
inline constexpr std::array kRuntimeTypes = {ValueType::i8,  ValueType::i32, ValueType::i64,
                                             ValueType::u8,  ValueType::u32, ValueType::u64,
                                             ValueType::f32, ValueType::f64};

inline std::uint8_t runtime_code(ValueType type) {
  return static_cast<std::uint8_t>(std::find(kRuntimeTypes.begin(), kRuntimeTypes.end(), type) -
                                   kRuntimeTypes.begin());
}

inline Image runtime_header(std::uint8_t object, std::uint64_t rows, std::uint64_t cols) {
  Image image;
  image.number(std::uint8_t{1}).number(object).number(rows).number(cols);
  return image;
}

inline Image runtime_matrix(std::uint8_t object, std::uint64_t rows, std::uint64_t cols,
                            ValueType type) {
  Image image = runtime_header(object, rows, cols);
  image.number(runtime_code(type)).zeros(16);
  image.number(static_cast<std::uint32_t>(rows)).number(static_cast<std::uint32_t>(cols));
  image.number(object).number(runtime_code(type));
  return image;
}

template <Value T>
Image runtime_dense(std::uint64_t rows, std::uint64_t cols, const std::vector<T>& values) {
  Image image = runtime_matrix(1, rows, cols, value_type_of<T>());
  for (const T value : values) image.number(value);
  return image;
}

template <Value T>
Image runtime_csr(std::uint64_t cols,
                  const std::vector<std::vector<std::pair<std::uint64_t, T>>>& rows) {
  Image image = runtime_matrix(2, rows.size(), cols, value_type_of<T>());
  std::uint64_t nnz = 0;
  for (const auto& row : rows) nnz += row.size();
  image.number(nnz).number(std::uint64_t{0});
  std::uint64_t before = 0;
  for (const auto& row : rows) image.number(before += row.size());
  for (const auto& row : rows) {
    for (const auto& entry : row) image.number(entry.first);
  }
  for (const auto& row : rows) {
    for (const auto& entry : row) image.number(entry.second);
  }
  return image;
}

/// Everything in front of a frame's rows; `label_bytes` of memory stand for each label.
inline Image runtime_frame(std::uint64_t rows, const std::vector<ValueType>& types,
                           std::uint16_t label_bytes = 0) {
  Image image = runtime_header(3, rows, types.size());
  for (const ValueType type : types) image.number(runtime_code(type));
  for (std::size_t i = 0; i < types.size(); ++i) {
    image.number(label_bytes);
    for (std::uint16_t k = 0; k < label_bytes; ++k)
      image.number(static_cast<std::uint8_t>(170 + k));
  }
  image.zeros(16);
  return image;
}

/// Values of random bits, zero where chance has it.
template <Value T>
std::vector<T> some_values(Rng& rng, std::size_t n) {
  std::vector<T> values(n);
  for (T& value : values) {
    const std::uint64_t bits = rng.chance(30) ? 0 : rng.bits();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

}  // namespace dapple::test
