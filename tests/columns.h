// Columns of a matrix in every way that they can be read, against the cells that a read of
// everything gives.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

namespace dapple::test {

template <Value T>
bool is_stored(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits != 0;
}

/// The columns of a list are those of `cells`, which are all of the matrix.
template <Value T, class Col>
void check_columns(const Matrix& m, std::span<const T> cells, std::span<const std::uint64_t> list,
                   Csr<T, Col>& out, const GatherOptions& options) {
  gather_columns(m, list, out, options);
  REQUIRE(out.row_ptr.size() == list.size() + 1);
  REQUIRE(out.row_ptr[0] == 0);
  REQUIRE(out.col_idx.size() == out.values.size());
  REQUIRE(out.row_ptr[list.size()] == out.values.size());
  std::uint64_t k = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::uint64_t row = 0; row < m.rows(); ++row) {
      const T wanted = cells[row * m.cols() + list[i]];
      if (!is_stored(wanted)) continue;
      REQUIRE(k < out.values.size());
      REQUIRE(out.col_idx[k] == row);
      REQUIRE(std::memcmp(&out.values[k++], &wanted, sizeof wanted) == 0);
    }
    REQUIRE(out.row_ptr[i + 1] == k);
  }
}

inline std::vector<std::uint64_t> random_list(Rng& rng, std::uint64_t limit) {
  std::vector<std::uint64_t> list(limit == 0 ? 0 : rng.below(2 * limit + 1));
  for (auto& item : list) item = rng.below(limit);
  return list;
}

/// Lists of columns, for one and several threads.
inline void check_columns(Rng& rng, const Matrix& m) {
  visit_type(m.value_type(), [&](auto tag) {
    using T = decltype(tag);
    const auto cells = m.read<T>({{0, m.rows()}, {0, m.cols()}}, {Absent::zero, 1});
    Csr<T> out;
    Csr<T, std::uint32_t> narrow;
    for (const unsigned threads : {1U, 3U}) {
      const auto list = random_list(rng, m.cols());
      const GatherOptions options{.absent = Absent::zero, .threads = threads};
      check_columns<T>(m, cells, list, out, options);
      check_columns<T>(m, cells, list, narrow, options);
    }
  });
}

/// A matrix that is high enough for reads to look for a copy: 3000 x 70, sparse and dense tiles.
inline std::filesystem::path high_matrix(const TempDir& dir, TileShape tile = {500, 64}) {
  WriteOptions options;
  options.tile = tile;
  options.overwrite = true;
  auto w = MatrixWriter::create(dir / "high.dbdf", 3000, 70, ValueType::f32, options, Storage::csr);
  Rng rng(7);
  for (std::uint32_t row = 0; row < 3000; row += tile.rows) {
    for (std::uint32_t col = 0; col < 70; col += tile.cols) {
      const std::uint32_t rows = std::min(tile.rows, 3000 - row);
      const std::uint32_t cols = std::min(tile.cols, 70 - col);
      std::vector<float> cells(std::size_t{rows} * cols);
      const unsigned filled = row == 500 ? 90 : row == 1000 ? 0 : 5;
      for (float& cell : cells) {
        if (rng.chance(filled)) cell = static_cast<float>(rng.between(-300, 300)) / 2;
      }
      w.put<float>({row, col}, {cells.data(), rows, cols});
    }
  }
  w.finish();
  return dir / "high.dbdf";
}

/// What a matrix of f32 that is read in several ways says of a few of its columns.
inline void check_reads(const Matrix& m, std::span<const float> cells, Range rows, Range cols) {
  const auto read = m.read<double>({rows, cols});
  const Csr<double> csr = m.read_csr<double>({rows, cols});
  std::uint64_t k = 0;
  REQUIRE(csr.row_ptr.size() == rows.size() + 1);
  for (std::uint64_t r = 0; r < rows.size(); ++r) {
    for (std::uint64_t c = 0; c < cols.size(); ++c) {
      const double wanted = cells[(rows.begin + r) * m.cols() + cols.begin + c];
      REQUIRE(read[r * cols.size() + c] == wanted);
      if (wanted == 0) continue;
      REQUIRE(k < csr.col_idx.size());
      REQUIRE(csr.col_idx[k] == c);
      REQUIRE(csr.values[k++] == wanted);
    }
    REQUIRE(csr.row_ptr[r + 1] == k);
  }
  std::vector<float> strided(rows.size() * (cols.size() + 2), -7);
  m.read<float>({rows, cols}, strided, cols.size() + 2);
  for (std::size_t i = 0; i < strided.size(); ++i) {
    const std::uint64_t r = i / (cols.size() + 2), c = i % (cols.size() + 2);
    REQUIRE(strided[i] ==
            (c < cols.size() ? cells[(rows.begin + r) * m.cols() + cols.begin + c] : -7));
  }
}

}  // namespace dapple::test
