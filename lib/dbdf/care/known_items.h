// Where blocks start according to the index of a file, intact or damaged: hints for a walk over the
// body, each of which is checked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/dbdf/header.h"
#include "lib/io/file.h"
#include "lib/object/index.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// Gets each item of a body, and the offset where it ends.
using SeeItem = std::function<void(const Item& item, std::uint64_t end)>;

/// What a walk over the body finds without the help of an index, up to the first item that breaks
/// R1, R2 or R4.
struct PlainWalk {
  EntryTable blocks;   // that hold cells, in file order
  bool clean = false;  // the walk reached the end of the file

  /// Throws io, and what `see` throws.
  PlainWalk(const MappedFile& file, std::uint64_t body, const Schema& schema, const SeeItem& see);
  /// The offset from which on an index can be found: after the last block, or, if the walk broke
  /// off, where that one starts, since its length may be what is damaged.
  std::uint64_t end_of_blocks(std::uint64_t body) const;
  /// The number of the block that starts at this byte.
  std::optional<std::uint64_t> number_at(std::uint64_t start) const;
  /// True when the byte, where no block starts, belongs to a block.
  bool is_inside_block(std::uint64_t at) const;
  /// True when each cell of the object is in exactly one block.
  bool covers(const Schema& schema) const;

 private:
  std::uint64_t count_before(std::uint64_t at) const;  // blocks that start before it
};

class KnownItems {
 public:
  /// Reads the trailer, and all bytes of the index to compare them with its hash.
  KnownItems(const std::shared_ptr<MappedFile>& file, std::uint64_t body);

  /// Compares the index, or what is left of it, with what a walk found. False when the index is
  /// damaged, or names other blocks. True when there is none, or when it agrees with the walk in
  /// every block; then the blocks of the walk get the hashes of the index.
  bool agrees(PlainWalk& walk, const Schema& schema);

  /// The index is as it was written, and knows every block.
  bool complete() const noexcept { return complete_; }
  /// The index is as it was written, but names other blocks than a body that is sound without it.
  /// What it says of blocks that are there is still used.
  bool lies() const noexcept { return lies_; }
  /// The trailer is intact: the file has the size that it had when it was written.
  bool has_trailer() const noexcept { return has_trailer_; }
  /// The file header is not the one that the index was written with.
  bool other_header() const noexcept { return other_header_; }
  /// The offset of the payload of the index, damaged or not, if there is one.
  const std::optional<std::uint64_t>& payload() const noexcept { return payload_; }

  /// True for the index and for hints, as their trailers tell; everything else auxiliary is
  /// padding.
  bool is_hint(const Entry& auxiliary) const noexcept { return auxiliary.offset >= hints_; }

  /// What the index says of the block that starts at this byte.
  std::optional<Entry> find(std::uint64_t start) const;
  /// The first start after `at`; 2^64-1 if there is none.
  std::uint64_t next(std::uint64_t at) const;
  /// The entries of the index that make sense; none if it lies. The blocks that a damaged index
  /// names need not be there.
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

  std::shared_ptr<MappedFile> file_;
  std::uint64_t body_;
  bool complete_ = false, lies_ = false, has_trailer_ = false, other_header_ = false;
  bool ordered_ = false;  // the index has a list of the blocks in file order
  std::optional<std::uint64_t> payload_;
  std::uint64_t hints_ = 0;                // from where on blocks are hints or the index
  std::uint64_t entries_ = 0, count_ = 0;  // offset of the first entry; how many there may be
  std::uint64_t to_hash_;                  // bytes that may still be hashed to prove entries
  std::vector<Start> starts_;
};

}  // namespace dapple::detail::dbdf
