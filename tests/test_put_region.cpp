#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/write/open_tiles.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/support.h"

using namespace dapple;
using test::Rng;
using test::TempDir;

namespace {

constexpr std::uint64_t kRows = 23, kCols = 31;
constexpr TileShape kTile{5, 8};

WriteOptions tiled() {
  WriteOptions options;
  options.tile = kTile;
  options.sync = false;
  options.overwrite = true;
  return options;
}

std::vector<double> some_cells(Rng& rng) {
  std::vector<double> cells(kRows * kCols);
  for (double& cell : cells) {
    if (rng.chance(40)) cell = static_cast<double>(rng.between(1, 1000));
  }
  return cells;
}

/// Where a side is cut: at `step`, `2 * step`, ...
std::vector<Range> cuts(std::uint64_t size, std::uint64_t step) {
  std::vector<Range> out;
  for (std::uint64_t at = 0; at < size; at += step) out.push_back({at, std::min(size, at + step)});
  return out;
}

std::vector<double> all_of(const Matrix& m) { return m.read<double>({{0, kRows}, {0, kCols}}); }

/// Three arrays with the entries of a region, columns from right to left, positions from `base`.
template <class Col, class Ptr>
struct Sparse {
  std::vector<Ptr> row_ptr;
  std::vector<Col> col_idx;
  std::vector<double> values;
  std::uint64_t cols;

  Sparse(const std::vector<double>& cells, const Region& r, Ptr base)
      : row_ptr{base}, cols(r.cols.size()) {
    for (std::uint64_t row = r.rows.begin; row < r.rows.end; ++row) {
      for (std::uint64_t col = r.cols.end; col-- > r.cols.begin;) {
        if (cells[row * kCols + col] == 0) continue;
        col_idx.push_back(static_cast<Col>(col - r.cols.begin));
        values.push_back(cells[row * kCols + col]);
      }
      row_ptr.push_back(static_cast<Ptr>(base + values.size()));
    }
  }
  CsrRef<double, Col, Ptr> ref() const {
    return {row_ptr.size() - 1, cols, row_ptr, col_idx, values};
  }
};

/// Writes regions of `rows` x `cols` cells with `put(writer, region)`.
template <class Put>
Matrix written(const TempDir& dir, std::uint64_t rows, std::uint64_t cols, const Put& put) {
  auto w = MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::f64, tiled());
  for (const Range& r : cuts(kRows, rows)) {
    for (const Range& c : cuts(kCols, cols)) put(w, Region{r, c});
  }
  w.finish();
  CHECK(test::difference(dir / "m.dbdf") == "");
  return Matrix::open(dir / "m.dbdf");
}

}  // namespace

TEST_CASE("put_region: regions of any size are cut along the tiling, dense and sparse") {
  const TempDir dir;
  Rng rng(5);
  const auto cells = some_cells(rng);
  for (const auto& extents :
       {std::pair{kRows, kCols}, {10, kCols}, {7, kCols}, {1, kCols}, {5, 16}, {3, 7}, {2, 1}}) {
    const auto rows = extents.first, cols = extents.second;
    CAPTURE(rows);
    CAPTURE(cols);
    const bool on_grid = cols == kCols || (rows % kTile.rows == 0 && cols % kTile.cols == 0);
    const auto check = [&](const Matrix& m) {
      CHECK(all_of(m) == cells);
      CHECK(m.grid().has_value() == on_grid);
      for (const BlockInfo& b : m.blocks()) {  // no block is in two tiles
        CHECK(b.pos.rx / kTile.rows == (b.pos.rx + b.rows - 1) / kTile.rows);
        CHECK(b.pos.cx / kTile.cols == (b.pos.cx + b.cols - 1) / kTile.cols);
      }
    };
    for (const unsigned threads : {1u, 3u}) {
      check(written(dir, rows, cols, [&](auto& w, const Region& r) {
        const double* const first = &cells[r.rows.begin * kCols + r.cols.begin];
        w.template put_region<double>({r.rows.begin, r.cols.begin},
                                      {first, r.rows.size(), r.cols.size(), kCols}, threads);
      }));
      check(written(dir, rows, cols, [&](auto& w, const Region& r) {
        const Sparse<std::uint32_t, std::uint32_t> sparse(cells, r, 7);
        w.put_region({r.rows.begin, r.cols.begin}, sparse.ref(), threads);
      }));
    }
    check(written(dir, rows, cols, [&](auto& w, const Region& r) {
      const Sparse<std::uint64_t, std::uint64_t> sparse(cells, r, 0);
      w.put_region({r.rows.begin, r.cols.begin}, sparse.ref());
    }));
    check(written(dir, rows, cols, [&](auto& w, const Region& r) {
      const Sparse<std::uint64_t, std::uint32_t> sparse(cells, r, 1);
      w.put_region({r.rows.begin, r.cols.begin}, sparse.ref());
    }));
  }
}

