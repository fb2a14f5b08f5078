// Damaged BTables: each wrong field gives one error that names its byte.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "tests/check.h"
#include "tests/foreign/btable_image.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

TEST_CASE("btable: every header field and row count is checked, and the byte is named") {
  const TempDir dir;
  struct Damage {
    Bytes bytes;
    Errc code;
    std::uint64_t offset;
    std::string detail;
  };
  const Bytes good = table(
      u"ab\x1F"
      u"c",
      {{{0, 1}}});  // labels at 8, rows at 16
  const auto with = [&](std::size_t at, auto value) {
    Bytes bytes = good;
    detail::store_be(&bytes[at], value);
    return bytes;
  };
  Bytes stray = good;
  stray.resize(stray.size() + 3);
  const std::vector<Damage> damages = {
      {with(0, 1), Errc::unsupported, 0,
       "BTables of version 1 cannot be read, only those of version 0"},
      {with(4, -1), Errc::corrupt, 4, "the length of the labels cannot be negative: -1"},
      {with(4, 13), Errc::corrupt, 4,
       "labels of 13 UTF-16 units do not fit the 24 bytes that are left"},
      {with(10, std::uint16_t{0xD834}), Errc::corrupt, 10,
       "the labels are not UTF-16: a surrogate without its partner"},
      {with(14, std::uint16_t{0xDD1E}), Errc::corrupt, 14,
       "the labels are not UTF-16: a surrogate without its partner"},
      {with(16, -1), Errc::corrupt, 16, "a row cannot have -1 entries"},
      {with(16, 2), Errc::corrupt, 20, "24 bytes of entries are needed here, but only 12 are left"},
      {with(16, std::numeric_limits<std::int32_t>::max()), Errc::corrupt, 20,
       "25769803764 bytes of entries are needed here, but only 12 are left"},
      {stray, Errc::corrupt, 32, "4 bytes of a row's length are needed here, but only 3 are left"},
  };
  for (const Damage& damage : damages) {
    const Error error = required_error(error_of([&] { open_table(dir, damage.bytes); }));
    CHECK(error.code() == damage.code);
    CHECK(error.offset() == damage.offset);
    CHECK(error.detail() == damage.detail);
  }
  CHECK(open_table(dir, good).rows() == 1);
}

TEST_CASE("btable: a column outside the table is corrupt") {
  const TempDir dir;
  for (const std::int32_t bad : {3, -1, std::numeric_limits<std::int32_t>::min()}) {
    const std::uint64_t at = 8 + 10 + 16 + 4 + 12;
    const Error error = required_error(error_of([&] {
      open_table(dir, table(u"a\x1F"
                            u"b\x1F"
                            u"c",
                            {{{0, 1}}, {{1, 1}, {bad, 2}}, {{2, 3}}}));
    }));
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.offset() == at);
    CHECK(error.detail() == "column " + std::to_string(bad) + " is outside a table of 3 columns");
  }
}

TEST_CASE("btable: cut at any byte, a table is refused or ends with a whole row") {
  const TempDir dir;
  const std::vector<Row> rows = {{{0, 1}, {1, 2}}, {}, {{1, 3}}};
  const Bytes whole = table(
      u"a\x1F"
      u"b",
      rows);
  const std::map<std::size_t, std::uint64_t> sound = {{14, 0}, {42, 1}, {46, 2}, {62, 3}};
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    CAPTURE(n);
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    std::uint64_t found = 0;
    const auto error = error_of([&] { found = open_table(dir, cut).rows(); });
    CHECK(error.has_value() == !sound.contains(n));
    if (!error) CHECK(found == sound.at(n));
    if (error) CHECK(error->code() == Errc::corrupt);
  }
}
