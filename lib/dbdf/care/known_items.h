// Where blocks start as the index of a file has it, whole or damaged: hints for a walk over the
// body, each of which is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/io/file.h"
#include "lib/object/index.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

/// What a walk over the body finds that knows of no index, up to the first item that breaks one of
/// R1, R2 and R4.
struct PlainWalk {
  EntryTable blocks;   // that hold cells, in file order
  bool clean = false;  // it came to the end of the file

  /// Throws io.
  PlainWalk(const MappedFile& file, std::uint64_t body, const Schema& schema);
  /// The byte from which on an index can stand: behind the last block, or where that one starts
  /// when the walk broke off, because its length may be what is damaged.
  std::uint64_t end_of_blocks(std::uint64_t body) const;
  /// The number of the block that starts at this byte.
  std::optional<std::uint64_t> number_at(std::uint64_t start) const;
  /// True when the byte, where no block starts, belongs to one.
  bool is_inside_block(std::uint64_t at) const;
  /// True when each cell of the object lies in exactly one block.
  bool covers(const Schema& schema) const;

 private:
  std::uint64_t count_before(std::uint64_t at) const;  // blocks that start in front of it
};

class KnownItems {
 public:
  KnownItems(const std::shared_ptr<MappedFile>& file, std::uint64_t body, const Schema& schema,
             const PlainWalk& walk);

  /// The index is as it was written, and knows every block.
  bool complete() const noexcept { return complete_; }
  /// The index is as it was written, and yet made to deceive: the body is sound without it, and is
  /// made of other blocks. What it has of blocks that are there is still known.
  bool lies() const noexcept { return lies_; }
  /// The trailer is sound: the file has the size that it had.
  bool has_trailer() const noexcept { return has_trailer_; }
  /// The file's header is not the one that the index was written with.
  bool other_header() const noexcept { return other_header_; }
  /// The byte where the payload of the index starts, damaged or not, if there is one.
  const std::optional<std::uint64_t>& payload() const noexcept { return payload_; }

  /// What the index has of the block that starts at this byte.
  std::optional<Entry> find(std::uint64_t start) const;
  /// The first start behind `at`; 2^64-1 if there is none.
  std::uint64_t next(std::uint64_t at) const;
  /// The blocks that the index names, as far as its entries make sense; none when it lies. Those of
  /// a damaged index need not be there.
  EntryTable named(std::uint64_t body, const Schema& schema) const;

 private:
  using Item = std::pair<std::uint64_t, std::uint64_t>;  // start, byte of the entry in the file

  bool is_proven(const Entry& e);
  bool contradicts(const PlainWalk& walk, const Schema& schema) const;

  std::shared_ptr<MappedFile> file_;
  bool complete_ = false, lies_ = false, has_trailer_ = false, other_header_ = false;
  std::optional<std::uint64_t> payload_;
  std::uint64_t entries_ = 0, count_ = 0;  // byte of the first entry; how many there may be
  std::uint64_t to_hash_;                  // bytes that may still be hashed to prove entries
  std::vector<Item> items_;
};

}  // namespace dapple::detail::dbdf
