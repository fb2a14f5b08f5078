// The index of a file, if it is as it was written: where blocks start, and their hashes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/dbdf/index_block.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

/// True when both describe the same block, whatever its offset.
bool same_block(const Entry& a, const Entry& b) noexcept;

class WholeIndex {
 public:
  /// Reads the trailer and the whole index, to compare it with its hash. O(bytes of the index).
  WholeIndex(const std::shared_ptr<ByteSource>& file, std::uint64_t body);

  /// The file has an index, which matches its hash. Otherwise there are no entries.
  bool found() const noexcept { return found_; }
  /// The trailer is intact, whatever the rest is.
  bool has_trailer() const noexcept { return has_trailer_; }
  /// The file header is not the one that the index was written with.
  bool other_header() const noexcept { return other_header_; }
  std::uint64_t size() const noexcept { return found_ ? place_.count : 0; }
  /// True for the index and for hints; all other auxiliary items are padding.
  bool is_hint(const Entry& auxiliary) const noexcept { return auxiliary.offset >= hints_; }

  /// True when these blocks, in file order, are those of the index; then they get its hashes.
  bool lists(EntryTable& blocks) const;
  /// True when the index, though it has the right hash, does not name the blocks of a body that is
  /// sound by itself: each of rows x cols cells is in one of `blocks`, or the index names but some
  /// of them.
  bool lies(const EntryTable& blocks, std::uint64_t rows, std::uint64_t cols);
  /// Forgets the entries of which no such block starts where they say. O(n log n).
  void keep_only(const EntryTable& blocks);

  /// Calls f(entry) for each of them. REQUIRES the same as `find`.
  template <class F>
  void for_each(const F& f) const {
    for (const Start& start : starts_) {
      if (start.number < size()) f(entry(start.number));
    }
  }
  /// The entry of the block that starts at this byte. REQUIRES that `arrange` was called.
  std::optional<Entry> find(std::uint64_t start) const;
  /// Where the first block, or the index, after `at` starts; 2^64-1 if there is none. REQUIRES the
  /// same.
  std::uint64_t next(std::uint64_t at) const;
  /// Prepares for both. O(n log n).
  void arrange();

 private:
  struct Start {
    std::uint64_t byte = 0;    // where the position of a block is
    std::uint64_t number = 0;  // of its entry
    friend auto operator<=>(const Start&, const Start&) = default;
  };
  Entry entry(std::uint64_t number) const;

  std::shared_ptr<ByteSource> file_;
  BlockIndex::Place place_;
  bool found_ = false, has_trailer_ = false, other_header_ = false;
  std::uint64_t payload_ = 0;
  std::uint64_t hints_ = 0;  // where hints and index start
  std::vector<Start> starts_;
};

}  // namespace dapple::detail::dbdf
