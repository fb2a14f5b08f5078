// scipy.sparse's own files as a peer of W7 and W13.
#pragma once

#include <filesystem>
#include <optional>

#include "harness/session.h"
#include "workloads/sparse.h"

namespace dapple::bench {

/// save_npz to a new file and load_npz into new memory, both uncompressed. Nothing without scipy.
/// REQUIRES that the session lives as long as the contender.
std::optional<Contender> scipy_writer(Session& session, const SparseShape& shape, double work);
std::optional<Contender> scipy_reader(Session& session, const SparseShape& shape, double work);

}  // namespace dapple::bench
