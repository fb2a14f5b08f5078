// Zeros for cells that nothing stores.
#pragma once

#include <algorithm>
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

/// Sets rows of cells to zero shortly before values are stored in them, while they are in a near
/// cache: zeros that are written for all rows at once have left it again when the values come
/// (10^7 values to 10^8 cells: 1.8 times as long). Rows may be reached in any order.
class ZeroAhead {
 public:
  /// For `rows` x `cols` cells of `out`, which must stay.
  ZeroAhead(const Target& out, std::uint64_t rows, std::uint64_t cols) noexcept
      : out_(out), rows_(rows), cols_(cols), at_once_(1 + kNear / (1 + cols * size_of(out.type))) {}

  /// From now on, cells of `row` that nothing is stored in are zero. REQUIRES row < rows.
  void reach(std::uint64_t row) noexcept {
    if (row >= done_) fill_to(std::min(rows_, row + at_once_));
  }
  /// REQUIRED in the end.
  void finish() noexcept { fill_to(rows_); }

 private:
  static constexpr std::uint64_t kNear = 16 << 10;  // bytes

  void fill_to(std::uint64_t end) noexcept {
    Target rest = out_;
    rest.data = out_.cell(done_, 0);
    fill_zero(rest, end - done_, cols_);
    done_ = end;
  }

  const Target& out_;
  std::uint64_t rows_, cols_;
  std::uint64_t at_once_;  // rows
  std::uint64_t done_ = 0;
};

}  // namespace dapple::detail
