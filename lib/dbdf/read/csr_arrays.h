// Decoding a CSR or COO block into the usual three arrays.
#pragma once

#include "lib/object/store.h"

namespace dapple::detail::dbdf {

/// `Driver::csr_arrays`. One pass; rows that are not in ascending order are sorted afterwards.
/// O(rows + entries), and O(n log n) for what has to be sorted. For some rows of a COO block all of
/// its entries are read.
bool csr_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                const CsrTarget& out);

/// `Driver::skip_rows`. O(rows skipped).
void skip_csr_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor);

}  // namespace dapple::detail::dbdf
