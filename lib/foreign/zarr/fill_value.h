// The value of cells that no chunk has, as metadata writes it.
#pragma once

#include <cstddef>

#include "dapple/value_type.h"
#include "lib/base/json.h"

namespace dapple::detail::zarr {

/// Stores a number, true, false, "NaN", "Infinity", "-Infinity" or the bits of a float ("0x7fc0")
/// as `type`. False when it is none of these, or does not fit.
bool parse_fill(const Json& fill, ValueType type, std::byte* out);

}  // namespace dapple::detail::zarr
