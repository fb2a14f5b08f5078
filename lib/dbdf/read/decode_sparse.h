// Decoding the CSR and COO blocks of dbdf files to cells: one pass over the stored entries, every
// index checked as it is used (R5).
#pragma once

#include "lib/object/store.h"

namespace dapple::detail::dbdf {

/// Writes the cells of `part` to `out`: the stored values, and zeros elsewhere.
void read_sparse(const Store& store, const Entry& entry, const Part& part, const Target& out);

/// Throws unless every stored entry inside `part` fits `type` exactly.
void require_sparse_fits(const Store& store, const Entry& entry, const Part& part, ValueType type);

/// `Driver::entries`.
void sparse_entries(const Store& store, const Entry& entry, const Part& part, CellRun& take);

/// `Driver::csr_arrays`. One pass; rows that are not in ascending order are sorted afterwards.
/// O(rows + entries), and O(n log n) for what has to be sorted. For some rows of a COO block all of
/// its entries are read.
bool csr_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                const CsrTarget& out);

/// `Driver::skip_rows`. O(rows skipped).
void skip_csr_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor);

}  // namespace dapple::detail::dbdf
