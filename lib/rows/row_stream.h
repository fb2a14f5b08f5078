// Rows in order. A stream walks a region of any partition from its first row to its last in bands,
// and gives the entries of each: columns ascending in every row, positive zeros left out, values in
// any type that holds them exactly. Matrix::read_csr, Source (so retiling and every sparse writer),
// stream_rows, Block::rows and columns at random consume it; row_finder.h finds single rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lib/base/parallel.h"
#include "lib/object/row_counts.h"
#include "lib/rows/row_reader.h"

namespace dapple::detail {

/// Neighbouring columns of an object, and the column of the result where they go.
struct ColumnRun {
  Range from;
  std::uint64_t at = 0;
};

/// A band of rows that was found, and is to be decoded.
class RowBand {
 public:
  /// Counted from the stream's first row. Rows between one band and the next are empty.
  Range rows() const noexcept { return rows_; }
  /// Entries of blocks with a cursor, in this band and in those before it.
  std::uint64_t stored() const noexcept { return stored_; }
  std::uint64_t stored_before() const noexcept { return stored_before_; }

 private:
  friend class RowStream;
  /// A block, and what of it is in the band.
  struct Part {
    std::shared_ptr<const BlockRows> block;
    Range cols;                // in the block
    std::uint64_t at;          // column of the result where they begin
    RowCursor start{};         // of a block with a cursor,
    std::uint64_t stored = 0;  //   and the entries of its rows
  };
  Range rows_{0, 0};
  std::uint64_t stored_ = 0, stored_before_ = 0;
  std::vector<Part> parts_;  // by column
};

/// What a worker that decodes bands needs.
template <class Col>
struct BandSlot {
  RowReader<Col> reader;
  RowBand band{};
  BandArrays<Col> arrays{};
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

  /// How many entries there are if every block is sparse, has a cursor and is wanted whole: then a
  /// band's place in the result is known before any is decoded. Nothing otherwise.
  std::optional<std::uint64_t> stored() const noexcept { return stored_; }
  /// Entries to come as far as the index tells, without those of dense blocks; an estimate where
  /// parts of blocks are wanted.
  std::uint64_t expected() const noexcept;

  /// See RowReader; for `slots` and `for_each`.
  void keep_only(std::span<const std::uint8_t> columns) noexcept { keep_ = columns; }

  /// Finds the next band; false at the end.
  bool next(RowBand& band);

  /// Appends a band's entries to `out`; ends[i] is the size after row i. From any thread, with a
  /// reader of its own. REQUIRES room for stored(), in a stream that knows how many there are.
  /// Throws corrupt, type_mismatch, io.
  template <class Col>
  void decode(const RowBand& band, RowReader<Col>& reader, RowSink<Col>& out,
              std::uint64_t* ends) const;
  /// The same, in arrays that are made large enough.
  template <class Col>
  void decode(const RowBand& band, RowReader<Col>& reader, BandArrays<Col>& out) const;

  /// One for each of at most `threads` workers.
  template <class Col>
  std::vector<BandSlot<Col>> slots(unsigned threads) const;

  /// Calls take(arrays, worker, turn) for every band, decoded by at most `threads` workers; turns
  /// come in the order of rows. Of several errors, throws that of the first band.
  template <class Col>
  void for_each(unsigned threads,
                const std::function<void(BandArrays<Col>&, unsigned worker, Turn& turn)>& take);

 private:
  struct Member {
    std::uint64_t number;  // of a block that holds entries
    std::size_t run;       // whose columns it shares
    std::uint64_t first_row;
  };
  /// A block that has row_, where in it that begins, and the row after the band that is made.
  struct Active {
    RowBand::Part part;
    Range rows;  // wanted ones, of the object
    RowCursor cursor, next;
    std::optional<RowCounts> counts;  // that the file has of its rows, where most are wanted;
    RowCursor counted, counted_next;  //   and how far they were added up: whole counts
    bool rare;                        // far fewer entries than rows
  };

  void list_blocks(std::size_t run, Absent absent);
  void ask_ahead();
  bool update_active();
  void add_active(const Member& member);
  std::uint64_t next_row(const Active& active) const;
  Range next_rows() const;
  Range in_block(const RowBand::Part& part, Range band) const noexcept;
  std::uint64_t room_for(const RowBand::Part& part, Range band) const;
  template <class Col>
  void decode_part(const RowBand::Part& part, Range band, RowReader<Col>& reader, RowSink<Col>& out,
                   std::uint64_t* ends) const;
  bool set_rows(RowBand& band, Range rows);
  void find_counts(Active& active) const;
  void move_next(Active& active, std::uint64_t row) const;

  const Store& store_;
  const Range rows_;
  const std::vector<ColumnRun> columns_;
  const std::optional<ValueType> type_;
  std::span<const std::uint8_t> keep_;
  double expected_ = 0;
  std::optional<std::uint64_t> stored_ = 0;
  std::uint64_t done_ = 0;       // entries of blocks with a cursor in bands so far
  std::vector<Member> members_;  // by first row
  std::size_t loaded_ = 0;       // of them
  std::size_t asked_ = 0;        // of them, where they are far away
  std::uint64_t row_;            // of the object: those above it are done
  std::vector<Active> active_;   // by column
};

}  // namespace dapple::detail
