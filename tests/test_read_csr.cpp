// Regions as three arrays: whatever blocks lie in them, the arrays hold what reading the cells
// gives, sorted, without positive zeros. The oracle is `read`, cell by cell.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Image;

namespace {

using Words = std::vector<std::uint64_t>;

template <class T>
bool is_zero(T value) {
  const T zero{};
  return std::memcmp(&value, &zero, sizeof value) == 0;
}

/// The region's arrays, made of its cells.
template <Value T>
Csr<T> oracle(const Matrix& m, const Region& region) {
  const std::vector<T> cells = m.read<T>(region);
  Words row_ptr{0}, cols;
  std::vector<T> values;
  for (std::uint64_t r = 0; r < region.rows.size(); ++r) {
    for (std::uint64_t c = 0; c < region.cols.size(); ++c) {
      const T value = cells[r * region.cols.size() + c];
      if (is_zero(value)) continue;
      cols.push_back(c);
      values.push_back(value);
    }
    row_ptr.push_back(cols.size());
  }
  Csr<T> csr;
  csr.row_ptr.reset(row_ptr.size());
  std::copy(row_ptr.begin(), row_ptr.end(), csr.row_ptr.begin());
  csr.col_idx.reset(cols.size());
  std::copy(cols.begin(), cols.end(), csr.col_idx.begin());
  csr.values.reset(values.size());
  std::copy(values.begin(), values.end(), csr.values.begin());
  return csr;
}

/// With column indices of type `Col`.
template <Value T, class Col>
void require_same_in(const Matrix& m, const Region& region) {
  const Csr<T, Col> got = m.read_csr<T, Col>(region);
  const Csr<T> want = oracle<T>(m, region);
  CAPTURE(region.rows.begin);
  CAPTURE(region.rows.end);
  CAPTURE(region.cols.begin);
  CAPTURE(region.cols.end);
  REQUIRE(test::list(got.row_ptr) == test::list(want.row_ptr));
  REQUIRE(Words(got.col_idx.begin(), got.col_idx.end()) == test::list(want.col_idx));
  REQUIRE(got.values.size() == want.values.size());
  if (got.values.size() > 0) {
    REQUIRE(std::memcmp(got.values.data(), want.values.data(), sizeof(T) * got.values.size()) == 0);
  }
}

template <Value T>
void require_same(const Matrix& m, const Region& region) {
  require_same_in<T, std::uint64_t>(m, region);
  require_same_in<T, std::uint32_t>(m, region);
}

/// Blocks of every kind and order with whatever values, among them both zeros.
class Mixed {
 public:
  explicit Mixed(std::uint64_t seed) : rng_(seed) {}

  template <Value T>
  void put(Image& image, BlockPos pos, std::uint32_t rows, std::uint32_t cols) {
    switch (rng_.below(4)) {
      case 0:
        put_csr<T>(image, pos, rows, cols);
        break;
      case 1:
        put_coo<T>(image, pos, rows, cols);
        break;
      case 2: {
        std::vector<T> values(std::size_t{rows} * cols);
        for (T& v : values) v = rng_.chance(60) ? T{} : value<T>();
        image.dense<T>(pos, rows, cols, values);
        break;
      }
      default:
        image.empty(pos, rows, cols);
    }
  }

  template <Value T>
  void put_csr(Image& image, BlockPos pos, std::uint32_t rows, std::uint32_t cols) {
    const bool sorted = rng_.chance(50);
    std::vector<std::vector<std::pair<std::uint32_t, T>>> list(rows);
    for (auto& row : list) {
      const auto density = static_cast<unsigned>(rng_.below(100));
      for (std::uint32_t c = 0; c < cols; ++c) {
        if (rng_.chance(density)) row.push_back({c, value<T>()});
      }
      if (!sorted) shuffle(row);
    }
    image.csr<T>(pos, cols, list);
  }

