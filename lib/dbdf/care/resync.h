// Where blocks continue after a damaged header in a file without an index, and which of the blocks
// around it are credible. Nothing else must ever be taken for a block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lib/dbdf/header.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// Finds the tile shape of most blocks, while blocks are being found.
class TileCounts {
 public:
  /// Counts the blocks that were added since the last call. REQUIRES the same table.
  void count(const EntryTable& blocks, const Schema& schema);
  std::uint64_t counted() const noexcept { return counted_; }
  /// The tile shape (clipped at the object's edges) that most blocks have; nothing when fewer than
  /// two have it, or fewer than two thirds.
  std::optional<TileShape> common() const;

 private:
  std::uint64_t counted_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> fitting_;  // by rows and columns
};

/// The same for all of these blocks.
std::optional<TileShape> common_tile(const EntryTable& blocks, const Schema& schema);

/// True when the block is a tile of that shape.
bool is_tile(const Entry& block, TileShape tile, const Schema& schema) noexcept;

/// `blocks` is the same table in every call; blocks may be added at its end.
class Resync {
 public:
  /// Both must outlive it.
  Resync(const ByteSource& file, const Schema& schema) : file_(file), schema_(schema) {}

  /// The first byte from `at` on where a credible item starts: a tile of the common shape that is
  /// not among `blocks` (unless `to_end`), or an item from which a chain of items, all auxiliary or
  /// with cells, leads to the very end of the file. The size of the file if there is none.
  /// O(bytes).
  std::uint64_t next_item(std::uint64_t at, const EntryTable& blocks, bool to_end = false);

  /// Never again takes the bytes at `at` for the start of an item.
  void reject(std::uint64_t at) { rejected_.insert(at); }

  /// True when the bytes from `at` to the end of the file may be the start of a truncated item: of
  /// an auxiliary block, or of a block inside the object that is not in `blocks`.
  bool may_be_cut(std::uint64_t at, const EntryTable& blocks);

 private:
  void learn(const EntryTable& blocks);
  std::optional<Item> item_at(std::uint64_t at) const;
  bool reaches_end(std::uint64_t at);

  const ByteSource& file_;
  const Schema& schema_;
  TileCounts tiles_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> taken_;  // positions of blocks
  std::set<std::uint64_t> rejected_;
  std::vector<bool> leads_nowhere_;  // by byte: no chain of items leads from here to the end
};

}  // namespace dapple::detail::dbdf
