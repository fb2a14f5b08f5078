// Zarr hierarchies of version 2 and 3 (FORMAT.md): arrays, and anndata's sparse matrices and
// tables.
#pragma once

#include <memory>
#include <string>

#include "dapple/open.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail::zarr {

Match recognise_zarr(const Probe& probe);

/// Opens the hierarchy to which `file`, the metadata of its root, belongs. Throws corrupt,
/// unsupported, invalid_argument, io.
std::shared_ptr<const Store> open_zarr(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options);

/// The file in a folder that makes it a Zarr hierarchy, or "". A few system calls.
std::string metadata_in(const std::string& folder);

}  // namespace dapple::detail::zarr
