// A row of a BTable taken apart (lib/foreign/btable/split_row.h), compared with a loop over bytes.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/foreign/btable/split_row.h"
#include "tests/support.h"

using namespace dapple;

namespace {

struct Entry {
  std::int32_t col;
  std::uint64_t bits;
};

void append_be(std::vector<std::byte>& out, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::byte>(number >> (8 * i)));
}

void check(const std::vector<Entry>& row) {
  std::vector<std::byte> bytes;
  std::int64_t last = -1;
  bool expected = true;
  for (const Entry& entry : row) {
    append_be(bytes, static_cast<std::uint32_t>(entry.col), 4);
    append_be(bytes, entry.bits, 8);
    expected = expected && entry.col > last;
    last = entry.col;
  }
  // In memory of just the size, so that a sanitizer sees a step beyond it.
  std::vector<std::uint32_t> cols(row.size());
  std::vector<std::byte> values(row.size() * 8);
  const bool ascending = detail::btable::split_row(
      bytes.data(), static_cast<std::uint32_t>(row.size()), cols.data(), values.data());
  CHECK(ascending == expected);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t b = 8; b-- > 0;) {
      bits = bits << 8 | std::to_integer<std::uint64_t>(values[i * 8 + b]);
    }
    wrong += cols[i] != static_cast<std::uint32_t>(row[i].col) || bits != row[i].bits ? 1 : 0;
  }
  CHECK(wrong == 0);
}

std::vector<Entry> ascending_row(test::Rng& rng, std::size_t count) {
  std::vector<Entry> row(count);
  std::int32_t col = static_cast<std::int32_t>(rng.between(0, 1));
  for (Entry& entry : row) {
    entry = {col, rng.between(0, ~std::uint64_t{1})};
    col += static_cast<std::int32_t>(rng.between(1, 50'000'000));
  }
  return row;
}

}  // namespace

TEST_CASE("btable row: entries of any number come apart") {
  test::Rng rng(1);
  for (std::size_t count = 0; count <= 40; ++count) {
    CAPTURE(count);
    check(ascending_row(rng, count));
  }
}

TEST_CASE("btable row: a column that does not ascend is seen wherever it stands") {
  test::Rng rng(2);
  for (std::size_t count = 1; count <= 14; ++count) {
    for (std::size_t at = 0; at < count; ++at) {
      CAPTURE(count);
      CAPTURE(at);
      std::vector<Entry> row = ascending_row(rng, count);
      row[at].col = -1;
      check(row);
      row[at].col = std::numeric_limits<std::int32_t>::min();
      check(row);
      if (at == 0) continue;
      row[at].col = row[at - 1].col;
      check(row);
      row[at].col = row[at - 1].col - 1;
      check(row);
    }
  }
}
