// Searches of whole matrices, held against loops over single cells that the reference reader found.
// Partitions of every shape, blocks of every kind and type.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/partition.h"
#include "tests/reference.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::exact_number;
using test::Image;
using test::Rng;

namespace {

struct Asked {
  Condition condition;
  std::function<bool(long double)> holds;
};

/// A condition whose bounds are values of the matrix, near to them, or far from all.
Asked random_condition(Rng& rng, double near) {
  double low = near + (rng.chance(50) ? 0 : 0.5);
  if (rng.chance(10)) low = rng.chance(50) ? -INFINITY : 300;
  const double high = low + static_cast<double>(rng.below(9));
  switch (rng.below(7)) {
    case 0:
      return {Condition::above(low), [=](long double v) { return v > low; }};
    case 1:
      return {Condition::at_least(low), [=](long double v) { return v >= low; }};
    case 2:
      return {Condition::below(low), [=](long double v) { return v < low; }};
    case 3:
      return {Condition::at_most(low), [=](long double v) { return v <= low; }};
    case 4:
      return {Condition::equal(low), [=](long double v) { return v == low; }};
    case 5:
      return {Condition::between(low, high), [=](long double v) { return v >= low && v <= high; }};
    default:
      return {Condition::nan(), [](long double v) { return std::isnan(v); }};
  }
}

template <class T>
void require_found(const Matrix& m, const reference::Object& cells, const Asked& asked,
                   const WhereOptions& options) {
  using Cells = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  Cells want, got;
  std::vector<std::uint8_t> mask(m.rows());
  for (std::uint64_t r = 0; r < m.rows(); ++r) {
    for (std::uint64_t c = 0; c < m.cols(); ++c) {
      const long double v = exact_number(cells, r, c);
      if (!asked.holds(v) || (options.nonzero && v == 0)) continue;
      want.emplace_back(r, c);
      mask[r] = 1;
    }
  }
  where<T>(
      m, asked.condition,
      [&](std::span<const Hit<T>> hits) {
        for (const Hit<T>& hit : hits) {
          got.emplace_back(hit.row, hit.col);
          const long double v = exact_number(cells, hit.row, hit.col);
          CHECK((static_cast<long double>(hit.value) == v || std::isnan(v)));
        }
      },
      options);
  std::sort(got.begin(), got.end());
  CHECK(got == want);
  CHECK(count_where(m, asked.condition, options) == want.size());
  CHECK(rows_where(m, asked.condition, options) == mask);
  // What is skipped holds no match.
  for (const BlockVerdict& verdict : explain_where(m, asked.condition, options)) {
    if (verdict.skipped == Skipped::no) continue;
    const BlockInfo block = m.block(verdict.pos).info();
    CHECK(std::none_of(want.begin(), want.end(), [&](const auto& cell) {
      return block.cells().contains(cell.first, cell.second);
    }));
  }
}

}  // namespace

TEST_CASE("where: it finds the cells that a loop over all of them finds") {
  Rng rng(4711);
  const test::TempDir dir;
  for (int round = 0; round < 12; ++round) {
    for (const test::Partition& partition : test::partitions(rng, 5 + rng.below(20))) {
      const ValueType type = kValueTypes[rng.below(kValueTypes.size())];
      const Image image = test::random_matrix(rng, partition, type);
      const auto path = dir.write("m.dbdf", image.bytes());
      const reference::Object cells = reference::read(image.bytes());
      if (rng.chance(50)) write_sidecar(path, {}, {.statistics = true});
      const Matrix m = Matrix::open(path);
      if (m.rows() == 0 || m.cols() == 0) continue;
      for (int i = 0; i < 8; ++i) {
        const double near =
            rng.chance(30) ? 0
                           : test::rounded_number(cells, rng.below(m.rows()), rng.below(m.cols()));
        const Asked asked = random_condition(rng, near);
        CAPTURE(partition.name);
        CAPTURE(name(type));
        CAPTURE(near);
        const WhereOptions options{Absent::zero, rng.chance(50) ? 1U : 3U, rng.chance(50)};
        visit_type(type, [&](auto tag) { require_found<decltype(tag)>(m, cells, asked, options); });
      }
    }
  }
}

