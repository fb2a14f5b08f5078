// A data set as a matrix of dense blocks.
#pragma once

#include <memory>

#include "lib/foreign/hdf5/data_set.h"
#include "lib/object/store.h"

namespace dapple::detail::hdf5 {

/// Blocks are chunks, several together where they are small; strips of rows where there are none.
std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const DataSet> data);

}  // namespace dapple::detail::hdf5