TEST_CASE("put_region: strips in any order, dense and sparse, of several threads, become tiles") {
  const TempDir dir;
  Rng rng(11);
  const auto cells = some_cells(rng);
  auto strips = cuts(kRows, 3);
  std::shuffle(strips.begin(), strips.end(), std::mt19937(3));
  auto w = MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::f64, tiled());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < strips.size(); i += 3) {
        const Sparse<std::uint32_t, std::uint64_t> sparse(cells, {strips[i], {0, kCols}}, 2);
        w.put_region({strips[i].begin, 0}, sparse.ref());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  w.finish();
  const Matrix m = Matrix::open(dir / "m.dbdf");
  CHECK(m.grid().has_value());
  CHECK(all_of(m) == cells);

  // A tile of which some rows are dense and others sparse is two blocks; so is one without its end.
  auto mixed = MatrixWriter::create(dir / "mixed.dbdf", kRows, kCols, ValueType::f64, tiled());
  mixed.put_region<double>({0, 0}, {cells.data(), 3, kCols});
  const Sparse<std::uint32_t, std::uint32_t> rest(cells, {{3, 7}, {0, kCols}}, 0);
  mixed.put_region({3, 0}, rest.ref());
  mixed.finish();
  const Matrix some = Matrix::open(dir / "mixed.dbdf");
  CHECK_FALSE(some.grid().has_value());
  CHECK(test::difference(dir / "mixed.dbdf") == "");
  std::vector<double> expected(kRows * kCols);
  std::copy_n(cells.begin(), 7 * kCols, expected.begin());
  CHECK(all_of(some) == expected);
}

TEST_CASE("put_region: rows that wait are checked at once, and rows twice in the end") {
  const TempDir dir;
  const std::vector<int> large(20, 300), small(20, 3);
  auto w = MatrixWriter::create(dir / "m.dbdf", 5, 10, ValueType::u8, tiled());
  CHECK(test::error_of([&] {
          w.put_region<int>({0, 0}, {large.data(), 2, 10});
        })->code() == Errc::type_mismatch);
  w.put_region<int>({0, 0}, {small.data(), 2, 10});
  const std::vector<std::uint64_t> ptr = {0, 2};
  const std::vector<std::uint32_t> twice = {4, 4};
  const std::vector<int> values = {1, 2};
  CHECK(test::error_of([&] {
          w.put_region({2, 0}, CsrRef<int>{1, 10, ptr, twice, values});
        })->code() == Errc::invalid_argument);
  w.put_region<int>({1, 0}, {small.data(), 2, 10});  // row 1 again
  w.put_region<int>({4, 0}, {small.data(), 1, 10});
  CHECK(test::error_of([&] { w.finish(); })->code() == Errc::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(dir / "m.dbdf"));
}

TEST_CASE("put_region: parts of tiles that take too much memory are handed out") {
  using detail::dbdf::TilePart;
  const std::vector<std::byte> row(100);
  const auto part = [&](std::uint64_t at) {
    return TilePart({at, 0}, detail::dbdf::DenseCells{row.data(), ValueType::u8, 1, 100, 100});
  };
  detail::dbdf::OpenTiles tiles(250);
  CHECK(tiles.add({0, 0}, 10, part(0)).empty());
  CHECK(tiles.add({10, 0}, 10, part(12)).empty());
  const auto all = tiles.add({0, 0}, 10, part(1));
  REQUIRE(all.size() == 2);
  CHECK(all[0].rows == 2);  // rows 0 and 1
  CHECK(all[1].pos.rx == 12);
  CHECK(tiles.take_all().empty());
  CHECK(tiles.add({0, 0}, 10, part(5)).empty());
}

TEST_CASE("put_region: cells of a type known at run time are taken from anywhere in memory") {
  const TempDir dir;
  std::vector<std::byte> memory(1 + kRows * kCols * 4);  // column by column, at odd addresses
  std::vector<double> cells(kRows * kCols);
  for (std::uint64_t r = 0; r < kRows; ++r) {
    for (std::uint64_t c = 0; c < kCols; ++c) {
      const auto value = static_cast<std::int32_t>(r * 100 + c) - 7;
      cells[r * kCols + c] = value;
      std::memcpy(&memory[1 + (c * kRows + r) * 4], &value, 4);
    }
  }
  const Matrix m = written(dir, 10, 24, [&](auto& w, const Region& r) {
    const auto from = std::span(memory).subspan(1 + (r.cols.begin * kRows + r.rows.begin) * 4);
    w.put_region(r, ValueType::i32, from, {4, kRows * 4});
  });
  CHECK(all_of(m) == cells);
}

