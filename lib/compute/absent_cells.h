// How many cells are counted. In statistics, those that no block covers are zeros, or NaNs.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/compute/totals.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// The number of cells of these rows and columns. Throws unsupported where 64 bits do not hold it.
std::uint64_t counted_cells(const Store& store, std::uint64_t rows, std::uint64_t cols);

/// How to read blocks for statistics: absent cells that count as NaN are left out, as zeros are.
constexpr Absent left_out(Absent absent) noexcept {
  return absent == Absent::nan ? Absent::zero : absent;
}

/// `stats` of these cells and of others that are missing.
Stats with_missing(Stats stats, std::uint64_t missing) noexcept;

/// How many of all `cells` count as NaN. O(blocks).
std::uint64_t nan_cells(const Store& store, Absent absent, std::uint64_t cells);

/// The rows of a column that blocks cover; all, where absent cells are no NaNs. Throws corrupt.
std::vector<Range> counted_rows(const Store& store, std::uint64_t col, Absent absent);

enum class Side : bool { row, column };

/// Statistics of rows, or columns, in which absent cells are NaNs if they are to be.
class LineStats {
 public:
  /// O(blocks + lines) where cells can be absent.
  LineStats(const Store& store, Absent absent, Side side);

  /// Of the row or column with number `line`, whose blocks add up to `totals`.
  Stats of(std::uint64_t line, const Totals& totals) const noexcept;

 private:
  std::uint64_t width_;                // cells of a line
  std::vector<std::uint64_t> absent_;  // of each line; none where all cells count
};

}  // namespace dapple::detail
