// The block index: where each rectangle of cells lies, in the object and in the file.
//
// Entries are 64 bytes each and are used in place: inside the mapped file for an embedded or
// sidecar index, in memory for one that was scanned or made by a foreign format, unless they follow
// from less (tile_run.h, entry_pages.h). They are sorted by (rx, cx). A regular tiling is looked up
// by arithmetic; any other partition through a cover tree (cover_tree.h). lib/dbdf/FORMAT.md gives
// every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dapple/array.h"
#include "dapple/block.h"
#include "dapple/blocked_object.h"
#include "lib/base/bytes.h"
#include "lib/io/file.h"
#include "lib/object/cover_tree.h"
#include "lib/object/entry.h"
#include "lib/object/tile_run.h"

namespace dapple::detail {

class EntryMaker;
class EntryPages;
class EntrySummary;

/// Byte positions inside the head in front of the entries of an index in place.
namespace head_at {
inline constexpr std::size_t tag = 0, empty = 8, dense = 16, csr = 24, coo = 32, stored = 40,
                             hash = 48,  // of what stands in front of it
    header = 56;                         // hash of the file's header; 0: not known
}

/// Entries in memory, 64 bytes each, aligned to 64. Large tables take large pages: the first touch
/// of ordinary ones was a fifth of what opening a file of 10^6 blocks without an index takes.
class EntryTable {
 public:
  EntryTable() = default;
  EntryTable(const EntryTable&) = default;
  EntryTable(EntryTable&& other) noexcept { swap(other); }
  EntryTable& operator=(EntryTable other) noexcept {
    swap(other);
    return *this;
  }
  ~EntryTable() = default;

  void reserve(std::uint64_t n);
  void push_back(const Entry& entry) {
    if (size_ == lines_.size()) grow();
    store_entry(lines_[size_++].bytes, entry);
  }
  std::uint64_t size() const noexcept { return size_; }
  const std::byte* data() const noexcept {
    return reinterpret_cast<const std::byte*>(lines_.data());
  }
  Entry operator[](std::uint64_t i) const noexcept {
    return load_entry(data() + i * Entry::kBytes);
  }
  void set(std::uint64_t i, const Entry& entry) noexcept { store_entry(lines_[i].bytes, entry); }
  void pop_back() noexcept { --size_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static_assert(sizeof(Line) == Entry::kBytes);
  void swap(EntryTable& other) noexcept {
    lines_.swap(other.lines_);
    std::swap(size_, other.size_);
  }
  void grow();

  Array<Line> lines_;  // the first size_ are in use
  std::uint64_t size_ = 0;
};

class BlockIndex {
 public:
  /// An object without blocks.
  BlockIndex() = default;

  /// An index in memory from entries in file order (of zero area: none). Sorts them, finds the
  /// grid or builds the cover tree. Throws corrupt when two share a cell (rule R3); `file` is
  /// named then. O(n) for a regular tiling in order, O(n log n) otherwise.
  static BlockIndex from_entries(EntryTable entries, std::uint64_t rows, std::uint64_t cols,
                                 const std::string& file);
  /// The same when they were all shown to `summary` (entry_summary.h).
  static BlockIndex from_entries(EntryTable entries, const EntrySummary& summary,
                                 const std::string& file);
  /// An index of the tiles of a run that were all shown to `summary`, which found a grid.
  static BlockIndex from_run(const TileRun& run, const EntrySummary& summary);

  /// An index in place. The file holds a head of 64 bytes, at byte `entries` `count` entries, then,
  /// if `ordered`, a u64 per block that lists the entries in file order, then, if there is no grid,
  /// `tree_words` u64 of cover tree. REQUIRES that all of it lies inside the file.
  struct Place {
    std::uint64_t entries = 0;
    std::uint64_t count = 0;
    std::uint64_t tree_words = 0;
    bool ordered = false;
    Region object{{0, 0}, {0, 0}};  // all its cells
    std::optional<Grid> grid;
    std::optional<TileRun> run;  // the entries are its tiles
    IndexOrigin origin = IndexOrigin::embedded;
    std::optional<std::uint64_t> hash;  // XXH3-64 of head, entries, order and tree, if known
  };
  static BlockIndex in_place(std::shared_ptr<const MappedFile> file, const Place& place);

  /// A partition into bands of `rows` rows that are all cut at the same columns.
  struct Bands {
    std::uint64_t object_rows = 0;
    std::uint64_t object_cols = 0;
    std::uint32_t rows = 0;                 // of a band; the last one may have less
    std::vector<std::uint64_t> col_starts;  // first column of each strip, ascending from 0
  };
  /// An index whose entries `maker` makes when they are first asked for (entry_pages.h). Block
  /// number band * strips + strip stands at (band * rows, col_starts[strip]). REQUIRES an object
  /// that has cells, and a number of blocks below 2^60.
  static BlockIndex on_demand(Bands bands, std::unique_ptr<const EntryMaker> maker);

