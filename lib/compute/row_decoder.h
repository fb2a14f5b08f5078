// Rows of CSR blocks in the DAPHNE binary format, straight to where they are wanted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/value_type.h"

namespace dapple::detail {

/// Splits the `count` entries of a row of a block of `width` columns into columns, to which
/// `first` is added, and values. False, and what was written is unspecified, unless columns ascend
/// inside the block and no value is positive zero: then the row needs a closer look.
template <class Col>
using DecodeRow = bool (*)(const std::byte* entries, std::uint32_t count, std::uint32_t width,
                           Col first, Col* cols, std::byte* values) noexcept;

/// Of values stored as `from`, wanted as `to`; nullptr unless that holds all of them.
template <class Col>
DecodeRow<Col> row_decoder(ValueType from, ValueType to) noexcept;

}  // namespace dapple::detail
