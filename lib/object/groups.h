// Groups of columns: which columns of a frame make one, and whether two are the same.
#pragma once

#include <span>
#include <vector>

#include "dapple/column.h"
#include "dapple/region.h"

namespace dapple::detail {

/// The columns of the group whose first column is `col`; empty unless all are there, in order.
Range whole_group(std::span<const Column> columns, std::uint64_t col) noexcept;

/// The columns of each group that is there as a whole, in order. O(columns).
std::vector<Range> all_groups(std::span<const Column> columns);

/// True when the columns are the same slot of groups of one name and size, or both of none. The
/// names of other slots are not compared.
bool same_slot(const Column& a, const Column& b);

/// True when the words are the same ones in the same order. O(words).
bool same_words(const Dictionary* a, const Dictionary* b);

}  // namespace dapple::detail
