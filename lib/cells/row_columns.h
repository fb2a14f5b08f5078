// Checking and sorting the columns of a sparse row that was just decoded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/cells/convert_cells.h"

namespace dapple::detail {

/// True when the columns are strictly ascending. Branch-free, so that it vectorises.
inline bool ascends(const std::uint32_t* col, std::uint64_t count) noexcept {
  std::uint32_t unordered = 0;
  for (std::uint64_t i = 1; i < count; ++i) unordered |= col[i] <= col[i - 1] ? 1U : 0U;
  return unordered == 0;
}

/// The same with the widest vectors that the processor has. The call pays from kLongRow columns on.
bool long_row_ascends(const std::uint32_t* col, std::uint64_t count) noexcept;
inline constexpr std::uint64_t kLongRow = 32;

/// Whether the columns of a row are strictly ascending, and all below `cols`. Of ascending columns
/// only the last needs a comparison with `cols`.
struct RowColumns {
  bool ascending, inside;

  RowColumns(const std::uint32_t* col, std::uint64_t count, std::uint64_t cols) noexcept
      : ascending(count < kLongRow ? ascends(col, count) : long_row_ascends(col, count)),
        inside(ascending ? count == 0 || col[count - 1] < cols
                         : std::all_of(col, col + count, [cols](auto c) { return c < cols; })) {}
};

/// Sorts the `n` entries of a row by column, moving the values of type `type` with them.
template <class Col>
void sort_row(Col* cols, ValueType type, std::byte* values, std::size_t n) {
  const std::size_t size = size_of(type);
  std::vector<std::pair<Col, std::uint64_t>> entries(n);
  for (std::size_t i = 0; i < n; ++i) entries[i] = {cols[i], load_bits(type, values + i * size)};
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i < n; ++i) {
    cols[i] = entries[i].first;
    store_bits(type, values + i * size, entries[i].second);
  }
}

}  // namespace dapple::detail
