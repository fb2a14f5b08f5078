// Stored rows on their way into memory of any layout (lib/object/copy_rows.h), compared with a walk
// over single cells.

#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/cells/convert_cells.h"
#include "lib/object/copy_rows.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

constexpr std::byte kUntouched{0xa5};

struct Layout {
  std::size_t row_step, col_step;
};

/// Layouts of rows x cols cells of `size` bytes: packed and padded rows, packed and padded columns,
/// and neither.
std::vector<Layout> layouts(std::uint64_t rows, std::uint64_t cols, std::size_t size) {
  return {{cols * size, size},
          {cols * size + 24, size},
          {size, rows * size},
          {size, rows * size + 40},
          {2 * size, rows * 2 * size}};
}

std::size_t room(const Layout& layout, std::uint64_t rows, std::uint64_t cols, std::size_t size) {
  return (rows - 1) * layout.row_step + (cols - 1) * layout.col_step + size;
}

/// Copies in one go and cell by cell; the cells in front of the first that does not fit must agree,
/// and where all fit nothing else may have been touched.
void check(ValueType type, const std::vector<std::byte>& stored, std::size_t row_step,
           std::uint64_t rows, std::uint64_t cols, ValueType to, const Layout& layout) {
  const std::size_t size = size_of(type), wide = size_of(to);
  std::vector<std::byte> got(room(layout, rows, cols, wide), kUntouched), expected = got;
  const detail::Target out{got.data(), to, layout.row_step, layout.col_step};
  const std::uint64_t fitting = detail::copy_rows(out, type, stored.data(), row_step, rows, cols);

  std::uint64_t wanted = 0, wrong = 0;
  for (; wanted < rows * cols; ++wanted) {
    const std::uint64_t row = wanted / cols, col = wanted % cols;
    std::uint64_t bits = 0, result = 0;
    std::memcpy(&bits, stored.data() + row * row_step + col * size, size);
    if (!detail::convert_cell(type, bits, to, result)) break;
    const std::size_t at = row * layout.row_step + col * layout.col_step;
    std::memcpy(expected.data() + at, &result, wide);
    wrong += wanted < fitting && std::memcmp(got.data() + at, &result, wide) != 0 ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(fitting == wanted);
  if (fitting == rows * cols) CHECK(got == expected);
}

}  // namespace

TEST_CASE("copy rows: from any type to any, rows and columns of any length, any layout") {
  test::Rng rng(11);
  for (const ValueType type : {ValueType::u8, ValueType::i16, ValueType::i64, ValueType::f64}) {
    for (const ValueType to : {ValueType::u8, ValueType::i16, ValueType::f32, ValueType::f64}) {
      for (int i = 0; i < 12; ++i) {
        const std::uint64_t rows = rng.between(1, 50), cols = rng.between(1, 40);
        CAPTURE(rows);
        CAPTURE(cols);
        const std::size_t size = size_of(type), row_step = cols * size + (i % 2) * 3;
        std::vector<std::byte> stored(rows * row_step, std::byte{0});
        for (std::uint64_t row = 0; row < rows; ++row) {
          for (std::uint64_t col = 0; col < cols; ++col) {
            std::uint64_t bits = 0;
            REQUIRE(detail::convert_cell(ValueType::u8, rng.below(120), type, bits));
            // At times one that some types do not reach.
            if (i % 3 == 2 && rng.below(rows * cols) == 0) bits = rng.bits();
            std::memcpy(stored.data() + row * row_step + col * size, &bits, size);
          }
        }
        for (const Layout& layout : layouts(rows, cols, size_of(to))) {
          check(type, stored, row_step, rows, cols, to, layout);
        }
      }
    }
  }
}
