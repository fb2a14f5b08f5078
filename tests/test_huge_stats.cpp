// Statistics of values whose squares, or sums, are beyond f64, by every path, against long double.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::TempDir;

namespace {

constexpr std::uint32_t kHugeRows = 90, kHugeCols = 70;
constexpr double kBeyond = std::numeric_limits<double>::infinity();

/// Small numbers and zeros, and in some columns a few that are huge, of both signs.
std::vector<double> some_huge_cells() {
  std::vector<double> cells(std::size_t{kHugeRows} * kHugeCols);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % 3 == 0) cells[i] = static_cast<double>(i % 11) - 4;
  }
  for (std::size_t row = 0; row < kHugeRows; row += 30) {
    const double sign = row % 60 == 0 ? 1 : -1;
    cells[row * kHugeCols + 5] = 1e308 * sign;
    cells[row * kHugeCols + 33] = 1e200 * sign;
    cells[row * kHugeCols + 40] = 1e150;  // whose squares do fit
  }
  return cells;
}

void require_stats_like(const Stats& got, std::span<const long double> cells) {
  const auto n = static_cast<long double>(cells.size());
  long double sum = 0, magnitude = 0, spread = 0;
  for (const long double v : cells) {
    sum += v;
    magnitude += std::fabs(v);
  }
  for (const long double v : cells) spread += (v - sum / n) * (v - sum / n);
  const auto variance = static_cast<double>(spread / n);
  CHECK(std::fabs(got.mean() - sum / n) <= magnitude / n * 1e-12L);
  CHECK(std::fabs(got.sum - sum) <= magnitude * 1e-12L);
  if (std::isinf(variance)) {
    CHECK(got.variance() == kBeyond);
  } else {
    CHECK(got.variance() == doctest::Approx(variance));
  }
}

/// Of these rows and columns.
void require_part_stats(const Stats& got, std::span<const double> cells, Range rows, Range cols) {
  CAPTURE(rows.begin);
  CAPTURE(cols.begin);
  std::vector<long double> part;
  for (std::uint64_t r = rows.begin; r < rows.end; ++r) {
    for (std::uint64_t c = cols.begin; c < cols.end; ++c) part.push_back(cells[r * kHugeCols + c]);
  }
  require_stats_like(got, part);
}

void require_all_stats(const Matrix& m, std::span<const double> cells, const ReadOptions& options) {
  const Range rows{0, kHugeRows}, cols{0, kHugeCols};
  require_part_stats(matrix_stats(m, options), cells, rows, cols);
  const auto by_row = row_stats(m, options), by_col = column_stats(m, options);
  for (std::uint64_t r = 0; r < kHugeRows; ++r)
    require_part_stats(by_row[r], cells, {r, r + 1}, cols);
  for (std::uint64_t c = 0; c < kHugeCols; ++c)
    require_part_stats(by_col[c], cells, rows, {c, c + 1});
  const TileShape tile = m.grid()->tile;
  const auto tile_rows = tile_row_stats(m, options), tile_cols = tile_column_stats(m, options);
  for (std::uint64_t i = 0; i < tile_rows.size(); ++i) {
    const std::uint64_t begin = i * tile.rows;
    require_part_stats(tile_rows[i], cells,
                       {begin, std::min<std::uint64_t>(begin + tile.rows, kHugeRows)}, cols);
  }
  for (std::uint64_t j = 0; j < tile_cols.size(); ++j) {
    const std::uint64_t begin = j * tile.cols;
    require_part_stats(tile_cols[j], cells, rows,
                       {begin, std::min<std::uint64_t>(begin + tile.cols, kHugeCols)});
  }
}

double variance_of(const TempDir& dir, std::vector<double> cells) {
  WriteOptions options;
  options.overwrite = true;
  auto writer = MatrixWriter::create(dir / "v.dbdf", cells.size(), 1, ValueType::f64, options);
  writer.put<double>({0, 0}, {cells.data(), static_cast<std::uint32_t>(cells.size()), 1});
  writer.finish();
  const Matrix m = Matrix::open(dir / "v.dbdf");
  const double variance = matrix_stats(m).variance();
  const double by_column = column_stats(m)[0].variance();
  CHECK((variance == by_column || (std::isnan(variance) && std::isnan(by_column))));
  return variance;
}

}  // namespace

