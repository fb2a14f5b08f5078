// Lists of rows and cells (dapple/gather.h), against the cells that a read gives; and the memory of
// where rows are (lib/object/row_access.h).
#include "dapple/gather.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/object/row_access.h"
#include "tests/check.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Image;
using test::Rng;
using test::TempDir;

namespace {

std::vector<std::uint64_t> random_rows(Rng& rng, std::uint64_t rows) {
  std::vector<std::uint64_t> list(rng.below(200));
  for (auto& row : list) row = rng.below(rows);
  return list;
}

/// All gathers of one matrix equal what its cells say.
void check_all(Rng& rng, const Matrix& m, unsigned threads) {
  const auto rows = random_rows(rng, m.rows());
  const Range cols = rng.range(m.cols());
  const GatherOptions options{cols, Absent::zero, threads};
  const std::size_t width = cols.size(), stride = width + rng.below(3);
  const auto all = m.read<double>({{0, m.rows()}, {0, m.cols()}}, {Absent::zero, 1});
  const auto cell = [&](std::uint64_t row, std::uint64_t col) { return all[row * m.cols() + col]; };

  std::vector<double> dense(rows.size() * std::max<std::size_t>(stride, 1), -7);
  gather_rows<double>(m, rows, dense, stride, options);
  Csr<float> csr;
  gather_csr(m, rows, csr, options);
  REQUIRE(csr.row_ptr.size() == rows.size() + 1);
  REQUIRE(csr.row_ptr[0] == 0);
  REQUIRE(csr.row_ptr[rows.size()] == csr.values.size());
  REQUIRE(csr.values.size() == csr.col_idx.size());
  Csr<float, std::uint32_t> narrow;
  gather_csr(m, rows, narrow, options);
  REQUIRE(test::list(narrow.row_ptr) == test::list(csr.row_ptr));
  REQUIRE(std::equal(narrow.col_idx.begin(), narrow.col_idx.end(), csr.col_idx.begin(),
                     csr.col_idx.end()));
  REQUIRE(test::list(narrow.values) == test::list(csr.values));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::uint64_t at = csr.row_ptr[k];
    for (std::size_t c = 0; c < width; ++c) {
      const double wanted = cell(rows[k], cols.begin + c);
      REQUIRE(dense[k * stride + c] == wanted);
      if (wanted == 0) continue;
      REQUIRE(at < csr.row_ptr[k + 1]);
      REQUIRE(csr.col_idx[at] == c);
      REQUIRE(csr.values[at++] == static_cast<float>(wanted));
    }
    REQUIRE(at == csr.row_ptr[k + 1]);
    for (std::size_t c = width; c < stride && width > 0; ++c) REQUIRE(dense[k * stride + c] == -7);
  }

  std::vector<CellPos> cells(rng.below(500));
  for (auto& c : cells) c = {rng.below(m.rows()), rng.below(m.cols())};
  std::vector<std::int64_t> values(cells.size() + 1, -7);
  gather_cells<std::int64_t>(m, cells, values, options);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    REQUIRE(static_cast<double>(values[k]) == cell(cells[k].row, cells[k].col));
  }
  REQUIRE(values.back() == -7);
}

}  // namespace

TEST_CASE("gather: rows and cells of any partition, kind and type are those of a read") {
  Rng rng(31);
  const TempDir folder;
  for (int round = 0; round < 4; ++round) {
    for (const test::Partition& partition : test::partitions(rng, 24)) {
      CAPTURE(partition.name);
      const Matrix m = Matrix::open(
          folder.write("m.dbdf", test::random_matrix(rng, partition, ValueType::i16).bytes()));
      for (const unsigned threads : {1U, 3U}) check_all(rng, m, threads);
    }
  }
}

