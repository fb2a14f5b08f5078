// SciPy's matrices of blocks (bsr) and of diagonals (dia) in .npz archives, and arrays of the other
// byte order.

#include <algorithm>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/scipy_image.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// All ways to read give these cells.
void check_reads(const std::filesystem::path& path, std::uint64_t rows, std::uint64_t cols,
                 const std::vector<double>& wanted, Rng& rng) {
  const Matrix m = Matrix::open(path);
  REQUIRE(m.rows() == rows);
  REQUIRE(m.cols() == cols);
  CHECK(m.value_type() == ValueType::i16);
  CHECK(verify(path, Level::payload).findings.empty());
  const auto cell = [&](std::uint64_t row, std::uint64_t col) { return wanted[row * cols + col]; };
  const auto some = [&](std::uint64_t size) { return size == 0 ? Range{} : rng.range(size); };
  const Range some_rows = some(rows), some_cols = some(cols);
  for (const Region& region : {Region{{0, rows}, {0, cols}}, Region{some_rows, some_cols}}) {
    const auto dense = m.read<double>(region);
    const auto csr = m.read_csr<float>(region);
    std::size_t at = 0, k = 0;
    for (std::uint64_t row = region.rows.begin; row < region.rows.end; ++row) {
      REQUIRE(csr.row_ptr[row - region.rows.begin] == k);
      for (std::uint64_t col = region.cols.begin; col < region.cols.end; ++col) {
        REQUIRE(dense[at++] == cell(row, col));
        if (cell(row, col) == 0) continue;
        REQUIRE(k < csr.values.size());
        REQUIRE(csr.col_idx[k] == col - region.cols.begin);
        REQUIRE(csr.values[k++] == static_cast<float>(cell(row, col)));
      }
    }
    REQUIRE(csr.values.size() == k);
  }
  std::vector<std::uint64_t> list;
  for (std::uint64_t i = 0; rows > 0 && i < 5; ++i) list.push_back(rng.below(rows));
  std::vector<double> gathered(list.size() * cols);
  gather_rows<double>(m, list, gathered, cols);
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    REQUIRE(gathered[i] == cell(list[i / cols], i % cols));
  }
  std::size_t found = 0;
  for (const BlockInfo& block : m.blocks()) {
    const auto csr = m.block(block.pos).to_csr<double>();
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      for (auto k = csr.row_ptr[row]; k < csr.row_ptr[row + 1]; ++k) {
        REQUIRE(csr.values[k] == cell(block.pos.rx + row, csr.col_idx[k]));
        found += csr.values[k] != 0 ? 1 : 0;
      }
    }
  }
  const auto zeros = static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), 0.0));
  CHECK(found == wanted.size() - zeros);
}

std::uint64_t count_blocks(const std::filesystem::path& path) {
  const Matrix m = Matrix::open(path);
  return m.blocks().size();
}

template <class M>
void check_random_matrices(std::uint64_t seed) {
  const TempDir dir;
  Rng rng(seed);
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    const ArrayForm form{rng.chance(50), rng.chance(50), rng.chance(50), rng.chance(50) ? 4 : 8};
    const M m = M::random(rng);
    write_text(dir / "m.npz", m.image(form));
    check_reads(dir / "m.npz", static_cast<std::uint64_t>(m.rows),
                static_cast<std::uint64_t>(m.cols), m.cells(), rng);
  }
}

}  // namespace

TEST_CASE("npz: matrices of blocks hold the cells that SciPy's bsr_matrix does") {
  check_random_matrices<BlockMatrix>(11);
}

TEST_CASE("npz: matrices of diagonals hold the cells that SciPy's dia_matrix does") {
  check_random_matrices<DiagonalMatrix>(12);
}

TEST_CASE("npz: blocks and diagonals tell what is stored before anything is read") {
  const TempDir dir;
  write_text(dir / "b.npz", kBlocks.image({}));
  CHECK(Matrix::open(dir / "b.npz").counts().stored == 18);
  write_text(dir / "d.npz", kDiagonals.image({}));
  const Matrix m = Matrix::open(dir / "d.npz");
  CHECK(m.counts().stored == 4);
  CHECK(m.details()[0].text == "SciPy's dia");
  CHECK(m.details()[1].text == "2");
}

