// The values of a field, of either byte order and of half precision, too.
#pragma once

#include <cstddef>

#include "dapple/value_type.h"
#include "lib/foreign/npy/npy_header.h"

namespace dapple::detail::npy {

/// Copies `n` values, `from_step` bytes apart, to values of type `to`, `to_step` bytes apart.
/// Returns how many fitted, as `convert_cells` does. REQUIRES a field that is not of words.
std::size_t copy_values(const Field& field, const std::byte* from, std::size_t from_step,
                        ValueType to, std::byte* target, std::size_t to_step, std::size_t n);

}  // namespace dapple::detail::npy