TEST_CASE("put_region: rows that were read are put") {
  const TempDir dir;
  Rng rng(6);
  const auto cells = some_cells(rng);
  const Matrix from = written(dir, kRows, kCols, [&](auto& w, const Region&) {
    w.template put_region<double>({0, 0}, {cells.data(), kRows, kCols});
  });
  auto w = MatrixWriter::create(dir / "copy.dbdf", kRows, kCols, ValueType::f64, tiled());
  const auto left = from.read_csr<double, std::uint32_t>({{0, kRows}, {0, 9}});
  const auto right = from.read_csr<double>({{0, kRows}, {9, kCols}});
  w.put_region({0, 0}, CsrRef<double>::of(left, 9));
  w.put_region({0, 9}, CsrRef<double, std::uint64_t>::of(right, kCols - 9), 2);
  w.put_region({0, 0}, CsrRef<double>::of({}, 9));  // no rows
  w.finish();
  CHECK(all_of(Matrix::open(dir / "copy.dbdf")) == cells);
}

TEST_CASE("put_region: columns of several types of a frame are put as one rectangle") {
  const TempDir dir;
  auto w = FrameWriter::create(dir / "f.dbdf", 3,
                               {{"a", ValueType::u8}, {"b", ValueType::f64}, {"c", ValueType::i16}},
                               tiled());
  const std::vector<int> cells = {1, 2, 3, 4, 5, 6, 7, 8, -9};
  w.put_region<int>({0, 0}, {cells.data(), 3, 3});
  w.finish();
  std::vector<int> read(9);
  Frame::open(dir / "f.dbdf").read<int>({{0, 3}, {0, 3}}, read);
  CHECK(read == cells);
}

TEST_CASE("put_region: what does not fit is refused, and the writer goes on") {
  const TempDir dir;
  auto w = MatrixWriter::create(dir / "m.dbdf", 10, 10, ValueType::u8, tiled());
  const std::vector<int> cells(100, 3);
  const auto told = [](const auto& f) {
    return test::told(test::required_error(test::error_of(f)));
  };
  CHECK(told([&] {
          w.put_region<int>({5, 0}, {cells.data(), 6, 10});
        }) == "out_of_range: rows 5:11, columns 0:10 are not inside the 10 x 10 object");
  CHECK(told([&] {
          w.put_region<int>({~0ULL, 0}, {cells.data(), 6, 10});
        }) == "out_of_range: 6 x 10 cells do not fit after (18446744073709551615, 0)");
  const auto bytes = std::as_bytes(std::span(cells));
  CHECK(told([&] {
          w.put_region({{0, 10}, {0, 10}}, ValueType::i32, bytes.first(399));
        }) ==
        "invalid_argument: with these strides, 10 x 10 values of i32 are not all in 399 "
        "bytes");
  CHECK(told([&] {
          w.put_region({{0, 2}, {0, 2}}, ValueType::i32, bytes, {~std::size_t{0}, 4});
        }) == "invalid_argument: with these strides, 2 x 2 values of i32 are not all in 400 bytes");
  const std::vector<std::uint64_t> ptr = {4, 5, 6}, back = {5, 4, 6}, more = {0, 1, 3};
  const std::vector<std::uint32_t> cols = {0, 9}, far = {0, 10};
  const std::vector<int> values = {1, 2};
  const auto sparse = [&](const auto& p, const auto& c) {
    return told([&] { w.put_region({0, 0}, CsrRef<int>{2, 10, p, c, values}); });
  };
  CHECK(sparse(back, cols) ==
        "invalid_argument: row pointers must ascend by 2 in all, but row 0 goes from 5 to 4");
  CHECK(sparse(more, cols) ==
        "invalid_argument: row pointers must ascend by 2 in all, but row 1 goes from 1 to 3");
  CHECK(sparse(ptr, far) == "out_of_range: entry (1, 10) is outside the rows of 10 cells");
  CHECK(sparse(std::vector<std::uint64_t>{0, 2}, cols) ==
        "invalid_argument: 2 rows need one row pointer more, and as many columns as values, but "
        "there are 2 row pointers, 2 columns and 2 values");
  CHECK(told([&] {
          w.put_region({0, 0}, CsrRef<int>{0, 10, ptr, {}, {}});
        }).starts_with("invalid_argument: 0 rows need one row pointer more"));
  auto tall = MatrixWriter::create(dir / "tall.dbdf", ~0ULL, 1, ValueType::u8, tiled());
  CHECK(test::error_of([&] {
          tall.put_region({0, 0}, CsrRef<int>{~0ULL, 1, {}, {}, {}});
        })->code() == Errc::invalid_argument);
  w.put_region({0, 0}, CsrRef<int>{2, 10, ptr, cols, values});
  w.put_region<int>({2, 2}, {cells.data(), 0, 8});  // nothing
  w.finish();
  const Matrix m = Matrix::open(dir / "m.dbdf");
  CHECK(m.read<int>({{0, 3}, {8, 10}}) == std::vector<int>{0, 0, 0, 2, 0, 0});
  CHECK(m.read<int>({{0, 1}, {0, 2}}) == std::vector<int>{1, 0});
}

