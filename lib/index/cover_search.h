// Searching a cover tree (cover_tree.h), in memory or in the mapped file. The words of a tree in a
// file are not trusted: a damaged tree ends in an error, never in a wild read or an endless loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dapple/region.h"
#include "lib/base/bytes.h"
#include "lib/index/cover_tree.h"
#include "lib/index/entries.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

class CoverSearch {
 public:
  /// An empty tree.
  CoverSearch() = default;
  explicit CoverSearch(std::vector<std::uint64_t> words) : memory_(std::move(words)) {}
  /// `n` words in a mapped file, from byte `first` on.
  CoverSearch(std::shared_ptr<const ByteSource> file, std::uint64_t first, std::uint64_t n)
      : file_(std::move(file)), first_(first), n_(n) {}

  /// The block that holds a cell of `object`, if there is one. Throws corrupt.
  std::optional<std::uint64_t> cover(const Entries& entries, const Region& object,
                                     std::uint64_t row, std::uint64_t col) const;
  /// Numbers of the blocks that share a cell with `region`, in any order. Throws corrupt.
  std::vector<std::uint64_t> touching(const Entries& entries, const Region& object,
                                      const Region& region) const;

  /// REQUIRES a tree in memory.
  const std::vector<std::uint64_t>& words() const noexcept { return memory_; }

 private:
  /// Words of a node, in ascending order unless the tree is damaged.
  class Words {
   public:
    Words(const std::byte* first, std::uint64_t n) noexcept : first_(first), n_(n) {}
    std::uint64_t operator[](std::uint64_t i) const noexcept {
      return load_le<std::uint64_t>(first_ + 8 * i);
    }
    std::uint64_t count_not_above(std::uint64_t x, Range within) const noexcept;
    Range span_of(std::uint64_t count, Range within) const noexcept;

   private:
    const std::byte* first_;
    std::uint64_t n_;
  };
  struct Node {
    CoverNode kind;
    std::uint64_t at;     // its word
    std::uint64_t count;  // of bands, or of pinned blocks
  };
  std::uint64_t size() const noexcept { return file_ != nullptr ? n_ : memory_.size(); }
  Words words_at(std::uint64_t first, std::uint64_t n) const;
  std::uint64_t word(std::uint64_t i) const { return words_at(i, 1)[0]; }
  Node node_at(std::uint64_t at, std::uint64_t parent) const;
  bool holds(const Entries& entries, std::uint64_t number, std::uint64_t row,
             std::uint64_t col) const;
  [[noreturn]] void fail(std::uint64_t word, std::string detail) const;

  std::vector<std::uint64_t> memory_;
  std::shared_ptr<const ByteSource> file_;
  std::uint64_t first_ = 0, n_ = 0;
};

}  // namespace dapple::detail