  template <Value T>
  void put_coo(Image& image, BlockPos pos, std::uint32_t rows, std::uint32_t cols) {
    std::vector<Triplet<T>> entries;
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < cols; ++c) {
        if (rng_.chance(20)) entries.push_back({r, c, value<T>()});
      }
    }
    if (rng_.chance(50)) shuffle(entries);
    image.coo<T>(pos, rows, cols, entries);
  }

  Range part_of(std::uint64_t n) {
    if (rng_.chance(25)) return {0, n};
    const std::uint64_t begin = rng_.below(n + 1);
    return {begin, rng_.between(begin, n)};
  }

 private:
  template <Value T>
  T value() {
    if (rng_.chance(10)) return T{};
    if (rng_.chance(10)) return static_cast<T>(-T{});
    return static_cast<T>(rng_.below(100));
  }
  template <class A>
  void shuffle(A& a) {
    for (std::size_t i = a.size(); i > 1; --i) std::swap(a[i - 1], a[rng_.below(i)]);
  }

  test::Rng rng_;
};

/// Strips of columns, each cut into blocks at rows of its own, values in types that differ.
Image random_image(std::uint64_t seed, std::uint64_t rows, std::uint64_t cols) {
  test::Rng rng(seed);
  Mixed mixed(seed);
  Image image = Image::matrix(rows, cols, ValueType::f64);
  const bool even = rng.chance(30);
  for (std::uint64_t c = 0; c < cols;) {
    const std::uint64_t width = rng.chance(20) ? cols - c : rng.between(1, cols - c);
    for (std::uint64_t r = 0; r < rows;) {
      const std::uint64_t height =
          even ? std::min(rows - r, rows / 3 + 1) : rng.between(1, rows - r);
      const auto h = static_cast<std::uint32_t>(height), w = static_cast<std::uint32_t>(width);
      switch (rng.below(3)) {
        case 0:
          mixed.put<double>(image, {r, c}, h, w);
          break;
        case 1:
          mixed.put<float>(image, {r, c}, h, w);
          break;
        default:
          mixed.put<std::uint8_t>(image, {r, c}, h, w);
      }
      r += height;
    }
    c += width;
  }
  return image;
}

Matrix matrix_of(const test::TempDir& dir, const Image& image) {
  return Matrix::open(dir.write("m.dbdf", image.bytes()));
}

}  // namespace

TEST_CASE("read_csr: any region of any blocks holds what its cells are") {
  const test::TempDir dir;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const std::uint64_t rows = 1 + seed % 40, cols = 1 + seed * 7 % 50;
    const Matrix m = matrix_of(dir, random_image(seed, rows, cols));
    Mixed mixed(seed);
    for (int k = 0; k < 8; ++k) {
      require_same<double>(m, {mixed.part_of(rows), mixed.part_of(cols)});
    }
    require_same<double>(m, {{0, rows}, {0, cols}});
  }
}

TEST_CASE("read_csr: so does a region of many bands, and one row of it") {
  const test::TempDir dir;
  constexpr std::uint32_t kRows = 700, kCols = 210;
  for (const bool alone : {true, false}) {
    Mixed mixed(17);
    Image image = Image::matrix(kRows, kCols, ValueType::f64, 2);
    if (alone) {
      mixed.put_csr<double>(image, {0, 0}, 400, kCols);
      mixed.put_coo<double>(image, {400, 0}, 100, kCols);
      mixed.put_csr<std::uint8_t>(image, {500, 0}, 200, kCols);
    } else {
      mixed.put_csr<double>(image, {0, 0}, kRows, 100);
      mixed.put_csr<float>(image, {0, 100}, 300, 110);
      mixed.put_coo<double>(image, {300, 100}, 400, 70);
      mixed.put_csr<double>(image, {300, 170}, 400, 40);
    }
    const Matrix m = matrix_of(dir, image);
    require_same<double>(m, {{0, kRows}, {0, kCols}});
    require_same<double>(m, {{3, 690}, {60, 180}});
    require_same<double>(m, {{420, 421}, {0, kCols}});
    require_same<double>(m, {{50, 650}, {99, 100}});
  }
}

