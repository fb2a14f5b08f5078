// SciPy's sparse matrices, as scipy.sparse.save_npz writes them.
#pragma once

#include <memory>
#include <span>

#include "lib/foreign/zip/zip.h"
#include "lib/object/store.h"

namespace dapple::detail::npz {

using zip::Contents, zip::contents_of, zip::Member, zip::read_directory;

/// True when the members are those of a sparse matrix.
bool is_scipy_matrix(std::span<const Member> members);

/// REQUIRES members that are. Throws corrupt, unsupported for other kinds than csr, csc, coo, bsr
/// and dia.
std::shared_ptr<const Store> open_scipy_matrix(std::shared_ptr<ByteSource> archive,
                                               std::span<const Member> members);

}  // namespace dapple::detail::npz
