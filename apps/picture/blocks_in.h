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

  /// Calls `take(const BlockInfo&)` for every block that has a cell in `region`, until it returns
  /// false. In a regular tiling O(blocks of the region), in any other O(blocks). Throws corrupt,
  /// and what `take` throws.
  template <class Take>
  void for_each_while(const Region& region, const Take& take) const {
    if (region.empty()) return;
    const BlockRange blocks = object_.blocks();
    if (!grid_ || is_large(region)) {
      for_each_in(blocks, 0, blocks.size(), [&](const BlockInfo& block) {
        return intersect(block.cells(), region).empty() || take(block);
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
      const auto take_tile = [&](const BlockInfo& likely) {
        const BlockPos pos{i * tile.rows, j++ * tile.cols};
        return take(likely.pos == pos ? likely : find(blocks, pos));
      };
      if (!for_each_in(blocks, i * grid_->cols + left, right - left, take_tile)) return;
    }
  }
  /// The same for every one of them.
  template <class Take>
  void for_each(const Region& region, const Take& take) const {
    for_each_while(region, [&](const BlockInfo& block) {
      take(block);
      return true;
    });
  }

  /// The block, whose index entry is compared with its header. Throws as BlockedObject::block.
  Block fetch(const BlockInfo& block) const {
    if (!grid_) return object_.block(block.pos);
    return object_.tile(block.pos.rx / grid_->tile.rows, block.pos.cx / grid_->tile.cols);
  }

 private:
  /// Whether the region has enough of the tiles that going through all is faster.
  bool is_large(const Region& region) const noexcept {
    constexpr std::uint64_t kSlower = 32;  // to look a tile up, where they are in no order
    const auto tiles = [](Range cells, std::uint64_t size) { return cells.size() / size + 1; };
    return tiles(region.rows, grid_->tile.rows) * tiles(region.cols, grid_->tile.cols) >=
           object_.blocks().size() / kSlower;
  }
  /// `n` blocks in file order, until `take` returns false; then so does this.
  template <class Take>
  static bool for_each_in(const BlockRange& blocks, std::uint64_t first, std::uint64_t n,
                          const Take& take) {
    std::array<BlockInfo, 512> infos;
    for (std::uint64_t done = 0; done < n;) {
      const std::span<BlockInfo> part(infos.data(),
                                      std::min<std::uint64_t>(n - done, infos.size()));
      blocks.copy(first + done, part);
      for (const BlockInfo& block : part) {
        if (!take(block)) return false;
      }
      done += part.size();
    }
    return true;
  }
  BlockInfo find(const BlockRange& blocks, BlockPos pos) const;

  const BlockedObject& object_;
  std::optional<Grid> grid_;
  // Where the block of each tile is among blocks(), of files that do not list them row by row.
  mutable std::once_flag once_;
  mutable std::vector<std::uint64_t> order_;
};

}  // namespace dapple::picture
