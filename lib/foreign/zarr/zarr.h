// Zarr hierarchies of version 2 and 3 (FORMAT.md): arrays, and anndata's sparse matrices and
// tables.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "dapple/open.h"
#include "lib/foreign/arrays/choice.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail::zarr {

/// What makes a folder a Zarr hierarchy: the metadata of its root, of version 3, or 2.
inline constexpr std::array kMetadata = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"};

Match recognise_zarr(const Probe& probe);

/// Opens the hierarchy that is in `file`, a ZIP archive, or whose root has this metadata. Throws
/// corrupt, unsupported, invalid_argument, io.
std::shared_ptr<const Store> open_zarr(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options);

/// All that `open_zarr` opens in the hierarchy. Throws as it does.
std::vector<arrays::Listed> list_zarr(const std::shared_ptr<ByteSource>& file);

/// The file in a folder that makes it a Zarr hierarchy, or "". A few system calls.
std::string metadata_in(const std::string& folder);

}  // namespace dapple::detail::zarr
