#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/partition.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

/// 4 x 4 cells of f64 of which only rows 0 and 1 of columns 0 and 1, and cell (3, 3), are in
/// blocks.
Matrix holey(const TempDir& dir, ValueType type) {
  Image image = Image::matrix(4, 4, type);
  image.dense<std::uint8_t>({0, 0}, 2, 2, {1, 2, 3, 4});
  image.dense<std::uint8_t>({3, 3}, 1, 1, {5});
  return Matrix::open(dir.write("m.dbdf", image.bytes()));
}

constexpr ReadOptions kNan{.absent = Absent::nan};

}  // namespace

TEST_CASE("absent: cells that no block covers are NaN where that is asked for") {
  const TempDir dir;
  const Matrix m = holey(dir, ValueType::f64);
  const auto cells = m.read<double>({{0, 4}, {0, 4}}, kNan);
  const auto floats = m.read<float>({{0, 4}, {0, 4}}, kNan);
  for (std::size_t i = 0; i < 16; ++i) {
    CAPTURE(i);
    constexpr double kStored[16] = {1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
    const double stored = kStored[i];
    CHECK(std::isnan(cells[i]) == (stored == 0));
    CHECK(std::isnan(floats[i]) == (stored == 0));
    if (stored != 0) CHECK(cells[i] == stored);
  }
  CHECK(m.read<double>({{0, 2}, {0, 2}}, kNan) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("absent: converting keeps the NaNs, and integers have none") {
  const TempDir dir;
  const Matrix m = holey(dir, ValueType::f64);
  ConvertOptions options;
  options.absent = Absent::nan;
  convert(m, {}, dir / "out.dbdf", options);
  const auto cells = Matrix::open(dir / "out.dbdf").read<double>({{0, 4}, {0, 4}});
  CHECK(std::isnan(cells[2]));
  CHECK(std::isnan(cells[14]));
  CHECK(cells[15] == 5);
  convert(m, {}, dir / "out.npy", options);
  CHECK(std::isnan(Matrix::open(dir / "out.npy").read<double>({{3, 4}, {0, 1}})[0]));

  CHECK(required_error(error_of([&] {
          m.read<int>({{0, 4}, {0, 4}}, kNan);
        })).code() == Errc::type_mismatch);
  CHECK(m.read<int>({{0, 2}, {0, 2}}, kNan) == std::vector<int>{1, 2, 3, 4});
  CHECK(required_error(error_of([&] {
          m.read_csr<double>({{0, 4}, {0, 4}}, kNan);
        })).code() == Errc::unsupported);
  CHECK(required_error(error_of([&] {
          count_where(m, Condition::nan(), {.absent = Absent::nan});
        })).code() == Errc::unsupported);
}

namespace {

/// Of these cells, by hand; the sums of small integers are exact in any order.
void check_stats(const Stats& stats, const std::vector<double>& cells) {
  Stats want;
  want.count = cells.size();
  for (const double cell : cells) {
    if (std::isnan(cell)) {
      ++want.nans;
      continue;
    }
    want.nnz += cell != 0;
    want.sum += cell;
    want.sum_squares += cell * cell;
    want.min = std::isnan(want.min) ? cell : std::min(want.min, cell);
    want.max = std::isnan(want.max) ? cell : std::max(want.max, cell);
  }
  CHECK(stats.count == want.count);
  CHECK(stats.nnz == want.nnz);
  CHECK(stats.nans == want.nans);
  CHECK(stats.sum == want.sum);
  CHECK(stats.sum_squares == want.sum_squares);
  CHECK((stats.min == want.min || (std::isnan(stats.min) && std::isnan(want.min))));
  CHECK((stats.max == want.max || (std::isnan(stats.max) && std::isnan(want.max))));
}

}  // namespace

TEST_CASE("absent: statistics count such cells as NaN, whatever the type") {
  Rng rng(77);
  const TempDir dir;
  for (const unsigned gaps : {0U, 30U, 100U}) {
    for (const ValueType type : {ValueType::i32, ValueType::f32}) {
      const Partition partition = guillotine(rng, 20, 30, gaps);
      Image image = Image::matrix(20, 30, type);
      for (const Region& block : partition.blocks) {
        const auto rows = static_cast<std::uint32_t>(block.rows.size());
        const auto cols = static_cast<std::uint32_t>(block.cols.size());
        const BlockPos pos{block.rows.begin, block.cols.begin};
        if (rng.chance(20)) {
          image.empty(pos, rows, cols);
        } else {
          std::vector<std::uint8_t> cells(std::size_t{rows} * cols);
          for (std::uint8_t& cell : cells) cell = static_cast<std::uint8_t>(rng.below(9));
          image.dense<std::uint8_t>(pos, rows, cols, cells);
        }
      }
      const Matrix m = Matrix::open(dir.write("m.dbdf", image.bytes()));
      std::vector<double> all = m.read<double>({{0, 20}, {0, 30}}, {Absent::zero, 1});
      std::vector<bool> covered(all.size());
      for (const Region& block : partition.blocks) {
        for (std::uint64_t r = block.rows.begin; r < block.rows.end; ++r) {
          for (std::uint64_t c = block.cols.begin; c < block.cols.end; ++c) {
            covered[r * 30 + c] = true;
          }
        }
      }
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!covered[i]) all[i] = std::numeric_limits<double>::quiet_NaN();
      }
      for (const unsigned threads : {1U, 3U}) {
        const ReadOptions nan{.absent = Absent::nan, .threads = threads};
        check_stats(matrix_stats(m, nan), all);
        const auto rows = row_stats(m, nan), cols = column_stats(m, nan);
        for (std::size_t r = 0; r < 20; ++r) {
          check_stats(rows[r], {all.begin() + static_cast<std::ptrdiff_t>(r * 30),
                                all.begin() + static_cast<std::ptrdiff_t>((r + 1) * 30)});
        }
        for (std::size_t c = 0; c < 30; ++c) {
          std::vector<double> column;
          for (std::size_t r = 0; r < 20; ++r) column.push_back(all[r * 30 + c]);
          check_stats(cols[c], column);
        }
      }
    }
  }
}

TEST_CASE("absent: statistics of columns count such cells as missing") {
  const TempDir dir;
  std::vector<Column> columns = {{"n", ValueType::i8}};
  columns[0].meaning.missing = 0x80;
  auto writer = FrameWriter::create(dir / "a.dbdf", 9, columns, {.tile = TileShape{3, 1}});
  const std::vector<std::int8_t> cells = {1, -128, 2, 5, 5, 5, 0, -128, 4};
  for (std::size_t row = 0; row < 9; row += 3) {
    writer.put<std::int8_t>({row, 0}, {cells.data() + row, 3, 1});
  }
  writer.finish();
  auto bytes = read_bytes(dir / "a.dbdf");
  const Frame whole = Frame::open(dir / "a.dbdf");
  const std::uint64_t at = whole.block({3, 0}).info().offset;
  bytes[at + 8] = std::byte{99};  // no kind of block
  dir.write("b.dbdf", bytes);
  repair(dir / "b.dbdf", dir / "c.dbdf");
  const Frame frame = Frame::open(dir / "c.dbdf");
  const Stats stats = column_stats(frame, {.absent = Absent::nan})[0];
  CHECK(stats.count == 9);
  CHECK(stats.nans == 5);
  CHECK(stats.nnz == 3);
  CHECK(stats.min == 0);
  CHECK(stats.max == 4);
  CHECK(stats.mean() == 7.0 / 4);
  CHECK(column_stats(frame, {.absent = Absent::zero})[0].nans == 2);
}