TEST_CASE("where: bounds of 64 bits are compared exactly") {
  const test::TempDir dir;
  const std::uint64_t big = (std::uint64_t{1} << 63) + 1;
  const auto path = dir.write("m.dbdf", Image::matrix(1, 3, ValueType::u64)
                                            .dense<std::uint64_t>({0, 0}, 1, 3, {big - 1, big, 3})
                                            .bytes());
  const Matrix m = Matrix::open(path);
  CHECK(count_where(m, Condition::above(0x1p63)) == 1);
  CHECK(count_where(m, Condition::equal(big)) == 1);
  CHECK(count_where(m, Condition::at_least(big)) == 1);
  CHECK(count_where(m, Condition::below(big)) == 2);
  CHECK(count_where(m, Condition::below(-0.5)) == 0);
  CHECK(count_where(m, Condition::above(std::int64_t{-1})) == 3);
  CHECK(count_where(m, Condition::at_most(1e300)) == 3);
  CHECK(count_where(m, Condition::between(std::int64_t{-1}, big - 1)) == 2);
  CHECK(count_where(m, Condition::between(2.5, big)) == 3);
  CHECK(count_where(m, Condition::equal(double{NAN})) == 0);
}

TEST_CASE("where: bounds between two values of f32 are no value of f32") {
  const test::TempDir dir;
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float most = std::numeric_limits<float>::max();
  const std::vector<float> cells{-inf, -most, -0.1F, -0.0F, 1e-45F, 0.1F, most, inf, NAN};
  const auto path = dir.write(
      "m.dbdf", Image::matrix(1, 9, ValueType::f32).dense<float>({0, 0}, 1, 9, cells).bytes());
  const Matrix m = Matrix::open(path);
  const double tenth = 0.1F;  // 0.1 rounded up
  for (const double bound : {-1e300, -0.1, -1e-50, 0.0, 1e-50, 0.1, tenth, 1e300, double{inf}}) {
    std::uint64_t above = 0, at_least = 0, below = 0, at_most = 0;
    for (const double cell : cells) {
      above += cell > bound ? 1 : 0;
      at_least += cell >= bound ? 1 : 0;
      below += cell < bound ? 1 : 0;
      at_most += cell <= bound ? 1 : 0;
    }
    CAPTURE(bound);
    CHECK(count_where(m, Condition::above(bound)) == above);
    CHECK(count_where(m, Condition::at_least(bound)) == at_least);
    CHECK(count_where(m, Condition::below(bound)) == below);
    CHECK(count_where(m, Condition::at_most(bound)) == at_most);
  }
}

TEST_CASE("where: a long row of small integers is counted whole") {
  const test::TempDir dir;
  constexpr std::uint32_t n = 200'000;
  const auto check = [&](auto one, ValueType type) {
    const std::vector<decltype(one)> cells(n, one);
    const auto path =
        dir.write("m.dbdf", Image::matrix(1, n, type).dense({0, 0}, 1, n, cells).bytes());
    CHECK(count_where(Matrix::open(path), Condition::equal(1)) == n);
  };
  check(std::uint8_t{1}, ValueType::u8);
  check(std::int16_t{1}, ValueType::i16);
}

TEST_CASE("where: blocks that cannot hold a match are not read") {
  const test::TempDir dir;
  const auto path = dir.write("m.dbdf", Image::matrix(3, 2, ValueType::i32)
                                            .dense<std::int32_t>({0, 0}, 1, 2, {1, 1000})
                                            .dense<std::uint8_t>({1, 0}, 1, 2, {1, 2})
                                            .empty({2, 0}, 1, 2)
                                            .bytes());
  const Matrix m = Matrix::open(path);
  const auto verdicts = explain_where(m, Condition::above(300));
  REQUIRE(verdicts.size() == 3);
  CHECK(verdicts[0].skipped == Skipped::no);
  CHECK(verdicts[1].skipped == Skipped::value_type);
  CHECK(verdicts[2].skipped == Skipped::empty);
  CHECK(explain_where(m, Condition::below(300))[2].skipped == Skipped::no);
}
