// Small data sets whose cells count upwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

namespace dapple::test {

inline ConvertOptions quick() {
  ConvertOptions options;
  options.write.sync = false;
  return options;
}

inline dataset::CommitOptions quick_commit() {
  dataset::CommitOptions options;
  options.sync = false;
  return options;
}

/// A matrix whose cells count from `first` on.
inline std::variant<Matrix, Frame> rows_from(const TempDir& folder, double first,
                                             std::uint32_t rows, std::uint32_t cols,
                                             ValueType type = ValueType::f64) {
  static int count = 0;
  const auto path = folder / ("rows" + std::to_string(++count) + ".dbdf");
  std::vector<double> cells(std::size_t{rows} * cols);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = first + static_cast<double>(i);
  auto writer = MatrixWriter::create(path, rows, cols, type);
  writer.put<double>({0, 0}, {cells.data(), rows, cols});
  writer.finish();
  return open(path);
}

inline std::vector<double> all_cells(const std::filesystem::path& path) {
  const Matrix m = Matrix::open(path);
  return m.read<double>({{0, m.rows()}, {0, m.cols()}});
}

inline std::vector<double> counted_from(double first, std::size_t n) {
  std::vector<double> cells(n);
  for (std::size_t i = 0; i < n; ++i) cells[i] = first + static_cast<double>(i);
  return cells;
}

}  // namespace dapple::test