TEST_CASE("gather: absent cells are NaN where a read gives NaN, and no integers") {
  Rng rng(35);
  const TempDir folder;
  std::vector<Matrix> matrices = {
      Matrix::open(folder.write("empty.dbdf", Image::matrix(2, 2, ValueType::f64).bytes()))};
  for (const test::Partition& partition : test::partitions(rng, 24)) {
    const std::string name = std::to_string(matrices.size()) + ".dbdf";
    matrices.push_back(Matrix::open(
        folder.write(name, test::random_matrix(rng, partition, ValueType::f32).bytes())));
  }
  for (const Matrix& m : matrices) {
    const Range cols = rng.range(m.cols());
    const auto rows = random_rows(rng, m.rows());
    const auto all = m.read<double>({{0, m.rows()}, cols}, {Absent::nan, 1});
    std::vector<double> gathered(rows.size() * cols.size(), -7);
    gather_rows<double>(m, rows, gathered, 0, {cols, Absent::nan});
    bool gaps = false;
    for (std::size_t k = 0; k < gathered.size(); ++k) {
      const double wanted = all[rows[k / cols.size()] * cols.size() + k % cols.size()];
      gaps |= std::isnan(wanted);
      REQUIRE((gathered[k] == wanted || (std::isnan(gathered[k]) && std::isnan(wanted))));
    }
    if (!gaps) continue;
    std::vector<std::int64_t> integers(gathered.size());
    const auto error = error_of([&] {
      gather_rows<std::int64_t>(m, rows, integers, 0, {cols, Absent::nan});
    });
    CHECK(test::required_error(error).code() == Errc::type_mismatch);
  }
}

TEST_CASE("gather: progress is reported, and what it throws ends the work") {
  Rng rng(36);
  const TempDir folder;
  for (const test::Partition& partition : {test::regular(600, 40, {7, 5}), test::spiral(40)}) {
    const Matrix m = Matrix::open(
        folder.write("m.dbdf", test::random_matrix(rng, partition, ValueType::i16).bytes()));
    std::vector<std::uint64_t> rows(2000);
    for (auto& row : rows) row = rng.below(m.rows());
    std::vector<CellPos> cells;
    for (const std::uint64_t row : rows) cells.push_back({row, rng.below(m.cols())});
    std::vector<double> out(rows.size() * m.cols());
    Csr<double> csr;
    for (const unsigned threads : {1U, 3U}) {
      std::uint64_t calls = 0, last = 0;
      bool fails = false;
      GatherOptions options;
      options.absent = Absent::zero;
      options.threads = threads;
      options.progress = [&](std::uint64_t done, std::uint64_t total) {
        CHECK(total == rows.size());
        CHECK(done >= last);
        CHECK(done < total);
        last = done;
        if (fails && ++calls > 2) throw std::runtime_error("enough");
      };
      const std::vector<std::function<void()>> gathers = {
          [&] { gather_rows<double>(m, rows, out, 0, options); },
          [&] { gather_csr(m, rows, csr, options); },
          [&] { gather_cells<double>(m, cells, out, options); }};
      for (const auto& gather : gathers) {
        fails = false;
        last = 0;
        gather();
        if (threads > 1) continue;  // the one that reports may have nothing left to do
        CHECK(last > 0);
        fails = true;
        calls = last = 0;
        CHECK_THROWS_AS(gather(), std::runtime_error);
        CHECK(calls == 3);
      }
    }
  }
}

