// Blocks that are put as sparse rows or entries.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/support.h"

using namespace dapple;
using test::Rng;
using test::TempDir;
using test::writer;

namespace {

/// The same cells as three arrays and densely.
template <Value T>
struct Rows {
  std::vector<std::uint64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx;
  std::vector<T> values;
  std::vector<T> cells;

  /// Row `r` has up to `longest` entries; `value(rng)` is never positive zero.
  template <class F>
  Rows(Rng& rng, std::uint32_t rows, std::uint32_t cols, unsigned longest, const F& value)
      : cells(std::size_t{rows} * cols) {
    for (std::uint32_t r = 0; r < rows; ++r) {
      const std::uint64_t count = rng.below(longest + 1);
      for (std::uint32_t c = 0; c < cols; ++c) {
        if (rng.below(cols) >= count) continue;
        col_idx.push_back(c);
        values.push_back(value(rng));
        cells[std::size_t{r} * cols + c] = values.back();
      }
      row_ptr.push_back(values.size());
    }
  }
  CsrRef<T> ref(std::uint32_t rows, std::uint32_t cols) const {
    return {rows, cols, row_ptr, col_idx, values};
  }
};

}  // namespace

TEST_CASE("writer: sparse input in any order gives the cells it names") {
  const TempDir dir;
  auto w = writer<double>(dir / "m", 3, 8);
  const std::vector<Triplet<double>> entries = {{2, 1, 5}, {0, 3, -0.0}, {0, 0, 2}, {1, 1, 0}};
  w.put<double>({0, 0}, {3, 4}, std::span(entries));
  const std::vector<std::uint64_t> row_ptr = {0, 2, 2, 3};
  const std::vector<std::uint32_t> col_idx = {3, 1, 0};
  const std::vector<std::int8_t> values = {7, -8, 9};
  w.put<std::int8_t>({0, 4}, CsrRef<std::int8_t>{3, 4, row_ptr, col_idx, values});
  w.finish();
  const Matrix m = Matrix::open(dir / "m");
  const auto all = m.read<double>({{0, 3}, {0, 8}});
  CHECK(all == std::vector<double>{2, 0, 0, -0.0, 0, -8, 0, 7, 0, 0, 0, 0,
                                   0, 0, 0, 0,    0, 5,  0, 0, 9, 0, 0, 0});
  CHECK(std::signbit(all[3]));
  CHECK(test::difference(dir / "m") == "");
}

