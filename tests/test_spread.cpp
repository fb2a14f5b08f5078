// Variances of cells that are far from zero, however they are stored and added, against sums in
// quadruple precision.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/compute/totals.h"
#include "tests/check.h"
#include "tests/fuzz/sign.h"
#include "tests/support.h"

using namespace dapple;
using test::Rng;
using test::TempDir;

namespace {

// 113 bits, by the name that the processor's compilers have for them.
#if __LDBL_MANT_DIG__ == 113
using Quad = long double;
#else
__extension__ using Quad = __float128;
#endif

constexpr std::uint32_t kSpreadRows = 700, kSpreadCols = 23;

struct Truth {
  std::uint64_t numbers = 0;
  double variance = 0, squares = 0;
};

template <Value T>
Truth truth_of(const std::vector<T>& cells) {
  Quad sum = 0, squares = 0, distances = 0, spread = 0;
  Truth truth;
  for (const T v : cells) {
    if (v != v) continue;
    ++truth.numbers;
    sum += static_cast<Quad>(v);
    squares += static_cast<Quad>(v) * static_cast<Quad>(v);
  }
  if (truth.numbers == 0) return truth;
  const auto n = static_cast<Quad>(truth.numbers);
  for (const T v : cells) {
    if (v != v) continue;
    const Quad distance = static_cast<Quad>(v) - sum / n;
    distances += distance;
    spread += distance * distance;
  }
  truth.variance = static_cast<double>((spread - distances * distances / n) / n);
  truth.squares = static_cast<double>(squares);
  return truth;
}

/// Far from zero, with few or many distances, an outlier at the start, or extremes of the type.
template <Value T>
std::vector<T> far_cells(Rng& rng, int family) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> cells(std::size_t{kSpreadRows} * kSpreadCols);
  for (T& cell : cells) {
    const double part = static_cast<double>(rng.below(1U << 20)) / (1U << 20);
    if constexpr (std::is_floating_point_v<T>) {
      const double base[] = {1e9, -3e7, 5812345, 1, 1e-20};
      const double width = family < 5 ? 1e-6 : 1e-3;
      cell = static_cast<T>(base[family % 5] * (1 + width * part));
      if (family == 3) cell = std::nextafter(T{1}, static_cast<T>(rng.chance(1) ? 2 : 1));
      if (family == 7 && rng.chance(10)) cell = Limits::quiet_NaN();
    } else {
      const auto near = static_cast<T>(rng.below(family % 2 == 0 ? 100 : 3));
      cell =
          family < 2 ? static_cast<T>(Limits::max() - near) : static_cast<T>(Limits::min() + near);
      if (family > 3) cell = rng.chance(50) ? Limits::max() : Limits::min();
    }
    if (family == 6 && rng.chance(60)) cell = 0;
  }
  if (family == 5) cells[0] = Limits::max() / 4;
  return cells;
}

/// Integers to the last bits, floats within the bound of stats.h.
bool near(double got, double want, bool exact) {
  const double most = exact ? 4 * std::numeric_limits<double>::epsilon() : 0x1p-36;
  return got == want || std::fabs(got - want) <= most * want + 1e-300;
}

template <Value T>
std::vector<T> part_of(const std::vector<T>& cells, Range rows, Range cols) {
  std::vector<T> part;
  for (std::uint64_t r = rows.begin; r < std::min<std::uint64_t>(rows.end, kSpreadRows); ++r) {
    for (std::uint64_t c = cols.begin; c < std::min<std::uint64_t>(cols.end, kSpreadCols); ++c) {
      part.push_back(cells[r * kSpreadCols + c]);
    }
  }
  return part;
}

/// Sums in quadruple precision take long: those of one part are made once.
template <Value T>
class Truths {
 public:
  explicit Truths(const std::vector<T>& cells) : cells_(cells) {}

  const Truth& of(Range rows, Range cols) {
    rows.end = std::min<std::uint64_t>(rows.end, kSpreadRows);
    cols.end = std::min<std::uint64_t>(cols.end, kSpreadCols);
    auto [known, is_new] = known_.try_emplace({rows.begin, rows.end, cols.begin, cols.end});
    if (is_new) known->second = truth_of(part_of(cells_, rows, cols));
    return known->second;
  }

 private:
  const std::vector<T>& cells_;
  std::map<std::array<std::uint64_t, 4>, Truth> known_;
};

template <Value T>
void require_spread(const Stats& got, const Truth& want) {
  REQUIRE(got.count - got.nans == want.numbers);
  if (want.numbers == 0) return;
  CAPTURE(got.variance());
  CAPTURE(want.variance);
  CHECK(near(got.variance(), want.variance, std::is_integral_v<T>));
  CHECK(near(got.sum_squares, want.squares, std::is_integral_v<T>));
}