TEST_CASE("gather: regular tilings of dense and CSR tiles, in files of every format") {
  Rng rng(32);
  const TempDir folder;
  for (const TileShape tile : {TileShape{7, 5}, TileShape{64, 33}, TileShape{100, 90}}) {
    for (const KindChoice kind : {KindChoice::csr, KindChoice::dense, KindChoice::automatic}) {
      WriteOptions options;
      options.tile = tile;
      options.kind = kind;
      options.overwrite = true;
      auto writer = test::writer<std::int32_t>(folder / "m.dbdf", 100, 90, options);
      for (std::uint64_t r = 0; r < 100; r += tile.rows) {
        for (std::uint64_t c = 0; c < 90; c += tile.cols) {
          const TileShape shape{
              static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.rows, 100 - r)),
              static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.cols, 90 - c))};
          std::vector<Triplet<std::int32_t>> entries;
          const auto filled = static_cast<unsigned>(rng.below(100));
          for (std::uint32_t y = 0; y < shape.rows; ++y) {
            for (std::uint32_t x = 0; x < shape.cols; ++x) {
              if (rng.chance(filled)) {
                entries.push_back({y, x, static_cast<std::int32_t>(rng.below(2000))});
              }
            }
          }
          writer.put<std::int32_t>({r, c}, shape, entries);
        }
      }
      writer.finish();
      const Matrix m = Matrix::open(folder / "m.dbdf");
      for (int k = 0; k < 6; ++k) check_all(rng, m, k % 2 == 0 ? 1 : 2);
      for (const char* name : {"m.mtx", "m.npy", "m.csv"}) {
        convert(open(folder / "m.dbdf"), {}, folder / name, {});
        check_all(rng, Matrix::open(folder / name), 2);
        std::filesystem::remove(folder / name);
      }
    }
  }
}

TEST_CASE("gather: long lists of rows of tiles that need a closer look") {
  Rng rng(34);
  const TempDir folder;
  // Stored zeros, and rows that are not sorted, in some of 4 x 3 tiles.
  for (const bool zeros : {false, true}) {
    for (const bool unsorted : {false, true}) {
      Image image = Image::matrix(40, 30, ValueType::u16, 2);
      for (std::uint64_t r = 0; r < 40; r += 10) {
        for (std::uint64_t c = 0; c < 30; c += 10) {
          std::vector<std::vector<std::pair<std::uint32_t, std::uint8_t>>> rows(10);
          for (auto& row : rows) {
            for (std::uint32_t k = 0; k < 10; k += 3) {
              const bool zero = zeros && r == 20 && c == 10 && rng.chance(30);
              row.emplace_back(k, static_cast<std::uint8_t>(zero ? 0 : 1 + rng.below(200)));
            }
            if (unsorted && r == 10 && c == 20) std::swap(row[1], row[3]);
          }
          image.csr<std::uint8_t>({r, c}, 10, rows);
        }
      }
      const Matrix m = Matrix::open(folder.write("m.dbdf", image.bytes()));
      for (int round = 0; round < 6; ++round) check_all(rng, m, round % 2 == 0 ? 1 : 3);
    }
  }
}

TEST_CASE("gather: the caller's arrays are used again") {
  const TempDir folder;
  Image image = Image::matrix(3, 4, ValueType::f32, 2);
  image.csr<std::uint8_t>({0, 0}, 4, {{{1, 7}, {3, 0}}, {}, {{0, 9}, {2, 4}}});
  const Matrix m = Matrix::open(folder.write("m.dbdf", image.bytes()));
  Csr<float> batch;
  const std::vector<std::uint64_t> first{2, 0, 2, 2, 1};
  gather_csr(m, first, batch);
  CHECK(test::list(batch.row_ptr) == std::vector<std::uint64_t>{0, 2, 3, 5, 7, 7});
  CHECK(test::list(batch.col_idx) == std::vector<std::uint64_t>{0, 2, 1, 0, 2, 0, 2});
  CHECK(test::list(batch.values) == std::vector<float>{9, 4, 7, 9, 4, 9, 4});
  const float* const values = batch.values.data();
  const std::vector<std::uint64_t> second{0, 2};
  gather_csr(m, second, batch);
  CHECK(batch.values.data() == values);
  CHECK(test::list(batch.values) == std::vector<float>{7, 9, 4});
  gather_csr(m, {}, batch);
  CHECK(test::list(batch.row_ptr) == std::vector<std::uint64_t>{0});
}

