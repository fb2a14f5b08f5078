// Copying rows of cells from the file to the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/object/store.h"

namespace dapple::detail {

/// Copies rows x cols values of type `type` to the target. The values of a row are contiguous, the
/// rows `row_step` bytes apart. Returns how many values, counted row by row, precede the first that
/// does not fit the target's type exactly (as `convert_cells`). After its last call with a streamed
/// target, a thread calls `finish_streams` (stream_copy.h).
std::uint64_t copy_rows(const Target& out, ValueType type, const std::byte* from,
                        std::size_t row_step, std::uint64_t rows, std::uint64_t cols);

/// Copies the cells of a part of a block, the first of which is at `from`; throws what
/// `fail_misfit` does for one that does not fit.
void copy_part(const Store& store, const Entry& entry, const Part& part, const std::byte* from,
               std::size_t row_step, const Target& out);

/// `Driver::read` of blocks whose cells can be used in place. REQUIRES that `Driver::in_place`
/// gives them.
void read_in_place(const Store& store, const Entry& entry, const Part& part, const Target& out);

}  // namespace dapple::detail
