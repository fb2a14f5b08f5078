// Collecting the blocks that a walk over a file finds, and making an index of them.
#pragma once

#include <cstdint>
#include <string>

#include "lib/index/block_index.h"
#include "lib/index/entry_summary.h"
#include "lib/index/tile_run.h"

namespace dapple::detail {

/// Blocks in file order: kept as a TileRun as long as they form one, which saves 64 bytes per
/// block, otherwise as a table of entries.
class FoundBlocks {
 public:
  /// For the blocks of an object of rows x cols cells.
  FoundBlocks(std::uint64_t rows, std::uint64_t cols) noexcept
      : summary_(rows, cols), run_(rows, cols) {}

  void add(const Entry& entry) {
    summary_.see(entry);
    if (table_.size() == 0 && summary_.is_even() && run_.take(entry)) return;
    if (table_.size() == 0) keep_run();
    table_.push_back(entry);
  }

  std::uint64_t size() const noexcept { return summary_.counts().total; }

  /// Reserves room for about `n` blocks: growing a table of millions costs more than finding them.
  /// Unused room is never touched. A hint: without enough memory the table grows.
  void expect(std::uint64_t n) noexcept {
    expected_ = n;
    if (table_.size() != 0) make_room();
  }

  /// Makes the index. Throws corrupt, naming `file`, when two blocks share a cell (R3).
  BlockIndex make_index(const std::string& file) &&;

 private:
  void make_room() noexcept;
  void keep_run();

  EntrySummary summary_;
  TileRun run_;
  EntryTable table_;
  std::uint64_t expected_ = 0;
};

}  // namespace dapple::detail
