// Where blocks go on behind a damaged header, in a file without an index, and which of the blocks
// around it can be believed: a block must never be taken for another one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "lib/dbdf/header.h"
#include "lib/file.h"
#include "lib/object/index.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// The tile shape that most of these blocks fit, cut off at the object's edges; nothing when that
/// is fewer than two, or fewer than two of three.
std::optional<TileShape> common_tile(const EntryTable& blocks, const Schema& schema);

/// True when a block of this place and extent is a tile of that shape.
bool is_tile(const Entry& block, TileShape tile, const Schema& schema) noexcept;

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
  bool may_be_cut(std::uint64_t at, const EntryTable& blocks) const;

 private:
  std::optional<Item> item_at(std::uint64_t at) const;
  bool reaches_end(std::uint64_t at);

  const MappedFile& file_;
  const Schema& schema_;
  std::set<std::uint64_t> rejected_;
  std::vector<bool> leads_nowhere_;  // by byte: no items follow each other from here to the end
};

}  // namespace dapple::detail::dbdf
