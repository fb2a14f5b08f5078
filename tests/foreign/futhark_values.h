// Futhark streams for tests: opened from a string, and binary values put together by hand.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

namespace dapple::test {

inline constexpr float kInfF = std::numeric_limits<float>::infinity();

inline OpenOptions as_futhark(FormatOptions futhark = {}) {
  OpenOptions options;
  options.format = "futhark";
  options.format_options = std::move(futhark);
  return options;
}

/// Reads as the compiled program that expects these types.
inline FormatOptions typed(std::string types) { return {{"futhark.type", std::move(types)}}; }

inline std::variant<Matrix, Frame> open_text(const TempDir& dir, std::string_view text,
                                             FormatOptions futhark = {}) {
  const auto path = dir / "stream";
  write_text(path, text);
  return open(path, as_futhark(std::move(futhark)));
}

inline Matrix matrix_of(const TempDir& dir, std::string_view text, FormatOptions futhark = {}) {
  return std::get<Matrix>(open_text(dir, text, std::move(futhark)));
}

template <Value T>
std::vector<T> cells_of(const Matrix& matrix) {
  REQUIRE(matrix.value_type() == value_type_of<T>());
  return matrix.read<T>({{0, matrix.rows()}, {0, matrix.cols()}});
}

/// All cells of the one value in a text.
template <Value T>
std::vector<T> cells_of(const TempDir& dir, std::string_view text, FormatOptions futhark = {}) {
  return cells_of<T>(matrix_of(dir, text, std::move(futhark)));
}

/// The one value of a text; fails the test when it is none.
template <Value T>
T value_of(const TempDir& dir, std::string_view text, FormatOptions futhark = {}) {
  const auto cells = cells_of<T>(dir, text, std::move(futhark));
  REQUIRE(cells.size() == 1);
  return cells[0];
}

/// What floats are compared by.
template <class T>
auto bits_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return value;
  }
}

/// A binary value: `code` is the type's four characters.
template <class T>
std::string binary_value(std::string_view code, const std::vector<std::uint64_t>& dims,
                         const std::vector<T>& elements) {
  std::string bytes = "b\x02";
  bytes += static_cast<char>(dims.size());
  bytes += code;
  const auto add = [&](const auto& numbers) {
    for (const auto number : numbers) {
      char raw[sizeof number];
      std::memcpy(raw, &number, sizeof number);
      bytes.append(raw, sizeof number);
    }
  };
  add(dims);
  add(elements);
  return bytes;
}

/// The error line of opening and reading everything, without the file's name; "" when it works.
inline std::string complaint(const TempDir& dir, std::string_view text,
                             FormatOptions futhark = {}) {
  const auto error = error_of([&] {
    const auto object = open_text(dir, text, std::move(futhark));
    std::visit(
        [](const auto& o) {
          for (std::uint64_t col = 0; col < o.cols(); ++col) {
            visit_type(o.column_type(col), [&](auto tag) {
              using T = decltype(tag);
              std::vector<T> cells(o.rows());
              o.template read<T>({{0, o.rows()}, {col, col + 1}}, std::span<T>(cells));
            });
          }
        },
        object);
  });
  return error ? test::told(*error) : "";
}

}  // namespace dapple::test
