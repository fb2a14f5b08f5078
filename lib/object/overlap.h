// Blocks that share a cell (rule R3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dapple/error.h"
#include "lib/object/index.h"

namespace dapple::detail {

struct Overlap {
  std::uint64_t earlier, later;  // entry numbers; the earlier one comes first in the file
};

/// The numbers of the entries in ascending order of position, then of offset in the file. Empty
/// when they are in that order already. 8 bytes per entry.
std::vector<std::uint64_t> order_by_position(const EntryTable& entries);

/// Walks the entries in `order` (empty: as they are), which must be by position, and gives a pair
/// for every block that shares a cell with an earlier one that is not itself the later of a pair.
/// Empty: no two blocks share a cell. O(n log n).
std::vector<Overlap> find_overlaps(const EntryTable& entries,
                                   std::span<const std::uint64_t> order = {});

Error overlap_error(const EntryTable& entries, const Overlap& overlap, const std::string& file);

}  // namespace dapple::detail