TEST_CASE("writer: a block that is no tile is refused, unless any block is wanted") {
  const TempDir dir;
  const std::vector<int> cells(100, 1);
  auto w = MatrixWriter::create(dir / "m.dbdf", 12, 20, ValueType::u8, tiled());
  const auto refused = [&](BlockPos pos, std::uint64_t rows, std::uint64_t cols) {
    const auto error = test::error_of([&] { w.put<int>(pos, {cells.data(), rows, cols}); });
    return error && error->code() == Errc::invalid_argument;
  };
  CHECK(refused({1, 0}, 5, 8));
  CHECK(refused({0, 1}, 5, 8));
  CHECK(refused({0, 0}, 4, 8));
  CHECK(refused({0, 0}, 5, 9));
  CHECK(refused({10, 16}, 1, 4));
  CHECK(refused({0, 0}, std::uint64_t{1} << 32, 1));
  CHECK(test::required_error(test::error_of([&] {
          w.put_empty({0, 0}, {10, 8});
        })).detail() ==
        "the block of 10 x 8 cells at (0, 0) is no tile of the tiling by 5 x 8; put_region cuts "
        "cells along it, and the option off_grid takes any block");
  w.put<int>({0, 0}, {cells.data(), 5, 8});
  w.put<int>({10, 16}, {cells.data(), 2, 4});  // tiles at the end are smaller
  w.finish();
  CHECK(Matrix::open(dir / "m.dbdf").grid().has_value());

  WriteOptions any = tiled();
  any.off_grid = true;
  auto free = MatrixWriter::create(dir / "any.dbdf", 12, 20, ValueType::u8, any);
  free.put<int>({1, 3}, {cells.data(), 7, 9});
  free.put_empty({0, 0}, {1, 20});
  free.finish();
  const Matrix m = Matrix::open(dir / "any.dbdf");
  CHECK(m.block({1, 3}).info().rows == 7);
}

TEST_CASE("blocks: those that touch a region are listed") {
  const TempDir dir;
  for (const bool regular : {true, false}) {
    auto w = test::writer<int>(dir / "m.dbdf", 12, 20, tiled());
    const std::vector<int> cells(240, 4);
    if (regular) {
      w.put_region<int>({0, 0}, {cells.data(), 12, 20});
    } else {
      for (const Region& r : {Region{{0, 7}, {0, 3}}, {{7, 12}, {0, 20}}, {{0, 7}, {3, 20}}}) {
        w.put<int>({r.rows.begin, r.cols.begin}, {cells.data(), r.rows.size(), r.cols.size()});
      }
    }
    w.finish();
    const Matrix m = Matrix::open(dir / "m.dbdf");
    for (const Region& region :
         {Region{{0, 12}, {0, 20}}, {{4, 6}, {2, 4}}, {{11, 12}, {0, 1}}, {{3, 3}, {0, 20}}}) {
      std::vector<BlockInfo> expected;
      for (const BlockInfo& b : m.blocks()) {
        if (!intersect(b.cells(), region).empty()) expected.push_back(b);
      }
      std::sort(expected.begin(), expected.end(),
                [](const BlockInfo& a, const BlockInfo& b) { return a.pos < b.pos; });
      CHECK(m.blocks(region) == expected);
    }
    CHECK(test::required_error(test::error_of([&] {
            m.blocks({{0, 13}, {0, 1}});
          })).code() == Errc::out_of_range);
  }
}
