// Products and statistics of whole objects, held against loops over single cells that the
// reference reader found. Partitions of every shape, blocks of every kind and type.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/partition.h"
#include "tests/reference.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;
using test::Rng;
using test::rounded_number;

namespace {

template <class F>
std::optional<Errc> code_of(F&& f) {
  const auto error = test::error_of(f);
  return error ? std::optional(error->code()) : std::nullopt;
}

/// What the statistics of these cells are, one after the other.
struct Naive {
  std::uint64_t count = 0, nnz = 0, nans = 0;
  double min = std::numeric_limits<double>::infinity(), max = -min;
  long double sum = 0, squares = 0, magnitude = 0;

  void add(double v) {
    ++count;
    if (std::isnan(v)) {
      ++nans;
      return;
    }
    if (v != 0) ++nnz;
    min = std::min(min, v);
    max = std::max(max, v);
    sum += v;
    squares += static_cast<long double>(v) * v;
    magnitude += std::fabs(v);
  }
};

bool near(double got, long double want, long double magnitude) {
  if (std::isnan(got) || std::isinf(got)) {
    // A sum may overflow, or meet two infinities, sooner or later.
    return !std::isfinite(static_cast<double>(want)) || magnitude > 1e300L;
  }
  return std::fabs(static_cast<long double>(got) - want) <= magnitude * 1e-12L + 1e-300L;
}

void require_same(const Stats& got, const Naive& want) {
  CHECK(got.count == want.count);
  CHECK(got.nnz == want.nnz);
  CHECK(got.nans == want.nans);
  if (want.count == want.nans) {
    CHECK(std::isnan(got.min));
    CHECK(std::isnan(got.max));
  } else {
    CHECK(got.min == want.min);
    CHECK(got.max == want.max);
  }
  CHECK(near(got.sum, want.sum, want.magnitude));
  CHECK(near(got.sum_squares, want.squares, want.squares));
}

void require_stats(const BlockedObject& object, const reference::Object& cells, unsigned threads) {
  Naive all;
  std::vector<Naive> rows(object.rows()), cols(object.cols());
  for (std::uint64_t r = 0; r < object.rows(); ++r) {
    for (std::uint64_t c = 0; c < object.cols(); ++c) {
      const double v = rounded_number(cells, r, c);
      all.add(v);
      rows[r].add(v);
      cols[c].add(v);
    }
  }
  const ReadOptions options{Absent::zero, threads};
  require_same(matrix_stats(object, options), all);
  const auto row = row_stats(object, options), col = column_stats(object, options);
  REQUIRE(row.size() == rows.size());
  REQUIRE(col.size() == cols.size());
  for (std::size_t i = 0; i < rows.size(); ++i) require_same(row[i], rows[i]);
  for (std::size_t i = 0; i < cols.size(); ++i) require_same(col[i], cols[i]);
}

void require_product(const Matrix& m, const reference::Object& cells, std::size_t k,
                     bool transposed, unsigned threads, Rng& rng) {
  const std::uint64_t from = transposed ? m.rows() : m.cols(),
                      to = transposed ? m.cols() : m.rows();
  std::vector<double> x(from * k), y(to * k, 17.0);
  for (double& v : x) v = static_cast<double>(rng.below(17)) - 8;
  if (rng.chance(20) && !x.empty()) x[rng.below(x.size())] = INFINITY;
  const ReadOptions options{Absent::zero, threads};
  if (transposed) {
    multiply_transposed(m, x, y, k, options);
  } else {
    multiply(m, x, y, k, options);
  }
  for (std::uint64_t i = 0; i < to; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      long double sum = 0, magnitude = 0;
      for (std::uint64_t l = 0; l < from; ++l) {
        const double v = transposed ? rounded_number(cells, l, i) : rounded_number(cells, i, l);
        if (v == 0) continue;
        sum += static_cast<long double>(v) * x[l * k + j];
        magnitude += std::fabs(static_cast<long double>(v) * x[l * k + j]);
      }
      CAPTURE(i);
      CAPTURE(j);
      CHECK(near(y[i * k + j], sum, magnitude));
    }
  }
}

}  // namespace

