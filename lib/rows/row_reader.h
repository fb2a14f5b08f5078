// From the rows of a block to entries of sparse rows: columns and values of one type, ascending and
// without positive zeros.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dapple/array.h"
#include "lib/object/block_rows.h"

namespace dapple::detail {

/// Where entries go, one after the other. Who reads into it has made room.
template <class Col>
struct RowSink {
  Col* cols;
  std::byte* values;
  std::uint64_t size = 0;

  void append(const Col* from, const std::byte* from_values, std::uint64_t count,
              std::size_t value_size) {
    std::copy_n(from, count, cols + size);
    std::copy_n(from_values, count * value_size, values + size * value_size);
    size += count;
  }
};

/// Columns of a block, and the column of the result where they begin.
template <class Col>
struct WantedCols {
  Range cols;
  Col at;
};

/// Rows in three arrays; row pointers count from 0.
template <class Col>
struct BandArrays {
  Range rows{0, 0};
  Array<std::uint64_t> row_ptr;
  Array<Col> col_idx;
  Array<std::byte> values;

  /// Makes room, and gives a sink for it.
  RowSink<Col> reset(Range which, std::uint64_t room, std::size_t value_size) {
    rows = which;
    row_ptr.reset(rows.size() + 1);
    row_ptr[0] = 0;
    col_idx.reset(room);
    values.reset(room * value_size);
    return {col_idx.data(), values.data()};
  }
  std::uint64_t entries() const noexcept { return row_ptr[rows.size()]; }
};

/// What one thread needs to read rows. Col (u32 or u64) must hold the columns of the result.
template <class Col>
class RowReader {
 public:
  /// Values become `type`; without one, each is of the type that its column declares, in the low
  /// bytes of a word.
  RowReader(const Store& store, std::optional<ValueType> type);

  /// Leaves out entries in columns of the result for which this is 0, whether they fit the type or
  /// not. It must outlive the reader, and tell of all columns.
  void keep_only(std::span<const std::uint8_t> columns) noexcept { keep_ = columns; }

  /// Appends the wanted entries of these rows of a block; ends[i] is the size after the i-th of
  /// them. Of a block with a cursor, `start` is at the first row or above, and the rows store
  /// `stored` entries. REQUIRES room for `stored`, or for all wanted cells of a dense block. Throws
  /// corrupt, type_mismatch, io.
  void append(const BlockRows& block, Range rows, RowCursor start, std::uint64_t stored,
              const WantedCols<Col>& wanted, RowSink<Col>& out, std::uint64_t* ends);
  /// The same for one row of CSR entries; what comes `ahead` bytes later is asked for meanwhile.
  void append(const BlockRows& block, const StoredRow& row, const WantedCols<Col>& wanted,
              RowSink<Col>& out, std::size_t ahead = 0);

  /// Memory for `n` blocks side by side.
  std::vector<BandArrays<Col>>& pieces(std::size_t n) {
    if (pieces_.size() < n) pieces_.resize(n);
    return pieces_;
  }

 private:
  /// Entries of a row, their columns counted from the first wanted one.
  struct Picked {
    const std::uint32_t* cols;
    const std::byte* values;
    std::size_t step;  // bytes from value to value
    std::uint64_t count;
    std::optional<ValueType> type;  // of the values; nothing: as each column declares
  };

  void append_encoded(const BlockRows& block, Range rows, RowCursor start, std::uint64_t stored,
                      const WantedCols<Col>& wanted, RowSink<Col>& out, std::uint64_t* ends);
  void append_arrays(const BlockRows& block, Range rows, RowCursor start, std::uint64_t stored,
                     const WantedCols<Col>& wanted, RowSink<Col>& out, std::uint64_t* ends);
  void append_kept(const BlockRows& block, Range rows, const WantedCols<Col>& wanted,
                   RowSink<Col>& out, std::uint64_t* ends);
  void append_dense(const BlockRows& block, Range rows, const WantedCols<Col>& wanted,
                    RowSink<Col>& out, std::uint64_t* ends);
  void append_cells(const BlockRows& block, Range rows, const std::byte* cells, std::size_t step,
                    std::optional<ValueType> type, const WantedCols<Col>& wanted, RowSink<Col>& out,
                    std::uint64_t* ends);
  std::uint64_t keep_of(const WantedCols<Col>& wanted, std::size_t size, std::uint64_t count);
  Picked pick(const BlockRows& block, const Picked& row, const WantedCols<Col>& wanted);
  void put(const BlockRows& block, std::uint64_t row, const Picked& picked,
           const WantedCols<Col>& wanted, RowSink<Col>& out);
  const std::byte* convert(const BlockRows& block, std::uint64_t row, const Picked& picked,
                           Range cols);
  void convert_each(const BlockRows& block, std::uint64_t row, const Picked& picked, Range cols);
  void fail_cell(const BlockRows& block, std::uint64_t row, std::uint64_t col,
                 ValueType type) const;

  const Store& store_;
  const std::optional<ValueType> type_;
  const ValueType out_type_;           // u64 for words
  std::array<bool, 11> is_certain_{};  // by stored type: out_type_ holds all of it
  std::span<const std::uint8_t> keep_;
  std::vector<BandArrays<Col>> pieces_;
  Array<std::uint64_t> row_ptr_;
  Array<std::uint32_t> encoded_starts_, cols_, picked_cols_;
  Array<std::byte> values_, picked_, converted_;
};

}  // namespace dapple::detail