template <Value T>
void require_all(const Matrix& m, Truths<T>& truths, unsigned threads) {
  const ReadOptions options{Absent::error, threads};
  const Range rows{0, kSpreadRows}, cols{0, kSpreadCols};
  require_spread<T>(matrix_stats(m, options), truths.of(rows, cols));
  const auto by_row = row_stats(m, options), by_col = column_stats(m, options);
  for (std::uint64_t r = 0; r < kSpreadRows; r += 37) {
    require_spread<T>(by_row[r], truths.of({r, r + 1}, cols));
  }
  for (std::uint64_t c = 0; c < kSpreadCols; ++c) {
    require_spread<T>(by_col[c], truths.of(rows, {c, c + 1}));
  }
  const TileShape tile = m.grid()->tile;
  const auto down = tile_row_stats(m, options), across = tile_column_stats(m, options);
  for (std::uint64_t i = 0; i < down.size(); ++i) {
    require_spread<T>(down[i], truths.of({i * tile.rows, (i + 1) * tile.rows}, cols));
  }
  for (std::uint64_t j = 0; j < across.size(); ++j) {
    require_spread<T>(across[j], truths.of(rows, {j * tile.cols, (j + 1) * tile.cols}));
  }
  for (const BlockInfo& block : m.blocks()) {
    const auto stored = stored_stats(m, block);
    if (stored) require_spread<T>(*stored, truths.of(block.cells().rows, block.cells().cols));
  }
}

template <Value T>
Matrix write_cells(const TempDir& dir, const std::vector<T>& cells, KindChoice kind, bool plain,
                   TileShape tile) {
  WriteOptions options;
  options.kind = kind;
  options.plain = plain;
  options.tile = tile;
  options.overwrite = true;
  options.sync = false;
  auto writer = test::writer<T>(dir / "m.dbdf", kSpreadRows, kSpreadCols, options);
  for (std::uint32_t r = 0; r < kSpreadRows; r += tile.rows) {
    for (std::uint32_t c = 0; c < kSpreadCols; c += tile.cols) {
      writer.template put<T>({r, c},
                             {&cells[r * kSpreadCols + c], std::min(tile.rows, kSpreadRows - r),
                              std::min(tile.cols, kSpreadCols - c), kSpreadCols});
    }
  }
  writer.finish();
  return Matrix::open(dir / "m.dbdf");
}

/// Makes the table of statistics one of version 1, with sums and squares in f64.
void make_old(const std::string& path) {
  using detail::load_le, detail::store_le;
  const detail::dbdf::Hint hint = fuzz::hint_of(path, "DPL-STAT");
  auto file = test::read_bytes(path);
  std::byte* const table = &file[hint.offset];
  REQUIRE(load_le<std::uint64_t>(table + 8) == 2);
  store_le(table + 8, std::uint64_t{1});
  for (std::byte* line = table + 64; line < table + hint.bytes; line += 64) {
    const auto type = static_cast<std::uint8_t>(line[7]);
    if (type == 9 || type == 10) {  // floats: rounded, as if far from zero
      store_le(line + 48, load_le<double>(line + 32) * load_le<double>(line + 32));
      std::memset(line + 40, 0, 8);
      std::memset(line + 56, 0, 8);
    } else if (type == 4 || type == 8) {
      const double high = static_cast<double>(load_le<std::uint64_t>(line + 8)) * 0x1p128 +
                          static_cast<double>(load_le<std::uint64_t>(line + 56)) * 0x1p64;
      store_le(line + 48, high + static_cast<double>(load_le<std::uint64_t>(line + 48)));
      std::memset(line + 8, 0, 8);
      std::memset(line + 56, 0, 8);
    }
  }
  fuzz::sign_hint(file, hint);
  test::write_bytes(path, file);
}

template <Value T>
Condition above_all() {
  return Condition::above(std::numeric_limits<T>::max());
}

}  // namespace

TEST_CASE_TEMPLATE("spread: of every type, tiling, axis and number of threads", T, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, float, double) {
  Rng rng(2043);
  const TempDir dir;
  for (int family = 0; family < 8; ++family) {
    const std::vector<T> cells = far_cells<T>(rng, family);
    Truths<T> truths(cells);
    for (const KindChoice kind : {KindChoice::automatic, KindChoice::csr, KindChoice::coo}) {
      for (const TileShape tile :
           {TileShape{kSpreadRows, kSpreadCols}, TileShape{64, 20}, TileShape{300, 1}}) {
        const bool plain = rng.chance(50);
        CAPTURE(family);
        CAPTURE(static_cast<int>(kind));
        CAPTURE(plain);
        CAPTURE(tile.cols);
        const Matrix m = write_cells(dir, cells, kind, plain, tile);
        require_all(m, truths, rng.chance(50) ? 1 : 3);
      }
    }
    CHECK(verify(dir / "m.dbdf", Level::payload).findings.empty());
  }
}

