// Gathers of rows that have to be decoded: each block once, by several threads.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/scipy_image.h"
#include "tests/support.h"

using namespace dapple;
using test::Rng;
using test::TempDir;

namespace {

constexpr std::uint64_t kRows = 700, kCols = 40;

/// A tenth of its cells are not zero.
std::vector<float> some_cells(Rng& rng) {
  std::vector<float> cells(kRows * kCols);
  for (float& cell : cells) {
    if (rng.chance(10)) cell = static_cast<float>(1 + rng.below(500));
  }
  return cells;
}

/// More rows than are found at once, in any order, each several times.
std::vector<std::uint64_t> many_rows(Rng& rng) {
  std::vector<std::uint64_t> rows(40'000);
  for (auto& row : rows) row = rng.below(kRows);
  return rows;
}

/// The same as SciPy's archive of a CSR matrix.
std::string csr_archive(const std::vector<float>& cells, bool deflated) {
  std::vector<std::int64_t> indptr{0}, indices;
  std::vector<int> values;
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != 0) {
      indices.push_back(static_cast<std::int64_t>(i % kCols));
      values.push_back(static_cast<int>(cells[i]));
    }
    if ((i + 1) % kCols == 0) indptr.push_back(static_cast<std::int64_t>(indices.size()));
  }
  const test::ArrayForm form{.deflated = deflated};
  return test::scipy_archive(
      "csr", form,
      {{"shape", test::integers_image({kRows, kCols}, form)},
       {"indptr", test::integers_image(indptr, form)},
       {"indices", test::integers_image(indices, form)},
       {"data", test::values_image(values, std::to_string(values.size()) + ",", form)}});
}

void check_gather(const Matrix& m, const std::vector<float>& cells,
                  const std::vector<std::uint64_t>& rows, unsigned threads) {
  const Range cols{3, kCols - 2};
  Csr<double> csr;
  gather_csr(m, rows, csr, {.cols = cols, .threads = threads});
  REQUIRE(csr.row_ptr.size() == rows.size() + 1);
  std::uint64_t at = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    REQUIRE(csr.row_ptr[k] == at);
    for (std::uint64_t c = cols.begin; c < cols.end; ++c) {
      const double wanted = cells[rows[k] * kCols + c];
      if (wanted == 0) continue;
      REQUIRE(at < csr.values.size());
      REQUIRE(csr.col_idx[at] == c - cols.begin);
      REQUIRE(csr.values[at++] == wanted);
    }
  }
  REQUIRE(csr.row_ptr[rows.size()] == at);
  REQUIRE(csr.values.size() == at);
}

}  // namespace

TEST_CASE("gather: long lists from several threads, where rows are decoded in another order") {
  Rng rng(91);
  const TempDir dir;
  const std::vector<float> cells = some_cells(rng);
  const std::vector<std::uint64_t> rows = many_rows(rng);
  auto writer = test::writer<float>(dir / "m.dbdf", kRows, kCols, {.tile = TileShape{90, 40}});
  writer.put_region<float>({0, 0}, {cells.data(), kRows, kCols});
  writer.finish();
  convert(open(dir / "m.dbdf"), {}, dir / "m.npy", {});
  convert(open(dir / "m.dbdf"), {}, dir / "m.idv", {});
  test::write_text(dir / "m.npz", csr_archive(cells, false));
  test::write_text(dir / "deflated.npz", csr_archive(cells, true));
  for (const std::string name : {"m.dbdf", "m.npy", "m.idv", "m.npz", "deflated.npz"}) {
    CAPTURE(name);
    for (const unsigned threads : {1U, 3U}) {
      check_gather(Matrix::open(dir / name), cells, rows, threads);
    }
  }
}
