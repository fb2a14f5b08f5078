// Rows and cells at random, many at a time so that their cache misses, and reads from storage,
// overlap.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dapple/gather.h"
#include "lib/object/row_access.h"
#include "lib/rows/row_reader.h"

namespace dapple::detail {

/// What one block has of a row: a cache line of it, since there are many.
struct RowPart {
  const IndexedRows* block;
  const std::byte* at;   // the first wanted value of a dense block in place; the count of a row of
                         // CSR entries, which its entries follow; their encoded columns;
                         // or nullptr
  std::uint64_t first;   // column of the result where the wanted ones begin
  std::uint64_t before;  // of a block with a cursor: its entries above the row,
  std::uint64_t stored;  //   and those of the row; otherwise the most that there can be
  std::uint32_t row;     // in the block
  std::uint32_t col_begin, col_end;  // wanted ones, in the block
  std::uint32_t bytes;               // from `at` on, at most 4 GiB
  std::uint32_t to_values;           // of encoded entries: from `at` to the values,
  std::uint32_t value_bytes;         //   and how many bytes of them there are

  Range cols() const noexcept { return {col_begin, col_end}; }
  Range rows() const noexcept { return {row, std::uint64_t{row} + 1}; }
};

/// What is wanted of a row, or a single cell.
inline Region cells_of(std::uint64_t row, Range cols) noexcept { return {{row, row + 1}, cols}; }
inline Region cells_of(const CellPos& cell, Range) noexcept {
  return {{cell.row, cell.row + 1}, {cell.col, cell.col + 1}};
}

/// For one worker.
class RowFinder {
 public:
  /// What was found is let go at the end of this: others may wait to change what is remembered.
  class Hold {
   public:
    explicit Hold(RowFinder& finder) noexcept;
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    RowFinder& finder_;
    const bool waits_;  // for storage, perhaps
  };

  /// For columns [cols.begin, cols.end) of rows.
  RowFinder(const Store& store, Range cols, Absent absent);

  /// How many parts a row has, where blocks form a grid; otherwise a guess.
  std::uint64_t parts_per_row() const noexcept;

  /// Finds the parts of these rows, in ascending order of columns, valid while a Hold lasts; or of
  /// single cells: one part each, or none where it is absent. Throws absent, corrupt, io.
  template <class T>
  void find(std::span<const T> list);

  /// Where rows or cells have to be decoded, they are used in the order of the file, or against it,
  /// because neighbours are decoded together. The k-th to be used is number `at(k)`.
  bool decodes() const noexcept { return !order_.empty(); }
  std::size_t at(std::size_t k) const noexcept { return decodes() ? order_[k] : k; }

  /// Of the i-th row or cell.
  std::span<const RowPart> parts(std::size_t i) const noexcept {
    return std::span(parts_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  /// Entries that the rows hold at most.
  std::uint64_t most() const noexcept;

  /// Asks for the bytes of parts some time before they are used; row `i` is used next.
  void use(std::size_t i) noexcept;

  /// Appends the wanted entries of a part.
  template <class Col>
  void append(const RowPart& part, RowReader<Col>& reader, Col first, RowSink<Col>& out) const;

 private:
  /// Rows that the same blocks have, which are in ascending order of columns.
  struct Stretch {
    struct Block {
      std::uint64_t number;
      BlockPos pos;
      Range cols;  // wanted ones
    };
    Range rows;
    std::vector<Block> blocks{};
  };

  void add(std::uint64_t number, BlockPos first, const Region& row, Range cols);
  Stretch stretch_of(const Region& row) const;
  void add_parts(const Stretch& stretch, const Region& row);
  void add_parts_of(std::uint64_t row);
  void add_parts_of(const CellPos& cell);
  void resolve();
  void load_missing();
  void locate(RowPart& part) const;
  void put_in_order();
  void ask_for_parts();

  const Store& store_;
  const Range cols_;
  const Absent absent_;
  std::vector<RowPart> parts_;
  std::vector<std::uint64_t> numbers_;          // of their blocks
  std::vector<std::size_t> begin_;              // of each row's parts, and the end
  std::map<std::uint64_t, Stretch> stretches_;  // by their first row, where there is no grid
  std::vector<std::uint32_t> order_;            // empty: as they were given
  std::size_t asked_ = 0, ahead_ = 0;           // parts, and their bytes that were not used yet
  std::vector<std::uint64_t> missing_;
  std::vector<Range> ranges_;
  /// By number, that others pushed out of memory meanwhile.
  std::map<std::uint64_t, std::unique_ptr<IndexedRows>> unkept_;
  std::optional<RowAccess::Reader> reader_;
};

}  // namespace dapple::detail
