// Sparse entries of a block one by one, on their way to rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/array.h"
#include "lib/dbdf/write/encode.h"

namespace dapple::detail::dbdf {

/// One sparse entry of a block: the value's bits in the low bytes.
struct SparseCell {
  std::uint32_t row, col;
  std::uint64_t bits;

  /// Ascends by row, then column.
  std::uint64_t key() const noexcept { return std::uint64_t{row} << 32 | col; }
};

/// Brings entries into ascending order. A cell that stands among them twice, or null. O(n log n).
const SparseCell* sort_cells(std::span<SparseCell> cells);

/// Memory for the rows that entries are in, and no others.
class ListedRows {
 public:
  /// Entries in ascending order, none of them positive zero, as rows of a block of values of
  /// `type`. The result points into this.
  CsrCells list(std::span<const SparseCell> cells, ValueType type, TileShape shape);

 private:
  Array<std::uint64_t> row_ptr_;
  Array<std::uint32_t> row_idx_, col_idx_;
  Array<std::byte> values_;
};

}  // namespace dapple::detail::dbdf