TEST_CASE_TEMPLATE("read_csr: single columns of a grid of CSR tiles", T, std::uint8_t,
                   std::uint16_t, std::int32_t, std::uint64_t, float, double) {
  test::Rng rng(12);
  const test::TempDir dir;
  for (const bool closer : {false, true}) {  // rows that are not sorted, stored zeros
    Image image = Image::matrix(200, 150, value_type_of<T>(), 2);
    for (std::uint32_t r = 0; r < 200; r += 64) {
      for (std::uint32_t c = 0; c < 150; c += 64) {
        std::vector<std::vector<std::pair<std::uint32_t, T>>> rows(std::min(64U, 200 - r));
        const std::uint32_t width = std::min(64U, 150 - c);
        for (auto& row : rows) {
          for (std::uint32_t k = 0; k < width; ++k) {
            if (!rng.chance(20)) continue;
            row.emplace_back(k, static_cast<T>(closer && rng.chance(5) ? 0 : 1 + rng.below(100)));
          }
          if (closer && row.size() > 1 && rng.chance(2)) std::swap(row.front(), row.back());
        }
        image.csr<T>({r, c}, width, rows);
      }
    }
    const Matrix m = Matrix::open(dir.write("m.dbdf", image.bytes()));
    for (int round = 0; round < 40; ++round) {
      const std::uint64_t col = rng.below(148), row = rng.below(200);
      const Range rows =
          round % 2 == 0 ? Range{0, 200} : Range{row, row + 1 + rng.below(200 - row)};
      require_same<T>(m, {rows, {col, col + 1 + rng.below(3)}});
      require_same<double>(m, {rows, {col, col + 1}});
      const auto one = m.read_csr<T>({rows, {col, col + 1}});
      const auto three = m.read_csr<T>({rows, {col, col + 1}}, {.threads = 3});
      REQUIRE(test::list(one.row_ptr) == test::list(three.row_ptr));
      REQUIRE(test::list(one.values) == test::list(three.values));
    }
  }
}