TEST_CASE("gather: room for rows of like length is made once") {
  // The first rows are a little shorter than those that they let expect.
  constexpr std::uint32_t kRows = 1000, kCols = 200, kShort = 500, kFound = 512;
  const auto length_of = [](std::uint64_t row) { return row < kShort ? 100U : 103U; };
  const TempDir dir;
  auto writer = MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::f32,
                                     {.tile = TileShape{kRows, kCols}, .kind = KindChoice::csr});
  std::vector<float> cells(std::size_t{kRows} * kCols);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (std::uint32_t col = 0; col < length_of(row); ++col) cells[row * kCols + col] = 1.5F;
  }
  writer.put<float>({0, 0}, {cells.data(), kRows, kCols});
  writer.finish();
  const auto m = Matrix::open(dir / "m.dbdf");
  std::vector<std::uint64_t> rows;
  for (std::uint64_t k = 0; k < 8 * kFound; ++k)
    rows.push_back(k % kShort + (k < kFound ? 0 : kShort));
  Csr<float, std::uint32_t> made;
  gather_csr(m, rows, made, {.threads = 1});
  CHECK(made.values.size() == std::size_t{kFound} * (length_of(0) + 7 * length_of(kShort)));
  // Made again for the last rows, the arrays would have room for just these.
  CHECK(made.values.capacity() > made.values.size());
  CHECK(made.values.capacity() < made.values.size() / 8 * 9);
  CHECK(made.col_idx.capacity() == made.values.capacity());
}

TEST_CASE("gather: what cannot be done says why") {
  const TempDir folder;
  Image image = Image::matrix(3, 4, ValueType::f64, 2);
  image.csr<double>({0, 0}, 4, {{{1, 0.5}}, {}, {{0, 9}, {2, 4}}});
  const Matrix m = Matrix::open(folder.write("m.dbdf", image.bytes()));
  const auto error = [&](const auto& f) { return test::required_error(error_of(f)); };
  std::vector<std::uint64_t> rows{0, 3};
  std::vector<double> out(8);
  Csr<double> csr;
  for (const auto& f : std::vector<std::function<void()>>{
           [&] { gather_rows<double>(m, rows, out); }, [&] { gather_csr(m, rows, csr); }}) {
    CHECK(error(f).code() == Errc::out_of_range);
    CHECK(error(f).detail() == "row 3, number 1 of the list, is outside the 3 rows");
  }
  const std::vector<CellPos> cells{{2, 3}, {2, 4}};
  CHECK(error([&] { gather_cells<double>(m, cells, out); }).detail() ==
        "column 4, number 1 of the list, is outside the 4 columns");
  rows = {0, 2, 1};
  const auto small = error([&] { gather_rows<double>(m, rows, out); });
  CHECK(small.code() == Errc::invalid_argument);
  CHECK(small.detail() == "the output has room for 8 values, 12 are needed");
  CHECK(error([&] { gather_rows<double>(m, rows, out, ~std::size_t{0} / 2); }).code() ==
        Errc::invalid_argument);
  CHECK(error([&] { gather_rows<double>(m, rows, out, 3); }).code() == Errc::invalid_argument);
  const auto overlap = error([&] {
    gather_rows<std::uint64_t>(m, std::span(rows).first(1), std::span(rows), 0, {Range{0, 1}});
  });
  CHECK(overlap.code() == Errc::invalid_argument);
  CHECK(overlap.detail() == "the output overlaps the list of what to gather");
  Csr<std::uint64_t> sparse;
  sparse.values.reset(1);
  sparse.values[0] = 1;
  const std::span<const std::uint64_t> own(sparse.values.data(), 1);
  CHECK(error([&] { gather_csr(m, own, sparse); }).detail() == overlap.detail());
  CHECK(error([&] { gather_columns(m, own, sparse); }).detail() == overlap.detail());
  // Only what is asked for has to fit.
  std::vector<int> integers(8);
  CHECK(error([&] { gather_rows<int>(m, std::vector<std::uint64_t>{0}, integers); }).code() ==
        Errc::type_mismatch);
  gather_rows<int>(m, std::vector<std::uint64_t>{2}, integers);
  CHECK(integers[2] == 4);
  gather_rows<int>(m, std::vector<std::uint64_t>{0}, integers, 0, {Range{2, 4}});
  CHECK(integers[0] == 0);
}