TEST_CASE("huge statistics: sums that fit are right, and variances beyond f64 infinite") {
  const TempDir dir;
  const std::vector<double> cells = some_huge_cells();
  for (const KindChoice kind : {KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
    for (const bool plain : {false, true}) {  // with stored statistics, and without
      for (const TileShape tile : {TileShape{kHugeRows, kHugeCols}, TileShape{32, 20}}) {
        WriteOptions options;
        options.kind = kind;
        options.plain = plain;
        options.tile = tile;
        options.overwrite = true;
        auto writer =
            MatrixWriter::create(dir / "m.dbdf", kHugeRows, kHugeCols, ValueType::f64, options);
        for (std::uint32_t r = 0; r < kHugeRows; r += tile.rows) {
          for (std::uint32_t c = 0; c < kHugeCols; c += tile.cols) {
            writer.put<double>({r, c},
                               {&cells[r * kHugeCols + c], std::min(tile.rows, kHugeRows - r),
                                std::min(tile.cols, kHugeCols - c), kHugeCols});
          }
        }
        writer.finish();
        for (const unsigned threads : {1U, 4U}) {
          CAPTURE(static_cast<int>(kind));
          CAPTURE(plain);
          CAPTURE(tile.rows);
          CAPTURE(threads);
          require_all_stats(Matrix::open(dir / "m.dbdf"), cells, {Absent::error, threads});
        }
      }
    }
  }
}

TEST_CASE("huge statistics: only infinite cells make a variance NaN") {
  const TempDir dir;
  const double huge = std::numeric_limits<double>::max();
  CHECK(variance_of(dir, {1, 2, 1e308}) == kBeyond);
  CHECK(variance_of(dir, {1e308, 1e308, -1e308, -1e308}) == kBeyond);
  CHECK(variance_of(dir, {huge, huge}) == 0);
  // Squared distances that f64 holds, though not the square of their sum.
  CHECK(variance_of(dir, {-9e153, 1, 2}) == doctest::Approx(1.8e307));
  CHECK(std::isnan(variance_of(dir, {1, kBeyond})));
  CHECK(std::isnan(variance_of(dir, {-kBeyond, kBeyond})));
  // A sum that overflows in both directions.
  std::vector<double> both(64, huge);
  std::fill(both.begin() + 33, both.end(), -huge);
  CHECK(variance_of(dir, both) == kBeyond);
  CHECK(verify(dir / "v.dbdf", Level::payload).findings.empty());
}

TEST_CASE("huge statistics: more cells than 64 bits count are an error, not another number") {
  const TempDir dir;
  constexpr std::uint64_t kRows = std::uint64_t{1} << 33, kCols = std::uint64_t{1} << 32;
  WriteOptions options;
  options.tile = {1U << 31, 1U << 31};
  for (const bool plain : {false, true}) {
    CAPTURE(plain);
    options.plain = plain;
    options.overwrite = true;
    MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::f64, options).finish();
    const Matrix m = Matrix::open(dir / "m.dbdf");
    for (const auto& counted :
         {std::function<void()>([&] { matrix_stats(m); }),
          std::function<void()>([&] { count_where(m, Condition::equal(0)); }),
          std::function<void()>([&] { count_where(m, Condition::above(-1)); })}) {
      const Error error = test::required_error(test::error_of(counted));
      CHECK(error.code() == Errc::unsupported);
      CHECK(error.detail().find("8589934592 x 4294967296 cells are more than 2^64 - 1") == 0);
    }
    CHECK(count_where(m, Condition::above(0)) == 0);
    CHECK(count_where(m, Condition::above(-1), {.nonzero = true}) == 0);
    CHECK(tile_row_stats(m)[3].count == std::uint64_t{1} << 63);
  }
}
