// The cells of dense rows that are not zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dapple::detail {

/// Puts the columns and values of the cells of a row that are not positive zero to `cols` and
/// `values`; returns how many. Values have `size` bytes. REQUIRES room for the whole row.
std::uint64_t take_nonzero(std::size_t size, const std::byte* row, std::uint32_t width,
                           std::uint32_t* cols, std::byte* values);

}  // namespace dapple::detail
