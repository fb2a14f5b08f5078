// Rows of entries taken apart, against a loop over them.

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "lib/cells/convert_cells.h"
#include "lib/layout/csr_rows.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail;

namespace {

struct Cell {
  std::uint32_t col;
  std::uint64_t bits;
};

std::vector<std::byte> entries_of(const std::vector<Cell>& row, ValueType type) {
  std::vector<std::byte> bytes;
  for (const Cell& cell : row) {
    const std::size_t at = bytes.size();
    bytes.resize(at + 4 + size_of(type));
    store_le(bytes.data() + at, cell.col);
    store_bits(type, bytes.data() + at + 4, cell.bits);
  }
  return bytes;
}

bool is_sound(const std::vector<Cell>& row, std::uint32_t width) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k].col >= width || row[k].bits == 0) return false;
    if (k > 0 && row[k].col <= row[k - 1].col) return false;
  }
  return true;
}

template <class Col>
void check_split(const std::vector<Cell>& row, std::uint32_t width, ValueType from, ValueType to,
                 Col first) {
  const std::vector<std::byte> bytes = entries_of(row, from);
  std::vector<Col> cols(row.size());
  std::vector<std::byte> values(row.size() * size_of(to));
  const bool split = split_row(bytes.data(), static_cast<std::uint32_t>(row.size()), width, from,
                               first, cols.data(), to, values.data());
  REQUIRE(split == is_sound(row, width));
  for (std::size_t k = 0; split && k < row.size(); ++k) {
    std::uint64_t wanted = 0;
    REQUIRE(convert_cell(from, row[k].bits, to, wanted));
    CHECK(cols[k] == first + row[k].col);
    CHECK(load_bits(to, values.data() + k * size_of(to)) == wanted);
  }
}

/// Ascending columns below `width`, and values that are not zero.
std::vector<Cell> random_row(test::Rng& rng, std::size_t n, std::uint32_t width, ValueType type) {
  std::vector<Cell> row(n);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size_of(type));
  std::uint32_t col = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto room = static_cast<std::uint32_t>((width - col - (n - k)) / (n - k));
    col += static_cast<std::uint32_t>(rng.below(std::uint64_t{room} + 1));
    row[k] = {col++, std::max<std::uint64_t>(rng.bits() & mask, 1)};
  }
  return row;
}

}  // namespace

TEST_CASE("split: rows of every length and type are those of a loop") {
  test::Rng rng(7);
  for (const ValueType from : kValueTypes) {
    for (const ValueType to : kValueTypes) {
      if (!holds_all(to, from)) continue;
      for (const std::size_t n : {0, 1, 2, 3, 4, 5, 7, 8, 11, 64, 511, 512, 513, 1030}) {
        CAPTURE(n);
        const std::vector<Cell> row = random_row(rng, n, 5000, from);
        check_split<std::uint32_t>(row, 5000, from, to, 0);
        check_split<std::uint32_t>(row, 5000, from, to, 70000);
        check_split<std::uint64_t>(row, 5000, from, to, std::uint64_t{1} << 40);
      }
    }
  }
}

TEST_CASE("split: one column or value that is not sound is seen wherever it is") {
  constexpr std::uint32_t kWidest = std::numeric_limits<std::uint32_t>::max();
  test::Rng rng(8);
  for (const ValueType type : {ValueType::u8, ValueType::i16, ValueType::f32, ValueType::f64}) {
    for (const std::uint32_t width : {300U, 0x7fffffffU, 0x80000000U, kWidest}) {
      for (const std::size_t n : {1, 4, 6, 9, 13}) {
        const std::vector<Cell> row = random_row(rng, n, width, type);
        for (std::size_t k = 0; k < n; ++k) {
          CAPTURE(n);
          CAPTURE(k);
          const auto with = [&](std::uint32_t col, std::uint64_t bits) {
            std::vector<Cell> changed = row;
            changed[k] = {col, bits};
            check_split<std::uint32_t>(changed, width, type, type, 0);
          };
          with(row[k].col, 0);
          for (const std::uint32_t col :
               {0U, width - 1, width, 0x7fffffffU, 0x80000000U, kWidest}) {
            with(col, 1);
          }
          if (k > 0) with(row[k - 1].col, 1);
        }
      }
    }
  }
}

TEST_CASE("split: NaNs keep their payloads, and minus zero is an entry") {
  const std::vector<Cell> row = {
      {1, 0x7f800001}, {2, 0xffc00007}, {3, 0x80000000}, {4, 0x7f800000}};
  check_split<std::uint32_t>(row, 5, ValueType::f32, ValueType::f64, 0);
  check_split<std::uint32_t>(row, 5, ValueType::f32, ValueType::f32, 0);
}