TEST_CASE("npz: many rows of blocks and of diagonals make several blocks") {
  const TempDir dir;
  Rng rng(13);
  BlockMatrix blocks{3000, 900, 3, 2};
  for (std::int64_t line = 0; line < 1000; ++line) {
    for (std::int64_t i = 0; i < 450; ++i) {
      if (rng.chance(90)) blocks.indices.push_back(i);
    }
    blocks.indptr.push_back(static_cast<std::int64_t>(blocks.indices.size()));
  }
  for (std::size_t i = 0; i < blocks.indices.size() * 6; ++i) {
    blocks.data.push_back(static_cast<int>(i % 251));
  }
  write_text(dir / "b.npz", blocks.image({}));
  CHECK(count_blocks(dir / "b.npz") == 3);
  check_reads(dir / "b.npz", 3000, 900, blocks.cells(), rng);

  DiagonalMatrix diagonals{2500, 1300, 1200};
  for (std::int64_t offset = 1100; offset > -2400; offset -= 2) diagonals.offsets.push_back(offset);
  for (std::size_t i = 0; i < diagonals.offsets.size() * 1200; ++i) {
    diagonals.data.push_back(static_cast<int>(i % 251));
  }
  write_text(dir / "d.npz", diagonals.image({}));
  CHECK(count_blocks(dir / "d.npz") == 2);
  check_reads(dir / "d.npz", 2500, 1300, diagonals.cells(), rng);
}

TEST_CASE("npz: big-endian arrays of all other formats are read") {
  const TempDir dir;
  Rng rng(14);
  const std::vector<double> wanted = {0, 7, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0};
  for (const bool deflated : {false, true}) {
    for (const int width : {4, 8}) {
      const ArrayForm form{deflated, true, false, width};
      const auto write = [&](const std::string& format, const std::string& lines,
                             const std::vector<std::int64_t>& of_lines, const std::string& across,
                             const std::vector<std::int64_t>& indices, std::vector<int> values) {
        write_text(dir / (format + ".npz"),
                   scipy_archive(format, form,
                                 {{"shape", integers_image({3, 4}, form)},
                                  {lines, integers_image(of_lines, form)},
                                  {across, integers_image(indices, form)},
                                  {"data", values_image(values, "3,", form)}}));
        check_reads(dir / (format + ".npz"), 3, 4, wanted, rng);
      };
      write("csr", "indptr", {0, 2, 2, 3}, "indices", {3, 1, 0}, {1, 7, 5});
      write("csc", "indptr", {0, 1, 2, 2, 3}, "indices", {2, 0, 0}, {5, 7, 1});
      write("coo", "row", {2, 0, 0}, "col", {0, 3, 1}, {5, 1, 7});
      write("coo", "row", {0, 0, 2}, "col", {1, 3, 0}, {7, 1, 5});
    }
  }
}

TEST_CASE("npz: half precision is read as f32") {
  const TempDir dir;
  for (const std::string order : {"<", ">"}) {
    const std::string halves = number(0x3C00, 2) + number(0xC100, 2);  // 1, -2.5
    write_text(
        dir / "h.npz",
        scipy_archive(
            "csr", {},
            {{"shape", npy_integers({1, 3})},
             {"indptr", npy_integers({0, 2})},
             {"indices", npy_integers({0, 2})},
             {"data", npy_image(order + "f2", "2,", order == "<" ? halves : turned(halves, 2))}}));
    const Matrix m = Matrix::open(dir / "h.npz");
    CHECK(m.value_type() == ValueType::f32);
    CHECK(m.read<float>({{0, 1}, {0, 3}}) == std::vector<float>{1, 0, -2.5F});
  }
}

TEST_CASE("npz: a value of a block or diagonal that does not fit names its cell") {
  const TempDir dir;
  for (const ArrayForm& form : {ArrayForm{}, ArrayForm{false, true}}) {
    BlockMatrix blocks = kBlocks;
    blocks.data[7] = -3;  // second block of the file, second cell of its first row
    write_text(dir / "b.npz", blocks.image(form));
    DiagonalMatrix diagonals = kDiagonals;
    diagonals.data[2] = -3;
    write_text(dir / "d.npz", diagonals.image(form));
    for (const auto& [name, cell] : {std::pair{"b.npz", "(0, 1)"}, std::pair{"d.npz", "(1, 2)"}}) {
      const Matrix m = Matrix::open(dir / name);
      const Region all{{0, m.rows()}, {0, m.cols()}};
      for (const Error& error :
           {required_error(error_of([&] { m.read<std::uint8_t>(all); })),
            required_error(error_of([&] { m.read_csr<std::uint8_t>(all); }))}) {
        CHECK(error.code() == Errc::type_mismatch);
        CHECK(error.detail() == std::string("-3 in cell ") + cell + " does not fit u8");
        CHECK(!error.offset());  // the file is sound
      }
    }
  }
}
