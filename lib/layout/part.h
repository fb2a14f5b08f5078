// Parts of blocks, and where their rows go.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/region.h"
#include "dapple/value_type.h"
#include "lib/index/entry.h"

namespace dapple::detail {

/// A rectangle inside one block; rows and columns count from the block's first cell.
struct Part {
  Range rows;
  Range cols;
};

/// The part of a block that is inside a region.
inline Part shared_part(const Entry& entry, const Region& region) noexcept {
  const Region both = intersect(entry.cells(), region);
  return {{both.rows.begin - entry.pos.rx, both.rows.end - entry.pos.rx},
          {both.cols.begin - entry.pos.cx, both.cols.end - entry.pos.cx}};
}

/// How far the rows of a block were read, so that the next read need not skip them again. A cursor
/// past the requested rows starts again at row 0.
struct RowCursor {
  std::uint64_t row = 0;
  std::uint64_t entries = 0;  // of the rows before
};

/// Three arrays for rows of a sparse block: row pointers, one more than rows, and `room` columns,
/// counted from the block's first, and values of `type`.
struct CsrTarget {
  std::uint64_t* row_ptr;
  std::uint32_t* col_idx;
  std::byte* values;
  ValueType type;
  std::uint64_t room;
};

}  // namespace dapple::detail
