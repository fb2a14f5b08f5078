// A small object held as the bits of its cells: what a naive program would make of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <variant>
#include <vector>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "dapple/writer.h"
#include "lib/object/schema.h"
#include "tests/support.h"

namespace dapple::test {

struct Table {
  Table(detail::ObjectKind k, std::uint64_t n, std::vector<Column> c)
      : kind(k), rows(n), columns(std::move(c)), cells(rows * columns.size()) {}

  /// Columns of random types (one type in a matrix); `percent` of the cells are not zero, among
  /// them minus zero, NaNs with payloads, infinities and the ends of integer ranges.
  static Table random(detail::ObjectKind kind, std::uint64_t rows, std::uint64_t cols,
                      unsigned percent, Rng& rng);

  /// The cells of an opened object, read through the public interface.
  static Table read(const std::variant<Matrix, Frame>& object);

  /// Writes the table as a DAPHNE file, tile by tile.
  void write(const std::filesystem::path& path, const WriteOptions& options) const;

  std::uint64_t cols() const { return columns.size(); }
  ValueType type(std::uint64_t col) const { return columns[col].value_type; }
  std::uint64_t& at(std::uint64_t row, std::uint64_t col) { return cells[row * cols() + col]; }
  std::uint64_t at(std::uint64_t row, std::uint64_t col) const { return cells[row * cols() + col]; }
  template <Value T>
  void set(std::uint64_t row, std::uint64_t col, T value) {
    at(row, col) = 0;
    std::memcpy(&at(row, col), &value, sizeof value);
  }
  friend bool operator==(const Table&, const Table&) = default;

  detail::ObjectKind kind;
  std::uint64_t rows;
  std::vector<Column> columns;       // of a matrix: without labels, all of one type
  std::vector<std::uint64_t> cells;  // each value in the low bytes
};

Region random_region(std::uint64_t rows, std::uint64_t cols, Rng& rng);

}  // namespace dapple::test
