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

}  // namespace dapple::detail::dbdf
