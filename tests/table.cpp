#include "tests/table.h"

#include <cmath>
#include <limits>

namespace dapple::test {

namespace {

using detail::ObjectKind;

template <Value T>
T random_value(Rng& rng) {
  const std::uint64_t choice = rng.below(8);
  if constexpr (std::is_floating_point_v<T>) {
    if (choice == 0) return T{-0.0};
    if (choice == 1) return std::numeric_limits<T>::infinity();
    if (choice == 2) return static_cast<T>(-std::nan("12345"));
    if (choice < 6) return static_cast<T>(rng.below(100)) - 50;
  } else {
    if (choice == 0) return std::numeric_limits<T>::min();
    if (choice == 1) return std::numeric_limits<T>::max();
    if (choice < 6) return static_cast<T>(rng.below(100));
  }
  T value;
  const std::uint64_t bits = rng.bits();
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

Table Table::random(ObjectKind kind, std::uint64_t rows, std::uint64_t cols, unsigned percent,
                    Rng& rng) {
  std::vector<Column> columns;
  const ValueType same = kValueTypes[rng.below(10)];
  for (std::uint64_t c = 0; c < cols; ++c) {
    const bool matrix = kind == ObjectKind::matrix;
    const bool as_before = c > 0 && rng.chance(50);
    const ValueType type = matrix      ? same
                           : as_before ? columns.back().value_type
                                       : kValueTypes[rng.below(10)];
    columns.push_back({matrix ? "" : "column " + std::to_string(c), type});
  }
  Table table(kind, rows, std::move(columns));
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = 0; c < cols; ++c) {
      if (!rng.chance(percent)) continue;
      visit_type(table.type(c),
                 [&](auto tag) { table.set(r, c, random_value<decltype(tag)>(rng)); });
    }
  }
  return table;
}

Table Table::read(const std::variant<Matrix, Frame>& object) {
  const bool matrix = std::holds_alternative<Matrix>(object);
  const auto& base = std::visit([](const auto& o) -> const BlockedObject& { return o; }, object);
  std::vector<Column> columns;
  for (std::uint64_t c = 0; c < base.cols(); ++c) {
    columns.push_back({matrix ? "" : std::get<Frame>(object).label(c), base.column_type(c)});
  }
  Table table(matrix ? ObjectKind::matrix : ObjectKind::frame, base.rows(), std::move(columns));
  for (std::uint64_t c = 0; c < base.cols(); ++c) {
    visit_type(table.type(c), [&](auto tag) {
      using T = decltype(tag);
      const Range all{0, base.rows()};
      const std::vector<T> values = matrix ? std::get<Matrix>(object).read<T>({all, {c, c + 1}})
                                           : std::get<Frame>(object).read_column<T>(c, all);
      for (std::uint64_t r = 0; r < base.rows(); ++r) table.set(r, c, values[r]);
    });
  }
  return table;
}

void Table::write(const std::filesystem::path& path, const WriteOptions& options) const {
  const auto fill = [&](TileWriter&& writer) {
    for (const Range& strip : writer.column_strips()) {
      for (std::uint64_t row = 0; row < rows; row += writer.tile().rows) {
        const std::uint64_t height = std::min<std::uint64_t>(writer.tile().rows, rows - row);
        visit_type(type(strip.begin), [&](auto tag) {
          using T = decltype(tag);
          std::vector<T> values;
          for (std::uint64_t r = row; r < row + height; ++r) {
            for (std::uint64_t c = strip.begin; c < strip.end; ++c) {
              const std::uint64_t bits = at(r, c);
              T value;
              std::memcpy(&value, &bits, sizeof value);
              values.push_back(value);
            }
          }
          writer.put<T>({row, strip.begin}, {values.data(), static_cast<std::uint32_t>(height),
                                             static_cast<std::uint32_t>(strip.size()), 0});
        });
      }
    }
    writer.finish();
  };
  if (kind == ObjectKind::frame) {
    fill(FrameWriter::create(path, rows, columns, options));
  } else {
    const ValueType value_type = columns.empty() ? ValueType::f64 : type(0);
    fill(MatrixWriter::create(path, rows, cols(), value_type, options));
  }
}

Region random_region(std::uint64_t rows, std::uint64_t cols, Rng& rng) {
  const std::uint64_t row = rng.between(0, rows), col = rng.between(0, cols);
  return {{row, rng.between(row, rows)}, {col, rng.between(col, cols)}};
}

}  // namespace dapple::test
