// Working space for the entries of a coordinate file: in memory and in a file, however wide they
// are.

#include <algorithm>
#include <vector>

#include "lib/foreign/mtx/mtx_records.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail::mtx;

namespace {

bool same(const Record& a, const Record& b) {
  return a.row == b.row && a.col == b.col && a.bits == b.bits;
}

/// Puts records of several strips in turn, and reads them.
void check_strips(const Header& header, unsigned shift, std::uint64_t most, test::Rng& rng) {
  const std::uint64_t strips = 5;
  StripRecords all(detail::mtx::Packing(header, shift), strips, most);
  std::vector<std::vector<Record>> expected(strips);
  for (int i = 0; i < 9000; ++i) {
    const std::uint64_t strip = rng.between(0, 3);  // the last one stays empty
    const Record record{static_cast<std::uint32_t>(rng.between(0, (std::uint64_t{1} << shift) - 1)),
                        static_cast<std::uint32_t>(rng.between(0, header.cols - 1)),
                        header.pattern ? 1 : rng.bits()};
    expected[strip].push_back(record);
    all.put(strip, record);
  }
  for (std::uint64_t strip = 0; strip < strips; ++strip) {
    std::vector<Record>& records = expected[strip];
    std::vector<Record> read;
    all.read(strip, read);
    CHECK(std::equal(read.begin(), read.end(), records.begin(), records.end(), same));
  }
}

}  // namespace

TEST_CASE("mtx records: of every width, in memory and in a file") {
  test::Rng rng(31);
  for (const std::uint64_t most : {std::uint64_t{9000}, std::uint64_t{100'000'000}}) {
    for (const bool pattern : {false, true}) {
      Header header;
      header.pattern = pattern;
      for (const std::uint64_t cols : {1ULL, 7ULL, 1ULL << 20, (1ULL << 20) + 1, 4294967295ULL}) {
        header.cols = cols;
        CAPTURE(cols);
        for (const unsigned shift : {0U, 12U, 32U}) check_strips(header, shift, most, rng);
      }
    }
  }
}
