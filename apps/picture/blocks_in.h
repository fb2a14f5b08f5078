// The blocks of a region, found through the index alone: no byte of a block is touched.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "dapple/blocked_object.h"

namespace dapple::picture {

/// Borrows its object. Any thread.
class BlocksIn {
 public:
  explicit BlocksIn(const BlockedObject& object) : object_(object), grid_(object.grid()) {}

  const BlockedObject& object() const noexcept { return object_; }

  /// Calls `take(const BlockInfo&)` for every block that has a cell in `region`. In a regular
  /// tiling O(blocks of the region), in any other O(blocks). Throws corrupt, and what `take`
  /// throws.
  template <class Take>
  void for_each(const Region& region, const Take& take) const {
    if (region.empty()) return;
    if (!grid_ || region == Region{{0, object_.rows()}, {0, object_.cols()}}) {
      for (const BlockInfo& block : object_.blocks()) {
        if (!intersect(block.cells(), region).empty()) take(block);
      }
      return;
    }
    const TileShape tile = grid_->tile;
    for (std::uint64_t i = region.rows.begin / tile.rows; i * tile.rows < region.rows.end; ++i) {
      for (std::uint64_t j = region.cols.begin / tile.cols; j * tile.cols < region.cols.end; ++j) {
        take(tile_info(i, j));
      }
    }
  }

 private:
  BlockInfo tile_info(std::uint64_t i, std::uint64_t j) const;

  const BlockedObject& object_;
  std::optional<Grid> grid_;
  // Where the block of each tile is among blocks(), of files that do not list them row by row.
  mutable std::once_flag once_;
  mutable std::vector<std::uint64_t> order_;
};

}  // namespace dapple::picture
