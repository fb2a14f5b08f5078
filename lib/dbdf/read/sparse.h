// Decoding the CSR and COO blocks of DAPHNE files: one pass over the stored entries, every index
// checked as it is used (rule R5).
#pragma once

#include "lib/object/store.h"

namespace dapple::detail::dbdf {

/// Sets the cells of `part` in `out`: the stored values, and zeros.
void read_sparse(const Store& store, const Entry& entry, const Part& part, const Target& out);

/// Throws unless every stored entry inside `part` fits `type` exactly.
void require_sparse_fits(const Store& store, const Entry& entry, const Part& part, ValueType type);

/// `Codec::entries` of CSR and COO blocks.
void sparse_entries(const Store& store, const Entry& entry, const Part& part, CellRun& take);

}  // namespace dapple::detail::dbdf
