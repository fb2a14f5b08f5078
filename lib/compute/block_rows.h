// Rows of single blocks on their way into a result that many blocks have a share in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Some rows of one block.
struct BlockRows {
  std::uint64_t first = 0;       // of the block
  Array<std::uint64_t> row_ptr;  // as in CsrTarget
  Array<std::uint32_t> col_idx;  // from the block's first column
  Array<std::byte> values;
  bool complete = false;  // all rows that the region shares with the block

  /// Memory for `rows` rows with `room` entries in all.
  CsrTarget target(std::uint64_t rows, std::uint64_t room, ValueType type) {
    row_ptr.reset(rows + 1);
    col_idx.reset(room);
    values.reset(room * size_of(type));
    return {row_ptr.data(), col_idx.data(), values.data(), type, room};
  }
};

/// A block on its way into the result.
struct ActiveBlock {
  Entry entry;
  Part part;   // what it shares with the region
  Range rows;  // of the object, that is
  RowCursor cursor;
  BlockRows decoded;

  bool whole_cols() const noexcept { return part.cols.size() == entry.cols; }
  bool whole_rows() const noexcept { return part.rows.size() == entry.rows; }
  double entries_per_row() const noexcept {
    if (entry.kind == BlockKind::dense) return static_cast<double>(part.cols.size());
    return static_cast<double>(entry.stored) / static_cast<double>(entry.rows);
  }
  /// The same rows, counted from the block's first.
  Range in_block(Range band) const noexcept {
    return {band.begin - entry.pos.rx, band.end - entry.pos.rx};
  }
};

/// Copies the entries that are not positive zero and lie in columns `wanted`, in place if need be;
/// columns are counted from `wanted.begin`, plus `shift`. Returns how many.
template <class Bits, class Col>
std::uint64_t copy_wanted(const std::uint32_t* cols, const std::byte* values, std::uint64_t begin,
                          std::uint64_t end, Range wanted, std::uint64_t shift, Col* to_cols,
                          std::byte* to_values) {
  std::uint64_t kept = 0;
  for (std::uint64_t k = begin; k < end; ++k) {
    const std::uint32_t col = cols[k];
    const auto bits = load_le<Bits>(values + k * sizeof(Bits));
    to_cols[kept] = static_cast<Col>(col - wanted.begin + shift);
    store_le(to_values + kept * sizeof(Bits), bits);
    kept += wanted.contains(col) && bits != 0 ? 1 : 0;
  }
  return kept;
}

}  // namespace dapple::detail
