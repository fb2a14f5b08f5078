// Making the rows that a sparse block is encoded from, out of entries or dense cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/array.h"
#include "lib/dbdf/write/block_plan.h"

namespace dapple::detail::dbdf {

/// One sparse entry of a block: the value's bits in the low bytes.
struct SparseCell {
  std::uint32_t row, col;
  std::uint64_t bits;

  /// Orders by row, then column.
  std::uint64_t key() const noexcept { return std::uint64_t{row} << 32 | col; }
};

/// Sorts entries. Returns one whose cell occurs twice, or nullptr. O(n log n).
const SparseCell* sort_cells(std::span<SparseCell> cells);

/// Reusable memory for rows. The results of both functions point into it.
class ListedRows {
 public:
  /// Lists the rows of sorted entries of `type`, none of which is positive zero.
  CsrCells list(std::span<const SparseCell> cells, ValueType type, TileShape shape);
  /// Gathers all rows of dense cells, of which `nonzero` are not positive zero.
  CsrCells gather(const DenseCells& cells, std::uint64_t nonzero);

 private:
  Array<std::uint64_t> row_ptr_;
  Array<std::uint32_t> row_idx_, col_idx_;
  Array<std::byte> values_;
};

}  // namespace dapple::detail::dbdf
