// The blocks of a region, found through the index alone: no byte of a block is touched.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
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
    const BlockRange blocks = object_.blocks();
    if (!grid_ || region == Region{{0, object_.rows()}, {0, object_.cols()}}) {
      for_each_in(blocks, 0, blocks.size(), [&](const BlockInfo& block) {
        if (!intersect(block.cells(), region).empty()) take(block);
      });
      return;
    }
    // Tiles listed row by row, as they mostly are, are found by their numbers.
    const TileShape tile = grid_->tile;
    const std::uint64_t left = region.cols.begin / tile.cols;
    const std::uint64_t right = (region.cols.end - 1) / tile.cols + 1;
    for (std::uint64_t i = region.rows.begin / tile.rows; i <= (region.rows.end - 1) / tile.rows;
         ++i) {
      std::uint64_t j = left;
      for_each_in(blocks, i * grid_->cols + left, right - left, [&](const BlockInfo& likely) {
        const BlockPos pos{i * tile.rows, j++ * tile.cols};
        take(likely.pos == pos ? likely : find(blocks, pos));
      });
    }
  }

 private:
  /// `n` blocks in file order.
  template <class Take>
  static void for_each_in(const BlockRange& blocks, std::uint64_t first, std::uint64_t n,
                          const Take& take) {
    std::array<BlockInfo, 512> infos;
    for (std::uint64_t done = 0; done < n;) {
      const std::span<BlockInfo> part(infos.data(),
                                      std::min<std::uint64_t>(n - done, infos.size()));
      blocks.copy(first + done, part);
      for (const BlockInfo& block : part) take(block);
      done += part.size();
    }
  }
  BlockInfo find(const BlockRange& blocks, BlockPos pos) const;

  const BlockedObject& object_;
  std::optional<Grid> grid_;
  // Where the block of each tile is among blocks(), of files that do not list them row by row.
  mutable std::once_flag once_;
  mutable std::vector<std::uint64_t> order_;
};

}  // namespace dapple::picture
