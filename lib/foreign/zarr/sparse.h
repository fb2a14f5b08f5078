// anndata's groups that are one sparse matrix.
#pragma once

#include <memory>

#include "lib/foreign/zarr/hierarchy.h"
#include "lib/object/store.h"

namespace dapple::detail::zarr {

/// True for groups that say so: csr_matrix, csc_matrix.
bool is_sparse(const Node& group) noexcept;

/// Throws corrupt, unsupported.
std::shared_ptr<Store> open_sparse(std::shared_ptr<ByteSource> file, const Hierarchy& hierarchy,
                                   const Node& group);

}  // namespace dapple::detail::zarr
