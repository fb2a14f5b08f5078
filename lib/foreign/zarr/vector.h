// Arrays of one dimension that a group consists of.
#pragma once

#include <memory>
#include <string_view>

#include "lib/foreign/zarr/array_data.h"
#include "lib/foreign/zarr/hierarchy.h"

namespace dapple::detail::zarr {

/// The array of that name in a group. Throws corrupt when there is none, or of another rank;
/// unsupported.
std::shared_ptr<const ArrayData> open_vector(const Hierarchy& hierarchy, const Node& group,
                                             std::string_view name);

}  // namespace dapple::detail::zarr