TEST_CASE("gather: workers that find blocks for the first time do not wait for those after them") {
  Rng rng(33);
  const TempDir folder;
  WriteOptions options;
  options.tile = TileShape{16, 16};
  options.kind = KindChoice::csr;
  auto writer = test::writer<std::uint8_t>(folder / "m.dbdf", 320, 320, options);
  for (std::uint64_t r = 0; r < 320; r += 16) {
    for (std::uint64_t c = 0; c < 320; c += 16) {
      std::vector<Triplet<std::uint8_t>> entries;
      for (std::uint32_t k = 0; k < 64; ++k)
        entries.push_back({k / 4, k % 4 * 3, std::uint8_t(k + 1)});
      writer.put<std::uint8_t>({r, c}, {16, 16}, entries);
    }
  }
  writer.finish();
  for (int round = 0; round < 40; ++round) {
    const Matrix m = Matrix::open(folder / "m.dbdf");
    std::vector<std::uint64_t> rows(600);
    for (auto& row : rows) row = rng.below(320);
    Csr<float> one, several;
    gather_csr(m, rows, several, {.threads = 4});
    gather_csr(m, rows, one);
    REQUIRE(several.row_ptr == one.row_ptr);
    REQUIRE(several.col_idx == one.col_idx);
    REQUIRE(several.values == one.values);
  }
}

TEST_CASE("gather: a row count that lies is corrupt, not a wild read") {
  const TempDir folder;
  Image image = Image::matrix(20, 4, ValueType::u8, 2);
  std::vector<std::vector<std::pair<std::uint32_t, std::uint8_t>>> rows(20, {{1, 1}, {3, 2}});
  image.csr<std::uint8_t>({0, 0}, 4, rows);
  image.patch(19 + 16 + 18 + 5 * (4 + 10), std::uint32_t{0xffffffff});
  const Matrix m = Matrix::open(folder.write("m.dbdf", image.bytes()));
  Csr<float> batch;
  for (int round = 0; round < 2; ++round) {
    CHECK(test::required_error(error_of([&] {
            gather_csr(m, std::vector<std::uint64_t>{7}, batch);
          })).code() == Errc::corrupt);
  }
}

TEST_CASE("row access: what is kept stays within its budget, and everything is still found") {
  const TempDir folder;
  WriteOptions options;
  options.tile = TileShape{100, 10};
  options.kind = KindChoice::csr;
  auto writer = test::writer<std::uint8_t>(folder / "m.dbdf", 1000, 100, options);
  for (std::uint64_t r = 0; r < 1000; r += 100) {
    for (std::uint64_t c = 0; c < 100; c += 10) {
      std::vector<Triplet<std::uint8_t>> entries;
      for (std::uint32_t k = 0; k < 100; ++k) entries.push_back({k, k % 10, std::uint8_t(k + 1)});
      writer.put<std::uint8_t>({r, c}, {100, 10}, entries);
    }
  }
  writer.finish();
  const auto store = Matrix::open(folder / "m.dbdf").share();
  detail::RowAccess access(*store, 8 << 10);
  Rng rng(5);
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t number = rng.below(100), row = rng.below(100);
    access.make({&number, 1});
    const detail::RowAccess::Reader reader(access);
    const detail::IndexedRows* const rows = reader.find(number);
    REQUIRE(rows != nullptr);
    REQUIRE(rows->way == detail::BlockRows::Way::csr);
    const detail::RowCursor cursor = rows->directory.cursor(row);
    REQUIRE(cursor.row == row);
    REQUIRE(cursor.entries == cursor.row);  // one a row
    REQUIRE(access.bytes() <= 8 << 10);
  }
}
