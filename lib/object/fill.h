// Zeros for cells that are not stored.
#pragma once

#include <cstdint>
#include <cstring>

#include "lib/object/store.h"

namespace dapple::detail {

/// Sets rows x cols cells of `out` to zero. All bits zero is the value zero in every type.
inline void fill_zero(const Target& out, std::uint64_t rows, std::uint64_t cols) noexcept {
  const std::size_t size = size_of(out.type);
  const bool packed_rows = out.col_step == size;
  if (packed_rows && out.row_step == cols * size) {
    if (rows * cols > 0) std::memset(out.data, 0, rows * cols * size);
    return;
  }
  for (std::uint64_t r = 0; r < rows; ++r) {
    if (packed_rows) {
      std::memset(out.cell(r, 0), 0, cols * size);
    } else {
      for (std::uint64_t c = 0; c < cols; ++c) std::memset(out.cell(r, c), 0, size);
    }
  }
}

}  // namespace dapple::detail
