// Few stored cells and zeros around them (lib/object/scattered_rows.h), compared with an array that
// is set to zero and stored to.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "lib/cells/stream_copy.h"
#include "lib/dbdf/read/scattered_rows.h"
#include "tests/check.h"

using namespace dapple;

namespace {

constexpr std::byte kUntouched{0xa5};

struct Stored {
  std::uint64_t row, col;
  std::uint16_t value;
};

enum class Order { ascending, descending, any };

/// Cells of about every other row, some stored twice, beside runs of empty rows.
std::vector<Stored> some_cells(std::uint64_t rows, std::uint64_t cols, Order order) {
  std::mt19937 random(static_cast<unsigned>(rows * 31 + cols));
  std::vector<Stored> cells;
  for (std::uint64_t i = 0; i < rows && cols > 0; ++i) {
    const std::uint64_t row = random() % rows;
    if (row / 4 % 3 == 1) continue;  // some rows side by side stay empty
    cells.push_back({row, random() % cols, static_cast<std::uint16_t>(1 + random() % 1000)});
  }
  const auto by_row = [](const Stored& a, const Stored& b) { return a.row < b.row; };
  if (order != Order::any) std::stable_sort(cells.begin(), cells.end(), by_row);
  if (order == Order::descending) std::reverse(cells.begin(), cells.end());
  return cells;
}

void check(std::uint64_t rows, std::uint64_t cols, std::size_t row_step, std::size_t col_step,
           bool streamed, Order order) {
  const std::vector<Stored> cells = some_cells(rows, cols, order);
  std::vector<std::byte> got(rows * row_step + cols * col_step + 64, kUntouched), expected = got;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t col = 0; col < cols; ++col) {
      std::memset(expected.data() + 2 + row * row_step + col * col_step, 0, 2);
    }
  }
  const detail::Target out{got.data() + 2, ValueType::u16, row_step, col_step, streamed};
  // Like a block whose rows and columns in front of 7 and 3 are not wanted.
  const detail::Part part{{7, 7 + rows}, {3, 3 + cols}};
  const auto bytes_of = [](const Stored* cell) { return reinterpret_cast<const std::byte*>(cell); };
  detail::ScatteredRows scattered(
      out, part,
      [&](const detail::Part& left, std::byte* at, const std::byte* begin, const std::byte* end) {
        CHECK(left.cols == part.cols);
        for (const Stored& cell : cells) {
          if (bytes_of(&cell) < begin || bytes_of(&cell) >= end) continue;
          if (7 + cell.row < left.rows.begin || 7 + cell.row >= left.rows.end) continue;
          std::memset(at + ((7 + cell.row - left.rows.begin) * cols + cell.col) * 2, 0, 2);
        }
      });
  for (const Stored& cell : cells) {
    std::byte* const row = scattered.row(7 + cell.row, bytes_of(&cell));
    std::memcpy(row + cell.col * col_step, &cell.value, 2);
    std::memcpy(expected.data() + 2 + cell.row * row_step + cell.col * col_step, &cell.value, 2);
  }
  scattered.finish();
  detail::finish_streams();
  CHECK(got == expected);
}

}  // namespace

TEST_CASE("scattered rows: in any order, to any address, through a stage and without one") {
  // Rows of which many, some, one and less than one fit where they wait; the last are not staged.
  const std::vector<std::uint64_t> widths = {0, 1, 33, 1500, 4096, 5001, 40000};
  for (const std::uint64_t cols : widths) {
    const std::uint64_t rows = cols > 10000 ? 7 : 40;
    for (const bool streamed : {false, true}) {
      for (const Order order : {Order::ascending, Order::descending, Order::any}) {
        CAPTURE(cols);
        CAPTURE(streamed);
        check(rows, cols, 2 * cols, 2, streamed, order);
        check(rows, cols, 2 * cols + 26, 2, streamed, order);
        check(rows, cols, 2, 2 * rows, streamed, order);
      }
    }
  }
}

TEST_CASE("scattered rows: many short ones") {
  for (const bool streamed : {false, true}) {
    check(20000, 3, 6, 2, streamed, Order::ascending);
    check(20000, 3, 6, 2, streamed, Order::any);
  }
}

TEST_CASE("scattered rows: none") { check(0, 5, 10, 2, true, Order::any); }
