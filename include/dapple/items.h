// All items of a file's body in file order: blocks of cells, padding, indexes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "dapple/blocked_object.h"

namespace dapple {

/// What an item of the body is for.
enum class ItemRole : std::uint8_t {
  cells,      // a block that holds cells
  no_cells,   // a block of zero area
  padding,    // auxiliary: aligns the block after it
  index,      // auxiliary: the block index
  auxiliary,  // auxiliary: anything else
};
std::string_view name(ItemRole role) noexcept;

/// Calls `take` for every item, walking the file from header to header whatever index it has. For
/// foreign formats the items are the blocks. Throws corrupt (R1, R2, R4), io, and what `take`
/// throws. O(items).
void for_each_item(const BlockedObject& object,
                   const std::function<void(const BlockInfo&, ItemRole)>& take);

}  // namespace dapple
