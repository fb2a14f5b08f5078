// A CSR or COO block as the usual three arrays.
#pragma once

#include "lib/object/store.h"

namespace dapple::detail::dbdf {

/// `Codec::csr_arrays` of CSR and COO blocks. One pass; rows that are not in ascending order are
/// sorted after it. O(rows + entries), and O(n log n) for what has to be sorted. Some rows of a
/// COO block are looked for among all of its entries.
bool csr_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                const CsrTarget& out);

/// `Codec::skip_rows`. O(rows that are passed).
void skip_csr_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor);

}  // namespace dapple::detail::dbdf