TEST_CASE("read_csr: a few long rows among short ones") {
  const test::TempDir dir;
  constexpr std::uint32_t kCols = 100'000;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint8_t>>> rows(5000);
  for (std::uint32_t r = 0; r < rows.size(); ++r) rows[r] = {{r, std::uint8_t{1}}};
  for (const std::uint32_t r : {7U, 2500U, 4999U}) {
    rows[r].clear();
    for (std::uint32_t c = 0; c < kCols; ++c) rows[r].push_back({c, std::uint8_t(c % 200)});
  }
  const auto n = rows.size();
  const Matrix m = matrix_of(
      dir, Image::matrix(n, kCols, ValueType::u8, 2).csr<std::uint8_t>({0, 0}, kCols, rows));
  const auto all = m.read_csr<std::uint8_t>({{0, n}, {0, kCols}});
  CHECK(all.row_ptr[n] == n - 3 + 3 * (kCols - kCols / 200));
  CHECK(all.row_ptr[8] - all.row_ptr[7] == kCols - kCols / 200);
  const auto part = m.read_csr<float>({{2499, 2501}, {99'000, kCols}});
  CHECK(test::list(part.row_ptr) == Words{0, 0, 995});
  CHECK(part.col_idx[0] == 1);
  CHECK(part.values[994] == 199);
}

TEST_CASE("read_csr: minus zero stays, an explicit zero goes") {
  const test::TempDir dir;
  Image image = Image::matrix(2, 8, ValueType::f64);
  image.csr<double>({0, 0}, 4, {{{3, -0.0}, {1, 0.0}}, {{0, 2}}});
  image.coo<float>({0, 4}, 2, 4, {{1, 2, -0.0F}, {0, 1, 0.0F}, {0, 0, 5}});
  const Matrix m = matrix_of(dir, image);
  const auto csr = m.read_csr<double>({{0, 2}, {0, 8}});
  CHECK(test::list(csr.row_ptr) == Words{0, 2, 4});
  CHECK(test::list(csr.col_idx) == Words{3, 4, 0, 6});
  CHECK(std::signbit(csr.values[0]));
  CHECK(test::list(csr.values) == std::vector<double>{-0.0, 5, 2, -0.0});
}

TEST_CASE("read_csr: a column twice, and a value that does not fit, are errors of their region") {
  const test::TempDir dir;
  Image image = Image::matrix(3, 8, ValueType::f64);
  image.csr<double>({0, 0}, 4, {{{1, 1}}, {{3, 1}, {0, 2}, {3, 1}}, {{2, 300}}});
  image.csr<double>({0, 4}, 4, {{{1, 1}}, {}, {{2, 0.5}}});
  const Matrix m = matrix_of(dir, image);
  const auto twice = error_of([&] { m.read_csr<double>({{0, 3}, {0, 8}}); });
  REQUIRE(twice);
  CHECK(twice->code() == Errc::corrupt);
  CHECK(twice->detail() == "block (0, 0) stores its cell (1, 3) twice (R5)");
  CHECK(test::list(m.read_csr<double>({{2, 3}, {0, 8}}).values) == std::vector<double>{300, 0.5});
  CHECK(test::list(m.read_csr<int>({{2, 3}, {0, 4}}).values) == std::vector<int>{300});
  const auto wide = error_of([&] { m.read_csr<std::uint8_t>({{2, 3}, {0, 8}}); });
  REQUIRE(wide);
  CHECK(wide->code() == Errc::type_mismatch);
  CHECK(wide->detail().find("cell (2, 2)") != std::string::npos);
  // What does not fit outside of the region is none of its business.
  CHECK(test::list(m.read_csr<std::uint8_t>({{2, 3}, {3, 6}}).values).empty());
  CHECK(test::list(m.read_csr<std::uint8_t>({{0, 1}, {0, 8}}).values) ==
        std::vector<std::uint8_t>{1, 1});
}

TEST_CASE("read_csr: a value that does not fit its declared type is corrupt where it is read") {
  const test::TempDir dir;
  const Matrix m =
      matrix_of(dir, Image::matrix(2, 4, ValueType::u8, 2)
                         .csr<std::int32_t>({0, 0}, 4, {{{1, 1}, {3, 256}}, {{2, 7}}}));
  const auto error = error_of([&] { m.read_csr<std::int32_t>({{0, 2}, {0, 4}}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
  CHECK(error->detail() == "256 in cell (0, 3) does not fit u8 (R6)");
  CHECK(test::list(m.read_csr<std::int32_t>({{0, 2}, {0, 3}}).values) ==
        std::vector<std::int32_t>{1, 7});
  CHECK(test::list(m.read_csr<std::uint8_t>({{0, 2}, {0, 3}}).values) ==
        std::vector<std::uint8_t>{1, 7});
}

TEST_CASE("read_csr: absent cells are an error, or empty rows") {
  const test::TempDir dir;
  Image image = Image::matrix(9, 4, ValueType::f64, 2);
  image.csr<double>({2, 0}, 2, {{{1, 1}}, {{0, 2}}}).coo<double>({6, 1}, 2, 3, {{1, 0, 3}});
  const Matrix m = matrix_of(dir, image);
  const auto error = error_of([&] { m.read_csr<double>({{0, 9}, {0, 4}}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::absent);
  const auto csr = m.read_csr<double>({{1, 9}, {0, 4}}, {.absent = Absent::zero});
  CHECK(test::list(csr.row_ptr) == Words{0, 0, 1, 2, 2, 2, 2, 3, 3});
  CHECK(test::list(csr.col_idx) == Words{1, 0, 1});
  CHECK(test::list(m.read_csr<double>({{3, 3}, {0, 4}}).row_ptr) == Words{0});
}

TEST_CASE("read_csr: more rows than there are numbers for pointers to them are refused") {
  const test::TempDir dir;
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const std::uint64_t cols : {0u, 3u}) {
    const Matrix m = matrix_of(dir, Image::matrix(kMost, cols, ValueType::f64));
    const auto error = error_of([&] {
      m.read_csr<double>({{0, kMost}, {0, cols}}, {.absent = Absent::zero});
    });
    REQUIRE(error);
    CHECK(error->code() == Errc::no_memory);
    CHECK(error->detail() ==
          "18446744073709551615 x " + std::to_string(cols) + " cells do not fit in memory");
  }
}

TEST_CASE("read_csr: columns that do not fit 32 bits are refused, those that do are not") {
  const test::TempDir dir;
  const std::uint64_t most = std::uint64_t{1} << 32;
  const auto path = dir / "wide.dbdf";
  auto w = MatrixWriter::create(path, 1, most + 1, ValueType::u8,
                                {.tile = TileShape{1, std::uint32_t{1} << 31}}, Storage::csr);
  w.finish();
  const Matrix m = Matrix::open(path);
  const auto error = error_of([&] {
    (m.read_csr<double, std::uint32_t>({{0, 1}, {0, most + 1}}));
  });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  const auto narrow = m.read_csr<double, std::uint32_t>({{0, 1}, {1, most + 1}});
  CHECK(narrow.row_ptr[1] == 0);
  Csr<double, std::uint32_t> rows;
  const std::vector<std::uint64_t> list{0};
  CHECK(error_of([&] { gather_csr(m, std::span(list), rows); })->code() == Errc::invalid_argument);
}
