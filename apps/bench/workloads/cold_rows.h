// Rows at random of a sparse file that is not in memory.
#pragma once

#include "harness/session.h"
#include "workloads/sparse.h"

namespace dapple::bench {

/// Of one block, against reads of the same bytes.
void measure_cold_rows(Session& session, const SparseShape& shape);

}  // namespace dapple::bench
