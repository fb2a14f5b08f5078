// Blocks as three arrays. That every kind, type and order gives the right cells is part of the
// comparison with the reference reader (compare.cpp); here is what cells do not show.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Image;

namespace {

using Columns = std::vector<std::uint32_t>;
using Pointers = std::vector<std::uint64_t>;

Matrix matrix_of(const test::TempDir& dir, const Image& image) {
  return Matrix::open(dir.write("m.dbdf", image.bytes()));
}

}  // namespace

TEST_CASE("csr: rows out of order are sorted, and explicit zeros are entries") {
  const test::TempDir dir;
  Image image = Image::matrix(4, 9, ValueType::i32, 2);
  image.csr<std::int32_t>({0, 0}, 9, {{{8, -1}, {0, 2}, {5, 0}}, {}, {{4, 3}}, {}});
  const Matrix m = matrix_of(dir, image);
  const auto csr = m.block({0, 0}).to_csr<std::int32_t>();
  CHECK(test::list(csr.row_ptr) == Pointers{0, 3, 3, 4, 4});
  CHECK(test::list(csr.col_idx) == Columns{0, 5, 8, 4});
  CHECK(test::list(csr.values) == std::vector<std::int32_t>{2, 0, -1, 3});
}

TEST_CASE("csr: a COO block gives rows, whatever its order") {
  const test::TempDir dir;
  Image image = Image::matrix(5, 3, ValueType::f32);
  image.coo<float>({0, 0}, 5, 3, {{3, 1, 2.5F}, {0, 0, -0.0F}, {3, 0, 0.0F}, {1, 2, 1e30F}});
  const Matrix m = matrix_of(dir, image);
  const auto csr = m.block({0, 0}).to_csr<double>();
  CHECK(test::list(csr.row_ptr) == Pointers{0, 1, 2, 2, 4, 4});
  CHECK(test::list(csr.col_idx) == Columns{0, 2, 0, 1});
  CHECK(test::list(csr.values) == std::vector<double>{-0.0, 1e30F, 0, 2.5});
}

TEST_CASE("csr: dense and empty blocks give the cells that are not positive zero") {
  const test::TempDir dir;
  Image image = Image::matrix(2, 6, ValueType::f64);
  image.dense<double>({0, 0}, 2, 3, {0, 1.5, -0.0, 0, 0, 7}).empty({0, 3}, 2, 3);
  const Matrix m = matrix_of(dir, image);
  const auto dense = m.block({0, 0}).to_csr<double>();
  CHECK(test::list(dense.row_ptr) == Pointers{0, 2, 3});
  CHECK(test::list(dense.col_idx) == Columns{1, 2, 2});
  CHECK(test::list(dense.values) == std::vector<double>{1.5, 0, 7});
  const auto empty = m.block({0, 3}).to_csr<double>();
  CHECK(test::list(empty.row_ptr) == Pointers{0, 0, 0});
  CHECK(empty.values.empty());
}

TEST_CASE("csr: a block larger than the caches, rows of all lengths") {
  constexpr std::uint32_t kCols = 4000;
  constexpr std::uint64_t kLarge = 3'500'000;  // entries of 5 bytes
  test::Rng rng(40);
  constexpr std::uint32_t kLengths[] = {0, 1, 15, 16, 17, 300, 511, 512, 513, 1000, kCols};
  std::vector<std::vector<std::pair<std::uint32_t, std::uint8_t>>> rows;
  Pointers row_ptr{0};
  Columns col_idx;
  std::vector<std::uint8_t> values;
  while (values.size() < kLarge) {
    const std::uint32_t length = kLengths[rng.below(std::size(kLengths))];
    auto& row = rows.emplace_back();
    for (std::uint32_t i = 0; i < length; ++i) {
      row.push_back({i * (kCols / length), static_cast<std::uint8_t>(rng.bits())});
      col_idx.push_back(row.back().first);
      values.push_back(row.back().second);
    }
    row_ptr.push_back(values.size());
    if (length > 1 && rng.chance(10)) std::swap(row.front(), row.back());
  }
  const test::TempDir dir;
  Image image = Image::matrix(rows.size(), kCols, ValueType::u8);
  image.csr<std::uint8_t>({0, 0}, kCols, rows);
  const Matrix m = matrix_of(dir, image);
  const auto as_stored = m.block({0, 0}).to_csr<std::uint8_t>();
  CHECK(test::list(as_stored.row_ptr) == row_ptr);
  CHECK(test::list(as_stored.col_idx) == col_idx);
  CHECK(test::list(as_stored.values) == values);
  const auto wide = m.block({0, 0}).to_csr<float>();
  CHECK(test::list(wide.col_idx) == col_idx);
  CHECK(std::equal(values.begin(), values.end(), wide.values.begin(), wide.values.end()));
}