TEST_CASE("writer: rows that take many pieces, of every kind and size of value") {
  const TempDir dir;
  Rng rng(21);
  constexpr std::uint32_t rows = 1200, cols = 200;  // 1.4 MB of f64 entries: more than a piece
  const auto integer = [](Rng& r) { return static_cast<double>(r.between(1, 200)); };
  const auto fraction = [](Rng& r) { return static_cast<double>(r.between(1, 1 << 30)) + 0.5; };
  for (const bool small : {true, false}) {
    const Rows<double> input = small ? Rows<double>(rng, rows, cols, 200, integer)
                                     : Rows<double>(rng, rows, cols, 200, fraction);
    for (const KindChoice kind :
         {KindChoice::automatic, KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
      for (const bool narrow : {true, false}) {
        WriteOptions options;
        options.kind = kind;
        options.narrow = narrow;
        options.overwrite = true;
        auto w = writer<double>(dir / "m", rows, cols, options);
        w.put<double>({0, 0}, input.ref(rows, cols));
        w.finish();
        const Matrix m = Matrix::open(dir / "m");
        REQUIRE(m.read<double>({{0, rows}, {0, cols}}) == input.cells);
        CHECK(m.block({0, 0}).info().value_type ==
              (small && narrow ? ValueType::u8 : ValueType::f64));
        if (!narrow) CHECK(test::difference(dir / "m") == "");
      }
    }
  }
}

TEST_CASE("writer: a row longer than a piece, and rows without entries") {
  const TempDir dir;
  constexpr std::uint32_t cols = 250'000;
  Rng rng(22);
  Rows<std::int64_t> input(rng, 0, cols, 0, [](Rng&) { return 1; });
  for (std::uint32_t c = 0; c < cols; c += 2) {
    input.col_idx.push_back(c);
    input.values.push_back((std::int64_t{1} << 40) + c);
  }
  input.row_ptr = {0, 0, input.values.size(), input.values.size(), input.values.size()};
  for (const KindChoice kind : {KindChoice::csr, KindChoice::coo, KindChoice::dense}) {
    WriteOptions options;
    options.kind = kind;
    options.overwrite = true;
    auto w = writer<std::int64_t>(dir / "m", 4, cols, options);
    w.put<std::int64_t>({0, 0}, input.ref(4, cols));
    w.finish();
    const Matrix m = Matrix::open(dir / "m");
    const auto row = m.read<std::int64_t>({{1, 2}, {0, cols}});
    for (std::uint32_t c = 0; c < cols; ++c) {
      REQUIRE(row[c] == (c % 2 == 0 ? (std::int64_t{1} << 40) + c : 0));
    }
    CHECK(m.read<std::int64_t>({{2, 3}, {5, 6}}) == std::vector<std::int64_t>{0});
  }
}

TEST_CASE("writer: values of another type become the matrix's, or are refused by cell") {
  const TempDir dir;
  const std::vector<std::uint64_t> row_ptr = {0, 1, 2};
  const std::vector<std::uint32_t> col_idx = {2, 0};
  const std::vector<double> fit = {7, -3}, not_fit = {7, 0.5};
  auto w = writer<std::int16_t>(dir / "m", 2, 3);
  const auto error = test::error_of([&] {
    w.put<double>({0, 0}, CsrRef<double>{2, 3, row_ptr, col_idx, not_fit});
  });
  REQUIRE(error);
  CHECK(test::told(*error) == "type_mismatch: 0.5 in cell (1, 0) is not exact as i16 (R6)");
  const std::vector<int> large = {1, 2, 3, 4, 5, 40000};
  const auto too_large = test::error_of([&] { w.put<int>({0, 0}, {large.data(), 2, 3}); });
  CHECK(test::told(test::required_error(too_large)) ==
        "type_mismatch: 40000 in cell (1, 2) does not fit i16 (R6)");
  w.put<double>({0, 0}, CsrRef<double>{2, 3, row_ptr, col_idx, fit});
  w.finish();
  CHECK(Matrix::open(dir / "m").read<int>({{0, 2}, {0, 3}}) == std::vector<int>{0, 0, 7, -3, 0, 0});
}

TEST_CASE("writer: a block of far more rows than entries takes memory for its entries alone") {
  const TempDir dir;
  constexpr std::uint32_t rows = std::numeric_limits<std::uint32_t>::max();
  auto w = writer<float>(dir / "m", rows, 3);
  const std::vector<Triplet<float>> entries = {{rows - 1, 2, 5}, {0, 1, 2}};
  w.put<float>({0, 0}, {rows, 3}, std::span(entries));
  w.finish();
  const Matrix m = Matrix::open(dir / "m");
  CHECK(m.block({0, 0}).info().kind == BlockKind::coo);
  CHECK(m.read<float>({{rows - 1, rows}, {0, 3}}) == std::vector<float>{0, 0, 5});

  ConvertOptions options;
  options.write.tile = TileShape{rows - 5, 2};
  convert(open(dir / "m"), {}, dir / "tiled.dbdf", options);
  const Matrix tiled = Matrix::open(dir / "tiled.dbdf");
  CHECK(tiled.read<float>({{rows - 1, rows}, {0, 3}}) == std::vector<float>{0, 0, 5});
  CHECK(tiled.read<float>({{0, 1}, {0, 3}}) == std::vector<float>{0, 2, 0});
}

namespace {

/// Rows of 60 entries each, f64: blocks of more than a piece, of which one is written before their
/// end is looked at.
struct ManyRows {
  static constexpr std::uint32_t kRows = 2000, kCols = 240, kInRow = 60;
  std::vector<std::uint64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx;
  std::vector<double> values;

  ManyRows() {
    for (std::uint32_t row = 0; row < kRows; ++row) {
      for (std::uint32_t k = 0; k < kInRow; ++k) {
        col_idx.push_back(k * 4 + (row + k) % 4);
        values.push_back(row + 0.5 * k + 0.25);
      }
      row_ptr.push_back(values.size());
    }
  }
  CsrRef<double> ref() const { return {kRows, kCols, row_ptr, col_idx, values}; }
};

}  // namespace

TEST_CASE("writer: rows that turn out unsorted or to hold zeros give the file of sorted ones") {
  const TempDir dir;
  const ManyRows sorted;
  for (const KindChoice kind : {KindChoice::csr, KindChoice::coo, KindChoice::dense}) {
    for (const bool narrow : {false, true}) {
      for (const std::size_t last : {sorted.values.size() - 1, std::size_t{1}}) {
        ManyRows unsorted = sorted, zero = sorted, without = sorted;
        std::swap(unsorted.col_idx[last], unsorted.col_idx[last - 1]);
        std::swap(unsorted.values[last], unsorted.values[last - 1]);
        zero.values[last] = 0;
        without.col_idx.erase(without.col_idx.begin() + static_cast<std::ptrdiff_t>(last));
        without.values.erase(without.values.begin() + static_cast<std::ptrdiff_t>(last));
        for (std::uint64_t& end : without.row_ptr) end -= end > last ? 1U : 0U;
        WriteOptions options;
        options.kind = kind;
        options.narrow = narrow;
        options.overwrite = true;
        options.sync = false;
        const auto write = [&](const char* name, const ManyRows& second) {
          auto w = writer<double>(dir / name, 3 * ManyRows::kRows, ManyRows::kCols, options);
          w.put<double>({0, 0}, sorted.ref());
          w.put<double>({ManyRows::kRows, 0}, second.ref());
          w.put<double>({2 * ManyRows::kRows, 0}, sorted.ref());
          w.finish();
        };
        write("sorted", sorted);
        write("unsorted", unsorted);
        REQUIRE(test::read_bytes(dir / "unsorted") == test::read_bytes(dir / "sorted"));
        write("zero", zero);
        write("without", without);
        REQUIRE(test::read_bytes(dir / "zero") == test::read_bytes(dir / "without"));
      }
    }
  }
}

TEST_CASE("writer: rows that are refused at their end leave nothing in the file") {
  const TempDir dir;
  const ManyRows rows;
  WriteOptions options;
  options.narrow = false;
  options.sync = false;
  const auto write = [&](const char* name, const auto& between) {
    auto w = writer<double>(dir / name, 2 * ManyRows::kRows, ManyRows::kCols, options);
    w.put<double>({0, 0}, rows.ref());
    between(w);
    w.put<double>({ManyRows::kRows, 0}, rows.ref());
    w.finish();
  };
  write("plain", [](auto&) {});
  write("refused", [&](auto& w) {
    ManyRows twice = rows, outside = rows;
    *(twice.col_idx.end() - 1) = *(twice.col_idx.end() - 2);
    outside.col_idx.back() = ManyRows::kCols;
    auto error = test::error_of([&] { w.template put<double>({ManyRows::kRows, 0}, twice.ref()); });
    REQUIRE(error);
    CHECK(test::told(*error) ==
          "invalid_argument: cell (1999, 233) of the block at (2000, 0) is given twice (R5)");
    error = test::error_of([&] { w.template put<double>({ManyRows::kRows, 0}, outside.ref()); });
    REQUIRE(error);
    CHECK(test::told(*error) == "out_of_range: entry (1999, 240) is outside the rows of 240 cells");
  });
  CHECK(test::read_bytes(dir / "refused") == test::read_bytes(dir / "plain"));
}
