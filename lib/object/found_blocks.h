// What becomes an index when a file's blocks are found one after the other.
#pragma once

#include <cstdint>
#include <string>

#include "lib/object/entry_summary.h"
#include "lib/object/index.h"
#include "lib/object/tile_run.h"

namespace dapple::detail {

/// Blocks in file order: a run as long as they are one, else entries in a table (10^6 blocks of 538
/// bytes: 64 ms, so 56, and 64 MB less).
class FoundBlocks {
 public:
  /// None yet, of an object of rows x cols cells.
  FoundBlocks(std::uint64_t rows, std::uint64_t cols) noexcept
      : summary_(rows, cols), run_(rows, cols) {}

  void add(const Entry& entry) {
    summary_.see(entry);
    if (table_.size() == 0 && summary_.is_even() && run_.take(entry)) return;
    if (table_.size() == 0) keep_run();
    table_.push_back(entry);
  }

  std::uint64_t size() const noexcept { return summary_.counts().total; }

  /// There may be about `n` of them: growing a table of millions by copying costs more than it
  /// takes to find them. Room that is not used is never touched; where the system has not so much,
  /// the table grows.
  void expect(std::uint64_t n) noexcept {
    expected_ = n;
    if (table_.size() != 0) make_room();
  }

  /// An index of them. Throws corrupt when two share a cell (rule R3); `file` is named then.
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
