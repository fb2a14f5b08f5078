// Which parts of something are there: as a set of single numbers says.

#include <cstdint>
#include <random>
#include <set>

#include "lib/io/range_set.h"
#include "tests/check.h"

using dapple::Range;
using dapple::detail::RangeSet;

TEST_CASE("range set: what is missing is what was never added, in as few ranges as can be") {
  std::mt19937 random(11);
  for (int turn = 0; turn < 200; ++turn) {
    RangeSet set;
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t begin = random() % 40;
      const Range range{begin, begin + 1 + random() % 8};
      set.add(range);
      for (std::uint64_t n = range.begin; n < range.end; ++n) numbers.insert(n);
      const std::uint64_t first = random() % 50;
      const Range asked{first, first + random() % 12};
      std::set<std::uint64_t> missing;
      std::uint64_t after = 0;
      for (const Range& gap : set.missing(asked)) {
        CHECK(gap.begin >= asked.begin);
        CHECK(gap.end <= asked.end);
        CHECK((missing.empty() || gap.begin > after));  // ascending, and not touching
        for (std::uint64_t n = gap.begin; n < gap.end; ++n) missing.insert(n);
        after = gap.end;
      }
      for (std::uint64_t n = asked.begin; n < asked.end; ++n) {
        CHECK(missing.contains(n) != numbers.contains(n));
      }
    }
  }
}
