// Blocks that share a cell (R3), and cells that are in no block (R7).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dapple/error.h"
#include "lib/index/block_index.h"

namespace dapple::detail {

struct Overlap {
  std::uint64_t earlier, later;  // entry numbers; the earlier one comes first in the file
};

/// The numbers of the entries in ascending order of position, then of offset in the file. Empty if
/// they already are in that order. 8 bytes per entry.
std::vector<std::uint64_t> order_by_position(const EntryTable& entries);

/// A sweep over the rows of rectangles that keeps the columns of those that the current row
/// crosses.
class OverlapSweep {
 public:
  /// Takes a rectangle, and gives the number of one before it that shares a cell with it: then it
  /// is left out. REQUIRES rectangles that are not empty, in ascending order of their first rows.
  std::optional<std::uint64_t> add(const Region& cells, std::uint64_t number);

 private:
  struct Active {
    std::uint64_t col_end, number;
  };
  using Leaving = std::pair<std::uint64_t, std::uint64_t>;  // row end, first column
  std::map<std::uint64_t, Active> active_;                  // by first column; disjoint
  std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> leaving_;
};

/// Returns a pair for every block that shares a cell with an earlier one, unless that one is
/// itself the later of a pair; nothing when no two blocks share a cell. `order` lists the entries
/// by position (empty: they are sorted). O(n log n).
std::vector<Overlap> find_overlaps(const EntryTable& entries,
                                   std::span<const std::uint64_t> order = {});

Error overlap_error(const EntryTable& entries, const Overlap& overlap, const std::string& file);

__extension__ using Area = unsigned __int128;  // of regions, which can exceed 64 bits

/// How many of rows x cols cells are in none of these blocks, no two of which share a cell.
Area cells_in_none(const EntryTable& entries, std::uint64_t rows, std::uint64_t cols);

}  // namespace dapple::detail