TEST_CASE_TEMPLATE("spread: integers have the same bits in every order", T, std::uint8_t,
                   std::int16_t, std::uint32_t, std::int64_t, std::uint64_t) {
  Rng rng(11);
  const TempDir dir;
  const std::vector<T> cells = far_cells<T>(rng, 0);
  const Stats one = matrix_stats(
      write_cells(dir, cells, KindChoice::dense, true, {kSpreadRows, kSpreadCols}), {});
  const Stats other =
      matrix_stats(write_cells(dir, cells, KindChoice::csr, false, {13, 7}), {Absent::error, 3});
  CHECK(one.variance() == other.variance());
  CHECK(one.sum == other.sum);
  CHECK(one.sum_squares == other.sum_squares);
}

TEST_CASE_TEMPLATE("spread: statistics of earlier files are used for what they know", T,
                   std::uint8_t, std::uint32_t, std::int64_t, std::uint64_t, float, double) {
  Rng rng(5);
  const TempDir dir;
  const std::vector<T> cells = far_cells<T>(rng, 0);
  const auto path = dir / "m.dbdf";
  write_cells(dir, cells, KindChoice::automatic, false, {350, kSpreadCols});
  make_old(path);
  const Matrix m = Matrix::open(path);
  CHECK(verify(path, Level::payload).findings.empty());
  require_spread<T>(matrix_stats(m, {Absent::error, 3}), truth_of(cells));
  const auto down = tile_row_stats(m, {});
  require_spread<T>(down[1], truth_of(part_of(cells, {350, kSpreadRows}, {0, kSpreadCols})));
  for (const BlockVerdict& v : explain_where(m, above_all<T>())) {
    CHECK((v.skipped == Skipped::statistics || v.skipped == Skipped::value_type));
  }
  const BlockInfo first = *m.blocks().begin();
  const auto stored = stored_stats(m, first);
  REQUIRE(stored);
  if (std::is_integral_v<T> && sizeof(T) < 8) {
    require_spread<T>(*stored, truth_of(part_of(cells, {0, 350}, {0, kSpreadCols})));
  } else if (first.value_type == value_type_of<T>()) {
    CHECK(std::isnan(stored->variance()));
    CHECK(std::isnan(stored->sum_squares));
  }
  // Statistics that are asked for anew go beside the file, and answer without a cell.
  CHECK(write_sidecar(path, {}, {.statistics = true}));
  const Matrix again = Matrix::open(path);
  for (const BlockInfo& block : again.blocks()) {
    const auto fresh = stored_stats(again, block);
    REQUIRE(fresh);
    require_spread<T>(*fresh, truth_of(part_of(cells, block.cells().rows, block.cells().cols)));
  }
}

TEST_CASE("spread: appending to an earlier file makes its statistics anew") {
  Rng rng(6);
  const TempDir dir;
  const std::vector<double> cells = far_cells<double>(rng, 0);
  write_cells(dir, cells, KindChoice::dense, false, {350, kSpreadCols});
  make_old(dir / "m.dbdf");
  append(dir / "m.dbdf", Matrix::open(dir / "m.dbdf"));
  const Matrix m = Matrix::open(dir / "m.dbdf");
  std::vector<double> twice = cells;
  twice.insert(twice.end(), cells.begin(), cells.end());
  const Truth want = truth_of(twice);
  CHECK(near(matrix_stats(m).variance(), want.variance, false));
  for (const BlockInfo& block : m.blocks()) {
    const auto stored = stored_stats(m, block);
    REQUIRE(stored);
    CHECK(std::isfinite(stored->variance()));
  }
}

TEST_CASE("spread: sums of squares of small integers do not wrap after 2^32 cells") {
  detail::SmallTally tally;
  for (int i = 0; i < 1 << 16; ++i) tally.add(65535);
  for (int doubling = 0; doubling < 20; ++doubling) tally.merge(detail::SmallTally(tally));
  detail::Totals totals;
  totals.add(tally);
  const Stats stats = totals.stats(std::uint64_t{1} << 36);
  CHECK(stats.sum_squares == 65535.0 * 65535.0 * 0x1p36);
  CHECK(stats.squared_distances == 0);
  const Stats half = totals.stats(std::uint64_t{1} << 37);  // as many zeros
  CHECK(half.variance() == 65535.0 * 65535.0 / 4);
}
