// Matrices whose rows and columns have names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "dapple/names.h"
#include "dapple/writer.h"

namespace dapple::test {

using Texts = std::vector<std::string>;

inline std::shared_ptr<const Names> names_of(const Texts& texts) {
  NamesBuilder builder;
  for (const std::string& text : texts) builder.add(text);
  return builder.finish();
}

inline Texts texts_of(const std::shared_ptr<const Names>& names) {
  Texts texts;
  if (names == nullptr) return {"(none)"};
  for (std::uint64_t i = 0; i < names->size(); ++i) texts.emplace_back((*names)[i]);
  return texts;
}

/// A matrix of the cells 0, 1, 2, ...
inline std::filesystem::path write_named(const std::filesystem::path& path, std::uint32_t rows,
                                         std::uint32_t cols, const Texts& row_names,
                                         const Texts& col_names, bool plain = false) {
  WriteOptions options;
  options.plain = plain;
  options.overwrite = true;
  if (!row_names.empty()) options.row_names = names_of(row_names);
  if (!col_names.empty()) options.col_names = names_of(col_names);
  auto writer = MatrixWriter::create(path, rows, cols, ValueType::f64, options);
  std::vector<double> cells(std::size_t{rows} * cols);
  std::iota(cells.begin(), cells.end(), 0.0);
  writer.put<double>({0, 0}, {cells.data(), rows, cols, cols});
  writer.finish();
  return path;
}

inline std::filesystem::path write_small(const std::filesystem::path& path) {
  return write_named(path, 2, 3, {"Ann", "Bo"}, {"x", "", "Z\xc3\xbcrich"});
}

}  // namespace dapple::test
