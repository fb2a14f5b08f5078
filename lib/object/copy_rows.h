// Cells that lie in rows in the file, on their way to the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/object/store.h"

namespace dapple::detail {

/// Copies rows x cols values of type `type` to the target's first cell and on. The values of a row
/// follow each other, the rows lie `row_step` bytes apart. Returns how many, row by row, fit the
/// target's type exactly: those in front of the first that does not (as `convert_cells`).
/// Behind the last call of a thread with a target that is streamed comes `finish_streams`
/// (stream_copy.h).
std::uint64_t copy_rows(const Target& out, ValueType type, const std::byte* from,
                        std::size_t row_step, std::uint64_t rows, std::uint64_t cols);

}  // namespace dapple::detail
