// Where blocks go on behind a damaged header, in a file without an index, and which of the blocks
// around it can be believed: a block must never be taken for another one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lib/dbdf/header.h"
#include "lib/io/file.h"
#include "lib/object/index.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// Of which shape most blocks are tiles, as more and more blocks are found.
class TileCounts {
 public:
  /// Counts those of `blocks` that are new. REQUIRES the table of the last call, to which blocks
  /// may have been added.
  void count(const EntryTable& blocks, const Schema& schema);
  std::uint64_t counted() const noexcept { return counted_; }
  /// The tile shape that most of them fit, cut off at the object's edges; nothing when that is
  /// fewer than two, or fewer than two of three.
  std::optional<TileShape> common() const;

 private:
  std::uint64_t counted_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> fitting_;  // by rows and columns
};

/// The same of all these blocks.
std::optional<TileShape> common_tile(const EntryTable& blocks, const Schema& schema);

/// True when a block of this place and extent is a tile of that shape.
bool is_tile(const Entry& block, TileShape tile, const Schema& schema) noexcept;

/// Every call is given the same table of blocks, to which some may have been added.
class Resync {
 public:
  /// Both must outlive it.
  Resync(const MappedFile& file, const Schema& schema) : file_(file), schema_(schema) {}

  /// The first byte from `at` on where an item starts that can be believed: a tile of the common
  /// shape that is not among `blocks`, or an item from which others follow each other to the very
  /// end of the file, none of them without cells; with `to_end` only the latter. The file's size
  /// when there is none. O(bytes passed over).
  std::uint64_t next_item(std::uint64_t at, const EntryTable& blocks, bool to_end = false);

  /// No item starts at `at`, whatever it looks like.
  void reject(std::uint64_t at) { rejected_.insert(at); }

  /// True when the bytes from `at` to the end of the file look like the beginning of an item of
  /// which the rest was cut off: as far as they go, they are those of an auxiliary block, or of a
  /// block inside the object that is none of `blocks`.
  bool may_be_cut(std::uint64_t at, const EntryTable& blocks);

 private:
  void learn(const EntryTable& blocks);
  std::optional<Item> item_at(std::uint64_t at) const;
  bool reaches_end(std::uint64_t at);

  const MappedFile& file_;
  const Schema& schema_;
  TileCounts tiles_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> taken_;  // positions of blocks
  std::set<std::uint64_t> rejected_;
  std::vector<bool> leads_nowhere_;  // by byte: no items follow each other from here to the end
};

}  // namespace dapple::detail::dbdf
