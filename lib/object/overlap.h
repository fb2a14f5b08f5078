// Blocks that share a cell (rule R3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dapple/error.h"
#include "lib/object/index.h"

namespace dapple::detail {

struct Overlap {
  std::uint64_t earlier, later;  // entry numbers, by their place in the file
};

/// The entries in ascending order of positions, those of one position by their place in the file.
EntryTable sorted_by_position(const EntryTable& entries);

/// A pair for every block that shares a cell with one that stands before it among the sorted
/// entries and was not itself in such a pair. Empty: no two blocks share a cell. O(n log n).
std::vector<Overlap> find_overlaps(const EntryTable& entries);

Error overlap_error(const EntryTable& entries, const Overlap& overlap, const std::string& file);

}  // namespace dapple::detail
