// Working space for the entries of a coordinate file: in memory and in a file, however wide they
// are.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "dapple/error.h"
#include "lib/foreign/mtx/mtx_records.h"
#include "lib/io/local/local_file.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail::mtx;

namespace {

bool same(const Record& a, const Record& b) {
  return a.row == b.row && a.col == b.col && a.bits == b.bits;
}

/// Puts records of several strips in turn, reads them, and writes them back in another order.
void check_strips(const Header& header, unsigned shift, std::uint64_t most, test::Rng& rng) {
  const test::TempDir dir;
  const auto file = detail::LocalFile::open(dir.write("any.mtx", {}));
  const Text text(*file);
  const std::uint64_t strips = 5;
  StripRecords all(text, detail::mtx::Packing(header, shift), strips, most);
  std::vector<std::vector<Record>> expected(strips);
  for (int i = 0; i < 9000; ++i) {
    const std::uint64_t strip = rng.between(0, 3);  // the last one stays empty
    const Record record{static_cast<std::uint32_t>(rng.between(0, (std::uint64_t{1} << shift) - 1)),
                        static_cast<std::uint32_t>(rng.between(0, header.cols - 1)),
                        header.pattern ? 1 : rng.bits()};
    expected[strip].push_back(record);
    all.put(strip, record);
  }
  all.finish();
  for (std::uint64_t strip = 0; strip < strips; ++strip) {
    std::vector<Record>& records = expected[strip];
    std::vector<Record> read;
    all.read(strip, read);
    CHECK(std::equal(read.begin(), read.end(), records.begin(), records.end(), same));
    std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
      return a.row != b.row ? a.row < b.row : a.col < b.col;
    });
    all.write(strip, records);
  }
  for (std::uint64_t strip = 0; strip < strips; ++strip) {
    const Records records = all.of(strip);
    REQUIRE(records.size() == expected[strip].size());
    bool right = true;
    for (std::uint64_t i = 0; i < records.size(); ++i) {
      right = right && same(records[i], expected[strip][i]);
    }
    CHECK(right);
    const std::uint64_t from = records.size() / 3, to = records.size() - records.size() / 5;
    std::uint64_t next = from;
    records.for_each(from, to, [&](const Record& record) {
      right = right && same(record, expected[strip][next++]);
    });
    CHECK((right && next == to));
    const std::uint64_t row = (std::uint64_t{1} << shift) / 2;
    const auto below = std::find_if(expected[strip].begin(), expected[strip].end(),
                                    [&](const Record& r) { return r.row >= row; });
    CHECK(records.find_row(row) == static_cast<std::uint64_t>(below - expected[strip].begin()));
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

TEST_CASE("mtx records: more than there is room for") {
  const test::TempDir dir;
  const auto file = detail::LocalFile::open(dir.write("any.mtx", {}));
  const Text text(*file);
  Header header;
  header.cols = 10;
  StripRecords all(text, detail::mtx::Packing(header, 3), 1, 100);
  const auto put = [&] {
    for (std::uint64_t i = 0; i < 5 * kChunk; ++i) all.put(0, {1, 2, 3});
  };
  CHECK_THROWS_AS(put(), Error);
}
