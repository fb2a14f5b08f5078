// What an index needs to know about its entries as a whole, collected while they are found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lib/index/block_index.h"

namespace dapple::detail {

/// Sees the entries one by one in file order, because a second pass over a table of 10^6 entries
/// takes as long as finding them.
class EntrySummary {
 public:
  /// For the blocks of an object of rows x cols cells.
  EntrySummary(std::uint64_t rows, std::uint64_t cols) noexcept : rows_(rows), cols_(cols) {}

  void see(const Entry& e) noexcept {
    count(e);
    sorted_ = sorted_ && last_ <= e.pos;
    last_ = e.pos;
    if (counts_.total == 1) tile_ = {e.rows, e.cols};
    if (!even_) return;
    even_ = next_.rx < rows_ && e.pos == next_ &&
            e.rows == std::min<std::uint64_t>(tile_.rows, rows_ - next_.rx) &&
            e.cols == std::min<std::uint64_t>(tile_.cols, cols_ - next_.cx);
    if (e.cols == cols_ - next_.cx) {
      next_ = {next_.rx + e.rows, 0};
    } else {
      next_.cx += e.cols;
    }
  }

  const BlockCounts& counts() const noexcept { return counts_; }
  Region object() const noexcept { return {{0, rows_}, {0, cols_}}; }
  /// True when they came in ascending order of positions.
  bool sorted() const noexcept { return sorted_; }
  /// The regular tiling that they form in ascending order, if they do.
  std::optional<Grid> grid() const noexcept {
    if (counts_.total == 0 || !even_ || next_ != BlockPos{rows_, 0}) return std::nullopt;
    return Grid{(rows_ - 1) / tile_.rows + 1, (cols_ - 1) / tile_.cols + 1, tile_};
  }
  /// A new summary for the same object.
  EntrySummary of_none() const noexcept { return {rows_, cols_}; }

 private:
  void count(const Entry& e) noexcept {
    ++counts_.total;
    counts_.stored += e.stored;
    counts_.empty += e.kind == BlockKind::empty;
    counts_.dense += e.kind == BlockKind::dense;
    counts_.csr += e.kind == BlockKind::csr;
    counts_.coo += e.kind == BlockKind::coo;
  }

  std::uint64_t rows_, cols_;
  BlockCounts counts_;
  bool sorted_ = true;
  BlockPos last_;
  bool even_ = true;
  TileShape tile_;  // of the tiling
  BlockPos next_;   // where its next tile starts
};

}  // namespace dapple::detail
