// Rows at random in a regular tiling of dense and CSR blocks, many at a time so that their cache
// misses overlap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dapple/gather.h"
#include "lib/object/row_access.h"

namespace dapple::detail {

/// What one tile has of a row.
struct FoundRow {
  const BlockRows* block;
  std::uint64_t number;   // of the block
  std::uint64_t row;      // in the block
  Range cols;             // wanted ones, in the block
  std::uint64_t at;       // column of the result where they begin
  RowCursor cursor;       // of a CSR block: at the row
  std::uint64_t entries;  // of the row, as far as its count tells
};

/// For one worker.
class RowFinder {
 public:
  /// What was found is let go at the end of this: others may wait to change what is remembered.
  class Hold {
   public:
    explicit Hold(RowFinder& finder) noexcept : finder_(finder) {}
    ~Hold() { finder_.reader_.reset(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    RowFinder& finder_;
  };

  /// For columns [cols.begin, cols.end) of rows of a matrix. REQUIRES `possible`.
  RowFinder(const Store& store, Range cols, ValueType type);

  /// True when blocks form a grid, so that a row's tiles are known by their numbers.
  static bool possible(const Store& store) noexcept;

  std::uint64_t tiles_per_row() const noexcept { return tiles_.size(); }

  /// Finds these rows: `tiles_per_row()` results for each, in ascending order of columns, valid
  /// while a Hold lasts. Nothing when a block of another kind is among them, or one whose values
  /// have to be looked at one by one.
  bool find(std::span<const std::uint64_t> rows);
  /// The same for single cells: one result each, whose `cols` is the cell.
  bool find(std::span<const CellPos> cells);

  std::span<const FoundRow> found() const noexcept { return found_; }

  /// Asks for the bytes of a row ahead of their use.
  void prefetch(const FoundRow& row) const noexcept;

  /// The entries of a row of a CSR block that are wanted and not positive zero, after each other in
  /// `out`, whose row_ptr has two places; columns count from `row.cols.begin`. Returns how many.
  /// REQUIRES room for row.entries.
  std::uint64_t decode(const FoundRow& row, const CsrTarget& out) const;

 private:
  struct TileColumns {
    Range cols;  // in the tile
    std::uint64_t at;
  };
  bool resolve();
  void find_rows();

  const Store& store_;
  const Grid grid_;
  const Range cols_;
  const ValueType type_;
  std::vector<TileColumns> tiles_;
  std::vector<FoundRow> found_;
  std::vector<std::uint64_t> missing_;
  std::vector<std::unique_ptr<BlockRows>> unkept_;  // that others pushed out of memory meanwhile
  std::optional<RowAccess::Reader> reader_;
};

}  // namespace dapple::detail
