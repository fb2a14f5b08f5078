// Where blocks start according to the index of a file, intact or damaged. It guides the walk over
// the body, and everything it says is checked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/dbdf/header.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// Receives each item of a body, and the offset where it ends.
using SeeItem = std::function<void(const Item& item, std::uint64_t end)>;

/// The result of a walk over the body without an index, up to the first item that breaks R1, R2 or
/// R4.
struct PlainWalk {
  EntryTable blocks;   // that hold cells, in file order
  bool clean = false;  // the walk reached the end of the file

  /// Throws io, and what `see` throws.
  PlainWalk(const ByteSource& file, std::uint64_t body, const Schema& schema, const SeeItem& see);
  /// The lowest offset where an index may be: after the last block, or, if the walk stopped early,
  /// where that block starts, since its length may be damaged.
  std::uint64_t end_of_blocks(std::uint64_t body) const;
  /// The number of the block that starts at this byte.
  std::optional<std::uint64_t> number_at(std::uint64_t start) const;
  /// True when the byte is inside a block. REQUIRES that no block starts there.
  bool is_inside_block(std::uint64_t at) const;
  /// True when each cell of the object is in exactly one block.
  bool covers(const Schema& schema) const;

 private:
  std::uint64_t count_before(std::uint64_t at) const;  // blocks that start before it
};

class KnownItems {
 public:
  /// Reads the trailer and the whole index, to compare it with its hash.
  KnownItems(const std::shared_ptr<ByteSource>& file, std::uint64_t body);

  /// Compares the index, or what is left of it, with the result of a walk. True when there is no
  /// index, or when it agrees in every block; then the blocks of the walk get the hashes of the
  /// index. False when the index is damaged or names other blocks.
  bool agrees(PlainWalk& walk, const Schema& schema);

  /// The index is as it was written, and knows every block.
  bool complete() const noexcept { return complete_; }
  /// The index is as it was written, but the body is sound by itself and has other blocks. What the
  /// index says about blocks that exist is still used.
  bool lies() const noexcept { return lies_; }
  /// The trailer is intact: the file has the size that it had when it was written.
  bool has_trailer() const noexcept { return has_trailer_; }
  /// The file header is not the one that the index was written with.
  bool other_header() const noexcept { return other_header_; }
  /// The offset of the payload of the index, damaged or not, if there is one.
  const std::optional<std::uint64_t>& payload() const noexcept { return payload_; }

  /// True for the index and for hints, according to their trailers; all other auxiliary items are
  /// padding.
  bool is_hint(const Entry& auxiliary) const noexcept { return auxiliary.offset >= hints_; }

  /// The index entry of the block that starts at this byte.
  std::optional<Entry> find(std::uint64_t start) const;
  /// The first start after `at`; 2^64-1 if there is none.
  std::uint64_t next(std::uint64_t at) const;
  /// Calls f for the entries of the index that make sense; for none if it lies. The blocks that a
  /// damaged index names may not exist.
  template <class F>
  void for_each_named(const Schema& schema, const F& f) const {
    for (std::uint64_t i = 0; i < count_ && !lies_; ++i) {
      if (const auto entry = named(i, schema)) f(*entry);
    }
  }

 private:
  using Start = std::pair<std::uint64_t, std::uint64_t>;  // of a block; offset of its entry

  const std::byte* line(std::uint64_t i) const;
  bool lists_exactly(PlainWalk& walk) const;
  bool is_proven(const Entry& e);
  bool contradicts(const PlainWalk& walk, const Schema& schema) const;
  std::optional<Entry> named(std::uint64_t i, const Schema& schema) const;

  std::shared_ptr<ByteSource> file_;
  std::uint64_t body_;
  bool complete_ = false, lies_ = false, has_trailer_ = false, other_header_ = false;
  bool ordered_ = false;  // the index has a list of the blocks in file order
  std::optional<std::uint64_t> payload_;
  std::uint64_t hints_ = 0;                // where hints and index start
  std::uint64_t entries_ = 0, count_ = 0;  // offset of the first entry; how many there may be
  std::uint64_t to_hash_;                  // bytes that may still be hashed to prove entries
  std::vector<Start> starts_;
};

}  // namespace dapple::detail::dbdf
