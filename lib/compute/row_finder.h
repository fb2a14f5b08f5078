// Rows at random in a regular tiling of dense and CSR blocks, many at a time so that their cache
// misses overlap.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dapple/gather.h"
#include "lib/compute/row_decoder.h"
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

/// The same where nothing has to be looked up any more.
struct DirectRow {
  const BlockRows* block;
  const std::byte* at;  // the first wanted value of a dense block; a CSR block's count of the row,
                        // which its entries follow
  std::uint32_t entries;  // of a CSR block
  std::uint32_t bytes;    // of the row or what is wanted of it, at most 4 GiB
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

  enum class Dense : bool { no, yes };
  /// Finds rows in empty blocks, in dense blocks in place if they are asked for, and in CSR blocks
  /// that are wanted whole and have a full directory, as long as all values fit. False when another
  /// block is among them. Asks storage for what is not in memory.
  bool find_direct(std::span<const std::uint64_t> rows, Dense dense);
  /// The same for single cells, but of CSR blocks that have a full directory the whole row.
  bool find_direct(std::span<const CellPos> cells);
  std::span<const DirectRow> direct() const noexcept { return direct_; }
  /// The columns wanted of the j-th tile of a row, and the column of the result where they begin.
  Range cols(std::size_t j) const noexcept { return tiles_[j].cols; }
  std::uint64_t at(std::size_t j) const noexcept { return tiles_[j].at; }
  std::uint32_t col_in_tile(const CellPos& cell) const noexcept {
    return static_cast<std::uint32_t>(cell.col % grid_.tile.cols);
  }
  /// The j-th part of a row, or a cell, as `find` would find it. Throws corrupt when a row of a CSR
  /// block is not where the file's row directory says.
  FoundRow as_found(const DirectRow& part, std::uint64_t row, std::size_t j) const;
  FoundRow as_found(const DirectRow& part, const CellPos& cell) const;

  /// Decodes rows of values of this stored type; nullptr when `find_direct` refuses them.
  DecodeRow<std::uint64_t> decoder(ValueType stored) const noexcept {
    return decoders_[static_cast<std::size_t>(stored)];
  }

  /// Asks for the bytes of a row ahead of their use.
  void prefetch(const FoundRow& row) const noexcept;
  void prefetch(const DirectRow& row) const noexcept;

  /// The entries of a row of a CSR block that are wanted and not positive zero, after each other in
  /// `out`, whose row_ptr has two places; columns count from `row.cols.begin`. Returns how many.
  /// REQUIRES room for row.entries.
  std::uint64_t decode(const FoundRow& row, const CsrTarget& out) const;

 private:
  struct TileColumns {
    Range cols;  // in the tile
    std::uint64_t at;
  };
  bool find_in_block(const BlockRows& block, std::uint64_t row, Range cols, Dense dense,
                     DirectRow& out) const noexcept;
  template <class Find>
  bool find_loading(const Find& find);
  void load_missing();
  void ask_for_direct();
  FoundRow as_found(const DirectRow& part, std::uint64_t number, std::uint64_t row, Range cols,
                    std::uint64_t at) const;
  [[noreturn]] void fail_directory(const BlockRows& block) const;
  bool resolve();
  void find_rows();

  const Store& store_;
  const Grid grid_;
  const Range cols_;
  const ValueType type_;
  std::array<DecodeRow<std::uint64_t>, 11> decoders_{};  // by stored type
  std::vector<TileColumns> tiles_;
  bool whole_tiles_ = true;
  std::vector<FoundRow> found_;
  std::vector<DirectRow> direct_;
  std::vector<std::uint64_t> missing_;
  std::vector<Range> wanted_;
  std::vector<std::unique_ptr<BlockRows>> unkept_;  // that others pushed out of memory meanwhile
  std::optional<RowAccess::Reader> reader_;
};

}  // namespace dapple::detail
