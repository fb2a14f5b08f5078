// Cells that lie in rows in the file, on their way to the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/object/store.h"

namespace dapple::detail {

/// Output of this size and more leaves the caches before anybody reads it, and is written past
/// them. Ordinary stores would first fetch each line that they are about to overwrite: 4096 x 4096
/// cells in tiles of 256 x 256, read as f64: from u8 8.4 GB/s of output with ordinary stores, 20
/// past the caches; from f64 7.9 and 17.
inline constexpr std::uint64_t kStreamBytes = std::uint64_t{16} << 20;

/// Copies rows x cols values of type `type` to the target's first cell and on. The values of a row
/// follow each other, the rows lie `row_step` bytes apart. Returns how many, row by row, fit the
/// target's type exactly: those in front of the first that does not (as `convert_cells`).
/// Behind the last call of a thread with a target that is streamed comes `finish_streams`.
std::uint64_t copy_rows(const Target& out, ValueType type, const std::byte* from,
                        std::size_t row_step, std::uint64_t rows, std::uint64_t cols);

/// Makes what was written past the caches visible to other threads, like any other store.
void finish_streams() noexcept;

}  // namespace dapple::detail
