// The cells of an opened object as the canonical lines that stand in X.cells.txt beside real
// files: one "c ROW COL VALUE" per cell that is not positive zero, row after row.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "dapple/dapple.h"

namespace dapple::test {

inline std::string hex_digits(std::uint64_t bits, unsigned digits) {
  std::string text(digits, '0');
  for (unsigned i = digits; i-- > 0; bits >>= 4) text[i] = "0123456789abcdef"[bits & 15];
  return text;
}

/// Integers in decimal, floats as the hexadecimal bits of the IEEE value; "" for positive zero.
template <Value T>
std::string cell_text(T value) {
  if constexpr (std::is_same_v<T, float>) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bits == 0 ? "" : hex_digits(bits, 8);
  } else if constexpr (std::is_same_v<T, double>) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return bits == 0 ? "" : hex_digits(bits, 16);
  } else {
    return value == 0 ? "" : std::to_string(value);
  }
}

/// Column by column through the public API, each as its declared type.
inline std::string cell_lines(const std::variant<Matrix, Frame>& object) {
  return std::visit(
      [](const auto& o) {
        std::vector<std::string> lines(o.rows());
        for (std::uint64_t col = 0; col < o.cols(); ++col) {
          visit_type(o.column_type(col), [&](auto tag) {
            using T = decltype(tag);
            std::vector<T> cells(o.rows());
            o.template read<T>({{0, o.rows()}, {col, col + 1}}, std::span<T>(cells));
            for (std::uint64_t row = 0; row < o.rows(); ++row) {
              const std::string value = cell_text(cells[row]);
              if (value.empty()) continue;
              lines[row] +=
                  "c " + std::to_string(row) + " " + std::to_string(col) + " " + value + "\n";
            }
          });
        }
        std::string text;
        for (const std::string& line : lines) text += line;
        return text;
      },
      object);
}

}  // namespace dapple::test