TEST_CASE("compute: statistics and products are those of the cells, whatever the blocks are") {
  Rng rng(20261125);
  const test::TempDir dir;
  for (int round = 0; round < 12; ++round) {
    for (const test::Partition& partition : test::partitions(rng, 5 + rng.below(40))) {
      const ValueType type = kValueTypes[rng.below(kValueTypes.size())];
      CAPTURE(partition.name);
      CAPTURE(name(type));
      const Image image = test::random_matrix(rng, partition, type);
      const auto path = dir.write("m.dbdf", image.bytes());
      const reference::Object cells = reference::read(image.bytes());
      if (rng.chance(50)) write_sidecar(path, {}, {.statistics = true});
      const Matrix m = Matrix::open(path);
      const unsigned threads = rng.chance(50) ? 1 : 3;
      require_stats(m, cells, threads);
      require_product(m, cells, rng.chance(50) ? 1 : rng.between(1, 43), false, threads, rng);
      require_product(m, cells, rng.chance(50) ? 1 : rng.between(1, 43), true, threads, rng);
    }
  }
}

TEST_CASE("compute: statistics of frames take each column as its own type") {
  Rng rng(7);
  const test::TempDir dir;
  for (int round = 0; round < 20; ++round) {
    for (const test::Partition& partition : test::partitions(rng, 9)) {
      const Image image = test::random_frame(rng, partition);
      const auto path = dir.write("f.dbdf", image.bytes());
      if (rng.chance(50)) write_sidecar(path, {}, {.statistics = true});
      require_stats(Frame::open(path), reference::read(image.bytes()), 1);
    }
  }
}

TEST_CASE("compute: sums of integers are exact") {
  const test::TempDir dir;
  const std::int64_t big = std::int64_t{1} << 53;
  const auto path = dir.write("m.dbdf", Image::matrix(2, 2, ValueType::i64)
                                            .dense<std::int64_t>({0, 0}, 2, 2, {big, 1, 1, -big})
                                            .bytes());
  const Stats s = matrix_stats(Matrix::open(path));
  CHECK(s.sum == 2);
  CHECK(s.min == -0x1p53);
  CHECK(s.max == 0x1p53);
  CHECK(column_stats(Matrix::open(path))[1].sum == 1.0 - 0x1p53);
}

TEST_CASE("compute: minimum, maximum and mean of 64-bit integers are known to the last digit") {
  const test::TempDir dir;
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min() + 1;
  const auto path =
      dir.write("i.dbdf", Image::matrix(3, 2, ValueType::i64)
                              .dense<std::int64_t>({0, 0}, 3, 2, {kLeast, -3, kLeast, 0, -7, -1})
                              .bytes());
  const auto columns = column_stats(Matrix::open(path));
  REQUIRE((columns[0].exact && columns[1].exact));
  CHECK(static_cast<std::int64_t>(columns[0].exact->min) == kLeast);
  CHECK(static_cast<std::int64_t>(columns[0].exact->max) == -7);
  CHECK(static_cast<std::int64_t>(columns[0].exact->mean) == kLeast / 3 * 2 - 3);
  CHECK(static_cast<std::int64_t>(columns[1].exact->mean) == -1);
  CHECK(columns[1].exact->max == 0);
  const auto all = matrix_stats(Matrix::open(path)).exact;
  REQUIRE(all);
  CHECK(static_cast<std::int64_t>(all->min) == kLeast);
  CHECK(all->max == 0);

  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto u64 = dir.write("u.dbdf", Image::matrix(1, 2, ValueType::u64)
                                           .dense<std::uint64_t>({0, 0}, 1, 2, {kMost - 1, kMost})
                                           .bytes());
  const auto unsigned_stats = row_stats(Matrix::open(u64))[0].exact;
  REQUIRE(unsigned_stats);
  CHECK(unsigned_stats->min == kMost - 1);
  CHECK(unsigned_stats->max == kMost);
  CHECK(unsigned_stats->mean == kMost);

  const auto f64 = dir.write(
      "f.dbdf", Image::matrix(1, 2, ValueType::f64).dense<double>({0, 0}, 1, 2, {1, 2}).bytes());
  CHECK_FALSE(matrix_stats(Matrix::open(f64)).exact);
}

