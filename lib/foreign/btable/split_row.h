// The entries of a row, pairs of column and value, big-endian, as an array of each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dapple::detail::btable {

/// Copies the columns and values of `count` entries in the machine's byte order. True when the
/// columns ascend, each once, and none is negative as an i32.
bool split_row(const std::byte* entries, std::uint32_t count, std::uint32_t* cols,
               std::byte* values) noexcept;

}  // namespace dapple::detail::btable
