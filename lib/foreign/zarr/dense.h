// A Zarr array of numbers as a matrix.
#pragma once

#include <memory>

#include "lib/foreign/zarr/array_data.h"
#include "lib/foreign/zarr/hierarchy.h"
#include "lib/object/store.h"

namespace dapple::detail::zarr {

std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const ArrayData> data, const Node& node);

}  // namespace dapple::detail::zarr