TEST_CASE("csr: the caller's arrays are used again when they are large enough") {
  const test::TempDir dir;
  Image image = Image::matrix(3, 4, ValueType::i64);
  image.csr<std::int64_t>({0, 0}, 2, {{{0, 1}, {1, 2}}, {{1, 3}}, {}});
  image.csr<std::int64_t>({0, 2}, 2, {{}, {{0, 9}}, {}});
  const Matrix m = matrix_of(dir, image);
  Csr<std::int64_t, std::uint32_t> csr;
  m.block({0, 0}).to_csr(csr);
  const auto* const values = csr.values.data();
  CHECK(test::list(csr.values) == std::vector<std::int64_t>{1, 2, 3});
  m.block({0, 2}).to_csr(csr);
  CHECK(csr.values.data() == values);
  CHECK(test::list(csr.values) == std::vector<std::int64_t>{9});
  CHECK(test::list(csr.row_ptr) == Pointers{0, 0, 1, 1});
}

TEST_CASE("csr: what breaks R5 or R6 is an error that names its byte") {
  const test::TempDir dir;
  const auto error = [&](const Image& image) {
    const Matrix matrix = matrix_of(dir, image);
    return error_of([&] { matrix.block({0, 0}).to_csr<std::int8_t>(); });
  };
  const auto rows = [](const std::vector<std::vector<std::pair<std::uint32_t, std::int16_t>>>& r) {
    return Image::matrix(2, 3, ValueType::i16).csr<std::int16_t>({0, 0}, 3, r);
  };
  CHECK(!error(rows({{{1, 5}}, {{0, -128}}})));
  const auto column = error(rows({{{1, 5}, {3, 5}}, {}}));
  REQUIRE(column);
  CHECK(column->detail() == "column 3 is outside a block of 3 columns (R5)");
  CHECK(column->offset() == 19 + 16 + 18 + 4 + 6);
  const auto twice = error(rows({{}, {{2, 1}, {1, 1}, {2, 4}}}));
  REQUIRE(twice);
  CHECK(twice->detail() == "block (0, 0) stores its cell (1, 2) twice (R5)");
  const auto wide = error(rows({{{0, 1}, {1, 128}}, {}}));
  REQUIRE(wide);
  CHECK(wide->code() == Errc::type_mismatch);
  CHECK(!wide->offset());  // the file is sound
  Image counts = rows({{{1, 5}}, {{0, 1}}});
  counts.patch(19 + 16 + 18, std::uint32_t{3});
  REQUIRE(error(counts));
  CHECK(error(counts)->code() == Errc::corrupt);
}

TEST_CASE("csr: arrays can be copied, moved and filled again") {
  Array<int> a(3);
  std::fill(a.begin(), a.end(), 7);
  Array<int> b = a;
  b[1] = 8;
  CHECK(test::list(a) == std::vector<int>{7, 7, 7});
  CHECK(test::list(b) == std::vector<int>{7, 8, 7});
  const int* const memory = b.data();
  a = std::move(b);
  CHECK(a.data() == memory);
  a.reset(2);
  CHECK(a.data() == memory);
  CHECK(a.size() == 2);
  CHECK_THROWS_AS(a.reset(~std::size_t{0} / 2), std::bad_alloc);
  Array<double> large(std::size_t{1} << 21);  // in large pages, where the system has them
  std::fill(large.begin(), large.end(), 0.5);
  CHECK(std::count(large.begin(), large.end(), 0.5) == std::ptrdiff_t{1} << 21);
}
