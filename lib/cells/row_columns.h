// Looking at the columns of a sparse row that was just decoded, and sorting it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/cells/convert_cells.h"

namespace dapple::detail {

/// True when the columns ascend, each once. Without a branch, so that the compiler makes vectors of
/// it.
inline bool ascends(const std::uint32_t* col, std::uint64_t count) noexcept {
  std::uint32_t unordered = 0;
  for (std::uint64_t i = 1; i < count; ++i) unordered |= col[i] <= col[i - 1] ? 1U : 0U;
  return unordered == 0;
}

/// The same in the widest vectors that the processor has, which pays for the call in rows of
/// kLongRow columns (10^7 entries in rows of 100 to three arrays: 1.37 times a memcpy of them, so
/// 1.27; rows of 3 took a fifth longer with the call; Xeon of family 6, model 167).
bool long_row_ascends(const std::uint32_t* col, std::uint64_t count) noexcept;
inline constexpr std::uint64_t kLongRow = 32;

/// Whether all columns of a row are below `cols`, and in ascending order, each once. One loop over
/// an array that is still in the nearest cache: of columns that ascend, the last is the largest.
struct RowColumns {
  bool ascending, inside;

  RowColumns(const std::uint32_t* col, std::uint64_t count, std::uint64_t cols) noexcept
      : ascending(count < kLongRow ? ascends(col, count) : long_row_ascends(col, count)),
        inside(ascending ? count == 0 || col[count - 1] < cols
                         : std::all_of(col, col + count, [cols](auto c) { return c < cols; })) {}
};

/// Sorts the `n` entries of a row by column: their columns, and their values of type `type`.
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
