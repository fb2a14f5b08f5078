// HDF5 files, read through the HDF5 library: data sets of one or two dimensions, and the sparse
// matrices of anndata. FORMAT.md says how.
#pragma once

#include <memory>
#include <vector>

#include "dapple/open.h"
#include "lib/foreign/arrays/choice.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail::hdf5 {

Match recognise_hdf5(const Probe& probe);

/// Opens the data set or sparse group that `options.array` names; without a name X, or the only one
/// there is. Data sets that are neither chunked nor compressed are used in place, others are read
/// when their cells are. Throws corrupt, unsupported (also where there is no HDF5 library);
/// invalid_argument with a list when there are several.
std::shared_ptr<const Store> open_hdf5(std::shared_ptr<ByteSource> file,
                                       const OpenOptions& options);

/// All that `open_hdf5` opens in the file. Throws as it does.
std::vector<arrays::Listed> list_hdf5(const std::shared_ptr<ByteSource>& file);

}  // namespace dapple::detail::hdf5