TEST_CASE("compute: mean and variance of a column") {
  const test::TempDir dir;
  const auto path = dir.write(
      "m.dbdf",
      Image::matrix(4, 1, ValueType::f32).dense<float>({0, 0}, 4, 1, {1, 2, NAN, 6}).bytes());
  const Stats s = column_stats(Matrix::open(path))[0];
  CHECK(s.mean() == 3);
  CHECK(s.variance() == doctest::Approx(14.0 / 3));
}

TEST_CASE("compute: equal cells have no variance, however large they are") {
  const test::TempDir dir;
  const auto path = dir.write(
      "m.dbdf", Image::matrix(3, 1, ValueType::u32)
                    .dense<std::uint32_t>({0, 0}, 3, 1, {4294967291, 4294967291, 4294967291})
                    .bytes());
  CHECK(matrix_stats(Matrix::open(path)).variance() == 0);
  CHECK(column_stats(Matrix::open(path))[0].variance() == 0);
  const auto far = dir.write(
      "i.dbdf",
      Image::matrix(1, 1, ValueType::f64).dense<double>({0, 0}, 1, 1, {INFINITY}).bytes());
  CHECK(std::isnan(matrix_stats(Matrix::open(far)).variance()));
}

TEST_CASE("compute: products refuse short and overlapping arrays") {
  const test::TempDir dir;
  const auto path = dir.write("m.dbdf", Image::matrix(3, 2, ValueType::u8)
                                            .dense<std::uint8_t>({0, 0}, 3, 2, {1, 2, 3, 4, 5, 6})
                                            .bytes());
  const Matrix m = Matrix::open(path);
  std::vector<double> memory(9, 1.0);
  const std::span<double> all(memory);
  CHECK(code_of([&] { multiply(m, all.first(1), all.last(3)); }) == Errc::invalid_argument);
  CHECK(code_of([&] { multiply(m, all.first(2), all.last(2)); }) == Errc::invalid_argument);
  CHECK(code_of([&] { multiply(m, all.first(2), all.subspan(1)); }) == Errc::invalid_argument);
  CHECK(code_of([&] { multiply(m, all, all, SIZE_MAX); }) == Errc::invalid_argument);
  multiply(m, all.first(2), all.subspan(2));
  CHECK(memory[4] == 11);
}

TEST_CASE("compute: absent cells are an error unless zeros are asked for") {
  const test::TempDir dir;
  const auto path = dir.write(
      "m.dbdf",
      Image::matrix(2, 2, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, 2, {1, 2}).bytes());
  const Matrix m = Matrix::open(path);
  std::vector<double> x(2, 1.0), y(2);
  CHECK(code_of([&] { matrix_stats(m); }) == Errc::absent);
  CHECK(code_of([&] { multiply(m, x, y); }) == Errc::absent);
  multiply(m, x, y, 1, {Absent::zero});
  CHECK(y[0] == 3);
  CHECK(y[1] == 0);
}

TEST_CASE("compute: a column index outside its block is an error and nothing is written there") {
  const test::TempDir dir;
  for (const std::uint32_t col : {4U, 5U, 0x80000000U, 0xffffffffU}) {
    for (const std::size_t at : {0U, 2U, 3U, 4U, 5U}) {
      std::vector<std::pair<std::uint32_t, std::uint8_t>> row;
      for (std::uint32_t c = 0; c < 4; ++c) row.emplace_back(c, std::uint8_t{1});
      row.insert(row.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(at, row.size())),
                 {col, 1});
      const auto path = dir.write(
          "m.dbdf", Image::matrix(1, 4, ValueType::u8).csr<std::uint8_t>({0, 0}, 4, {row}).bytes());
      const Matrix m = Matrix::open(path);
      std::vector<double> x(4, 1.0), y(4);
      CHECK(code_of([&] { multiply(m, x, y); }) == Errc::corrupt);
      CHECK(code_of([&] { multiply_transposed(m, x, y); }) == Errc::corrupt);
      CHECK(code_of([&] { column_stats(m); }) == Errc::corrupt);
      CHECK(code_of([&] { row_stats(m); }) == Errc::corrupt);
    }
  }
}
