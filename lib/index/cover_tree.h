// The tree in which the block that covers a cell is found (cover_search.h) when the blocks form no
// regular tiling.
//
// Most real partitions can be cut recursively into bands of rows or columns that no block crosses:
// a node lists such bands, and a lookup is one binary search per level. Where no balanced set of
// bands exists (spirals, pinwheels), a node "pins" the blocks that cross its middle row. Those are
// disjoint in columns, so one binary search finds the only candidate; all other blocks are above
// or below the row. Each level rules out at least a quarter of the blocks: O(log n) levels,
// O(log^2 n) steps at worst, O(n) words.
//
// The tree is a list of u64 words, the same in memory and in the file:
//   word 0           ref of the root
//   ref              0: nothing; 2 b + 1: block number b; 2 w: the node at word w
//   bands of rows    4 m + 0, then m first rows, then m refs
//   bands of columns 4 m + 1, then m first columns, then m refs
//   pin              4 m + 2, row, ref above, ref below, m first columns, m block numbers
// A node's children follow it, which bounds a walk over a damaged tree.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/index/entries.h"

namespace dapple::detail {

enum class CoverNode : std::uint8_t { row_bands = 0, col_bands = 1, pin = 2 };

struct CoverTree {
  std::vector<std::uint64_t> words;
  bool pinned = false;  // some node is a pin; if none is, the blocks are proven to be disjoint
};

/// The tree for these blocks, which have their numbers as in the table. REQUIRES that none is
/// empty. O(n log^2 n), or O(n log n) without pins. 40 bytes per block, and the tree.
CoverTree build_cover_tree(const EntryTable& blocks);

}  // namespace dapple::detail