  std::uint64_t size() const noexcept { return place_.count; }
  IndexOrigin origin() const noexcept { return place_.origin; }
  const std::optional<Grid>& grid() const noexcept { return place_.grid; }
  /// True when entries are read from a file each time: two looks at one may differ.
  bool is_in_place() const noexcept { return file_ != nullptr; }
  /// The tiles of an index in place that says that they lie evenly: entries follow from it.
  const std::optional<TileRun>& run() const noexcept { return place_.run; }
  /// O(1). Throws corrupt when an index in place gives counts that do not add up, or of more stored
  /// values than `most`.
  BlockCounts counts(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;

  /// Throws corrupt unless the bytes of an index in place are those that its hash was made of.
  /// O(bytes of the index).
  void require_whole() const;

  /// REQUIRES number < size(). Throws what making it throws for an index on demand. Where tiles lie
  /// evenly in a file, it follows from its number, and has no hash.
  Entry entry(std::uint64_t number) const {
    return place_.run ? (*place_.run)[number] : stored_entry(number);
  }
  /// The same as it is stored.
  Entry stored_entry(std::uint64_t number) const {
    const std::byte* p = memory_ != nullptr ? memory_ + number * Entry::kBytes : nullptr;
    if (file_ != nullptr) p = file_->at(place_.entries + number * Entry::kBytes, Entry::kBytes);
    return p != nullptr ? load_entry(p) : made_entry(number);
  }
  /// The bytes of entries `numbers`: where they are if they are kept in memory, else `scratch`,
  /// which they are written to. REQUIRES numbers.end <= size(), 64 bytes of `scratch` for each, and
  /// an index that is not in place.
  std::span<const std::byte> entry_bytes(Range numbers, std::span<std::byte> scratch) const;

  /// Number of the i-th block in file order.
  std::uint64_t in_file_order(std::uint64_t i) const;

  /// The block whose rectangle holds the cell, as the index has it. REQUIRES a cell of the object.
  std::optional<std::uint64_t> cover(std::uint64_t row, std::uint64_t col) const;
  /// The block stored at exactly this position.
  std::optional<std::uint64_t> find(BlockPos pos) const;
  /// Numbers of the blocks that share a cell with `region`, ascending.
  std::vector<std::uint64_t> touching(const Region& region) const;

  /// True when there are at least three entries, and they are those of a TileRun. REQUIRES an index
  /// in memory. O(n).
  bool lies_evenly() const;

  /// Throws corrupt, blaming the bytes of entry `number`. REQUIRES an index in place.
  [[noreturn]] void fail_entry(std::uint64_t number, std::string detail) const;
  /// How to get a sound index in place of a damaged one, for the end of a message.
  std::string_view remedy() const noexcept;

  /// The parts that an embedded or sidecar index stores behind its entries. REQUIRES an index in
  /// memory.
  std::span<const std::uint64_t> file_order() const noexcept { return held_->order; }
  std::span<const std::uint64_t> tree() const noexcept { return held_->tree; }

 private:
  /// Some of the tree's words, which are ascending if nothing is wrong with them.
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
  bool is_on_demand() const noexcept { return held_ != nullptr && held_->pages != nullptr; }
  Entry made_entry(std::uint64_t number) const;
  std::uint64_t strip_of(std::uint64_t col) const noexcept;
  std::uint64_t tree_size() const noexcept;
  std::uint64_t tree_word(std::uint64_t i) const;
  std::uint64_t tree_byte(std::uint64_t i) const noexcept;  // of the file; for messages
  Node node_at(std::uint64_t at, std::uint64_t parent) const;
  Words words_at(std::uint64_t first, std::uint64_t n) const;
  bool holds(std::uint64_t number, std::uint64_t row, std::uint64_t col) const;
  void collect_touching(const Region& region, std::vector<std::uint64_t>& numbers) const;
  [[noreturn]] void fail(std::uint64_t byte, std::string detail) const;

  /// What an index has that is not in place. Held apart, so that one in place, which is moved
  /// several times while a file is opened, is small.
  struct Held {
    BlockCounts counts;                  // in memory: blocks by kind,
    EntryTable table;                    //   the entries,
    std::vector<std::uint64_t> order;    //   file order unless it is the sorted one,
    std::vector<std::uint64_t> tree;     //   and the cover tree unless there is a grid
    std::shared_ptr<const TileRun> run;  //   in place of them, or nullptr
    Bands bands;                         // on demand: where the blocks lie,
    std::shared_ptr<EntryPages> pages;   //   and their entries
  };

  Place place_;
  std::shared_ptr<const MappedFile> file_;  // in place: where
  const std::byte* memory_ = nullptr;       // in memory: the first entry
  std::unique_ptr<Held> held_;
};

}  // namespace dapple::detail
