// One block on its way into bands of sparse rows (row_stream.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "dapple/array.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Neighbouring columns of an object, and the column of the result where they go.
struct ColumnRun {
  Range from;
  std::uint64_t at = 0;
};

/// What one block has in a band of rows: entries of row r are [row_ptr[r], row_ptr[r + 1]).
struct RowPiece {
  const std::uint64_t* row_ptr = nullptr;
  const std::uint32_t* col_idx = nullptr;  // counted from `first_col` of the result
  const std::byte* values = nullptr;
  ValueType type = ValueType::f64;
  std::uint64_t first_col = 0;
};

/// Memory for the rows of one piece.
struct RowArrays {
  Array<std::uint64_t> row_ptr;
  Array<std::uint32_t> col_idx;
  Array<std::byte> values;

  CsrTarget target(std::uint64_t rows, std::uint64_t room, ValueType type) {
    row_ptr.reset(rows + 1);
    col_idx.reset(room);
    values.reset(room * size_of(type));
    return {row_ptr.data(), col_idx.data(), values.data(), type, room};
  }
};

/// Removes entries outside the columns `wanted`, and positive zeros, from rows whose row_ptr is
/// set; counts columns from the first wanted one.
void keep_wanted(const CsrTarget& rows, std::uint64_t count, Range wanted);

/// Appends the cells of a dense row of `rows.type` that are not positive zero, after entry `k`;
/// returns how many entries there are then. REQUIRES room for the whole row.
std::uint64_t append_row(const std::byte* row, std::uint32_t width, const CsrTarget& rows,
                         std::uint64_t k);

/// True when the driver's arrays of a CSR or COO block can be used for values of `type`: they are
/// made of whole rows, so a value that does not fit must not be outside of the columns `cols`, and
/// whether it fits the declared type is not asked row by row.
bool fits_arrays(const Entry& block, Range cols, ValueType declared, ValueType type) noexcept;

/// The part of a block that a run of columns shares. The const functions may be called from any
/// thread.
class StreamBlock {
 public:
  /// REQUIRES a confirmed entry that shares cells with these rows and columns.
  StreamBlock(const Store& store, const Entry& entry, Range rows, const ColumnRun& columns,
              std::optional<ValueType> type);

  /// Rows of the object.
  Range rows() const noexcept { return rows_; }
  std::uint64_t first_col() const noexcept { return first_col_; }
  /// On average, as far as the index tells.
  double entries_per_row() const noexcept;

  /// True when the rows are found by a cursor, so that `skip` says exactly what they hold.
  bool has_cursor() const noexcept { return way_ == Way::arrays; }
  /// A cursor at the first of its rows.
  RowCursor cursor() const;
  /// Moves the cursor to the row after `band`; returns the entries of the rows that it passed.
  std::uint64_t skip(Range band, RowCursor& cursor) const;

  /// True when it has far fewer entries than rows: then `next_row` finds the next one with entries.
  bool is_rare() const noexcept { return rare_; }
  /// The first row from `row` on that may have entries; the end of the rows when none has.
  std::uint64_t next_row(std::uint64_t row) const;

  /// The entries of these rows that are not positive zero, in `arrays` or in memory of the block.
  /// With a cursor, `start` is at their first row or above, and they hold `entries`. Throws
  /// corrupt, type_mismatch, io.
  RowPiece decode(Range band, RowCursor start, std::uint64_t entries, RowArrays& arrays) const;

 private:
  enum class Way : std::uint8_t { arrays, scan, kept_arrays, kept_cells };

  Way choose_way(bool uniform) const;
  Range in_block(Range band) const noexcept {
    return {band.begin - entry_.pos.rx, band.end - entry_.pos.rx};
  }
  void decode_arrays(Range rows, RowCursor start, std::uint64_t room, RowArrays& arrays) const;
  void scan(Range band, RowArrays& arrays) const;
  void keep() const;
  void keep_cells() const;
  void scan_columns(std::uint64_t first, const CellRun::Take& take) const;
  RowPiece kept_rows(Range band, RowArrays& arrays) const;

  const Store& store_;
  const Entry entry_;
  const Part part_;  // what is wanted of it
  const Range rows_;
  const std::uint64_t first_col_;
  const bool rare_;
  const bool as_declared_;  // values are bits of whatever type their columns declare
  ValueType type_;          // of the values
  Way way_;

  mutable std::mutex mutex_;  // guards the making of
  mutable bool kept_ = false;
  mutable RowArrays kept_rows_;
  mutable std::vector<StoredCell> kept_cells_;  // ascending
};

}  // namespace dapple::detail
