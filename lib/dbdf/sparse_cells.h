// Sparse entries of a block one by one, on their way to rows.
#pragma once

#include <cstdint>
#include <span>

#include "lib/object/row_gatherer.h"

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

/// Entries in ascending order, none of them positive zero, as rows of values of `type`.
void make_rows(std::span<const SparseCell> cells, std::uint64_t rows, ValueType type, CsrRows& out);

}  // namespace dapple::detail::dbdf
