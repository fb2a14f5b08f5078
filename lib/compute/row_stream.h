// The general way from blocks to sparse rows. A stream walks a region from its first row to its
// last in bands, and gives each band as three arrays: columns ascending in every row, positive
// zeros left out, values in any type that holds them exactly. Matrix::read_csr, Source (so retiling
// and every sparse writer), stream_rows and Block::rows consume it.
//
// A block takes one of three ways into a band, chosen when the stream reaches it:
//   arrays  CSR blocks whose driver finds rows by a cursor (`csr_arrays`, `skip_rows`): decoded
//   band
//           by band, nothing is kept.
//   scan    dense cells, in place where possible.
//   kept    everything else, decoded once and kept while the stream is inside the block: COO,
//           formats that only hand out single entries, frame columns of several types in one block,
//           few of a CSR block's columns, and values that may not fit the wanted type outside of
//           the region.
// Others read sparse blocks without it: `Driver::read` scatters entries into cells; Block::to_csr
// keeps explicit zeros; csr.h, few_columns.cpp and row_finder.h take rows of CSR tiles straight to
// where they are wanted, and fall back to a stream; block_cells.h visits entries in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/compute/stream_block.h"

namespace dapple::detail {

class Turn;

/// A band of rows. Its memory is reused from band to band.
class RowBand {
 public:
  /// Counted from the stream's first row. Rows between one band and the next are empty.
  Range rows() const noexcept { return rows_; }
  std::uint64_t entries() const noexcept { return entries_; }

  /// Writes the band's entries to `cols` and `values`, which have room for all of them, and where
  /// its rows end, counted from `base`, to row_ptr[1] to row_ptr[rows().size()]. REQUIRES that Col
  /// (u32 or u64) holds the columns.
  template <class Col>
  void place(std::uint64_t base, std::uint64_t* row_ptr, Col* cols, std::byte* values) const;

 private:
  friend class RowStream;
  struct Part {
    std::shared_ptr<const StreamBlock> block;
    RowCursor start;
    std::uint64_t entries = 0;  // of a block with a cursor
  };
  template <class Col>
  void copy(const RowPiece& piece, Range entries, Col* cols, std::byte* values) const;

  Range rows_{0, 0};
  std::uint64_t entries_ = 0;
  std::size_t value_size_ = 0;  // of the result
  std::vector<Part> parts_;
  std::vector<RowPiece> pieces_;
  std::vector<RowArrays> arrays_;
};

/// Used by one thread, but for `decode`.
class RowStream {
 public:
  /// Values are given as `type`; without one, each as the type that its column declares, in the low
  /// bytes of a word. Confirms every block of the region. Throws as `Store::for_each_block`.
  RowStream(const Store& store, Range rows, std::vector<ColumnRun> columns,
            std::optional<ValueType> type, Absent absent);
  RowStream(const Store& store, const Region& region, ValueType type, Absent absent)
      : RowStream(store, region.rows, {{region.cols, 0}}, type, absent) {}

  /// Entries to come as far as the index tells, without those of dense blocks; an estimate where
  /// parts of blocks are wanted.
  std::uint64_t expected() const noexcept;
  std::size_t value_size() const noexcept { return type_ ? size_of(*type_) : 8; }

  /// Calls take(band, worker, turn) for every band, decoded by at most `threads` workers; turns
  /// come in the order of rows. Throws corrupt, type_mismatch, io; of several errors that of the
  /// first band.
  using Take = std::function<void(const RowBand& band, unsigned worker, Turn& turn)>;
  void for_each(unsigned threads, const Take& take);

  /// Finds the next band; false at the end. `decode` must follow, from any thread, and for several
  /// bands at once.
  bool next(RowBand& band);
  void decode(RowBand& band) const;

 private:
  struct Member {
    std::uint64_t number;  // of a block that holds entries
    std::size_t run;       // whose columns it shares
    std::uint64_t first_row;
  };

  void list_blocks(std::size_t run, Absent absent);
  bool update_active();
  Range next_rows() const;
  bool set_rows(RowBand& band, Range rows);

  const Store& store_;
  const Range rows_;
  const std::vector<ColumnRun> columns_;
  const std::optional<ValueType> type_;
  double expected_ = 0;
  std::vector<Member> members_;  // by first row
  std::size_t loaded_ = 0;       // of them
  std::uint64_t row_;            // of the object: those above it are done

  /// A block that has row_, where in it that begins, and the row after the band that is made.
  struct Active {
    std::shared_ptr<const StreamBlock> block;
    RowCursor cursor, next;
  };
  std::vector<Active> active_;  // by column
};

}  // namespace dapple::detail
