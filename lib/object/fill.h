// Zeros for cells that are not stored.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "lib/object/store.h"

namespace dapple::detail {

/// Sets rows x cols cells of `out` to zero. All bits zero is the value zero in every type.
inline void fill_zero(Target out, std::uint64_t rows, std::uint64_t cols) noexcept {
  if (out.row_step < out.col_step) {  // along what is closer together: columns, of R and Fortran
    std::swap(out.row_step, out.col_step);
    std::swap(rows, cols);
  }
  const std::size_t size = size_of(out.type);
  const bool packed = out.col_step == size;
  if (packed && out.row_step == cols * size) {
    if (rows * cols > 0) std::memset(out.data, 0, rows * cols * size);
    return;
  }
  for (std::uint64_t r = 0; r < rows; ++r) {
    if (packed) {
      std::memset(out.cell(r, 0), 0, cols * size);
    } else {
      for (std::uint64_t c = 0; c < cols; ++c) std::memset(out.cell(r, c), 0, size);
    }
  }
}

}  // namespace dapple::detail
