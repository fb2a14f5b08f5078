#include <limits>

#include "dapple/region.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {
constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
}

TEST_CASE("region: a range is half-open, and a backward one is empty") {
  const Range r{3, 7};
  CHECK(r.size() == 4);
  CHECK(!r.empty());
  CHECK(r.contains(3));
  CHECK(r.contains(6));
  CHECK(!r.contains(7));
  CHECK(!r.contains(2));
  CHECK(Range{5, 5}.empty());
  CHECK(Range{7, 3}.empty());
  CHECK(Range{7, 3}.size() == 0);
  CHECK(Range{0, kMax}.size() == kMax);
  CHECK(Range{kMax - 1, kMax}.contains(kMax - 1));
}

TEST_CASE("region: a range contains another when both its ends lie inside") {
  CHECK(Range{0, 9}.contains(Range{0, 9}));
  CHECK(Range{0, 9}.contains(Range{3, 3}));
  CHECK(!Range{0, 9}.contains(Range{3, 10}));
  CHECK(!Range{1, 9}.contains(Range{0, 5}));
}

TEST_CASE("region: two regions share exactly the cells that both contain") {
  test::Rng rng(2);
  for (int round = 0; round < 500; ++round) {
    const auto range = [&] {
      const std::uint64_t begin = rng.below(6);
      return Range{begin, begin + rng.below(5)};
    };
    const Region a{range(), range()}, b{range(), range()};
    const Region both = intersect(a, b);
    std::uint64_t shared = 0;
    for (std::uint64_t row = 0; row < 12; ++row) {
      for (std::uint64_t col = 0; col < 12; ++col) {
        const bool in_both = a.contains(row, col) && b.contains(row, col);
        CHECK(both.contains(row, col) == in_both);
        shared += in_both ? 1 : 0;
      }
    }
    CHECK(both.empty() == (shared == 0));
    CHECK(both.rows.size() * both.cols.size() == shared);
  }
}

TEST_CASE("region: positions are ordered by row, then by column") {
  CHECK(BlockPos{0, 5} < BlockPos{1, 0});
  CHECK(BlockPos{1, 0} < BlockPos{1, 1});
  CHECK(BlockPos{1, 1} == BlockPos{1, 1});
}
