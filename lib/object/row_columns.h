// A look at the columns of a sparse row that was just decoded.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dapple::detail {

/// Whether all columns of a row are below `cols`, and in ascending order, each once. One loop over
/// an array that is still in the nearest cache, which the compiler makes vectors of: of columns
/// that ascend, the last is the largest.
struct RowColumns {
  bool ascending, inside;

  RowColumns(const std::uint32_t* col, std::uint64_t count, std::uint64_t cols) noexcept {
    std::uint32_t unordered = 0;
    for (std::uint64_t i = 1; i < count; ++i) unordered |= col[i] <= col[i - 1] ? 1U : 0U;
    ascending = unordered == 0;
    inside = ascending ? count == 0 || col[count - 1] < cols
                       : std::all_of(col, col + count, [cols](auto c) { return c < cols; });
  }
};

}  // namespace dapple::detail
