// The block index: where each rectangle of cells is, in the object and in the file. It combines
// where the entries live (entries.h) with how a position becomes an entry's number: by arithmetic
// in a regular tiling, by bands that are all cut at the same columns, or through a cover tree
// (cover_search.h). Entries are sorted by (rx, cx). The bytes are described in lib/dbdf/FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/blocked_object.h"
#include "lib/index/cover_search.h"
#include "lib/index/entries.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

class EntrySummary;

/// Byte positions inside the head of an index in place, which precedes its entries.
namespace head_at {
inline constexpr std::size_t tag = 0, empty = 8, dense = 16, csr = 24, coo = 32, stored = 40,
                             hash = 48,  // of the bytes before it
    header = 56;                         // hash of the file's header; 0: not known
}

class BlockIndex {
 public:
  /// An object without blocks.
  BlockIndex() = default;

  /// An index in memory from entries in file order, none of zero area. Sorts them, and finds the
  /// grid or builds the cover tree. Throws corrupt, naming `file`, when two share a cell (R3). O(n)
  /// for a regular tiling in order, otherwise O(n log n).
  static BlockIndex from_entries(EntryTable entries, std::uint64_t rows, std::uint64_t cols,
                                 const std::string& file,
                                 IndexOrigin origin = IndexOrigin::scanned);
  /// The same for entries that were all shown to `summary` (entry_summary.h).
  static BlockIndex from_entries(EntryTable entries, const EntrySummary& summary,
                                 const std::string& file);

  /// An index in place. The file holds a head of 64 bytes; then, from byte `entries` on, `count`
  /// entries; if `ordered`, a u64 per block that lists the entries in file order; and without a
  /// grid, `tree_words` u64 of cover tree. REQUIRES that all of it is inside the file.
  struct Place {
    std::uint64_t entries = 0;
    std::uint64_t count = 0;
    std::uint64_t tree_words = 0;
    bool ordered = false;
    Region object{{0, 0}, {0, 0}};
    std::optional<Grid> grid;
    IndexOrigin origin = IndexOrigin::embedded;
    std::optional<std::uint64_t> hash;  // XXH3-64 of head, entries, order and tree, if known
  };
  static BlockIndex in_place(std::shared_ptr<const ByteSource> file, const Place& place);

  /// A partition into bands of `rows` rows that are all cut at the same columns.
  struct Bands {
    std::uint64_t object_rows = 0;
    std::uint64_t object_cols = 0;
    std::uint32_t rows = 0;                 // of a band; the last one may have fewer
    std::vector<std::uint64_t> col_starts;  // first column of each strip, ascending from 0
  };
  /// An index whose entries `maker` makes on demand. Block number
  /// band * strips + strip is at (band * rows, col_starts[strip]). REQUIRES an object that has
  /// cells, and fewer than 2^60 blocks.
  static BlockIndex on_demand(Bands bands, std::unique_ptr<const EntryMaker> maker);

  std::uint64_t size() const noexcept { return entries_.size(); }
  IndexOrigin origin() const noexcept { return origin_; }
  const std::optional<Grid>& grid() const noexcept { return grid_; }
  /// True when entries are read from the file each time, which may change.
  bool is_in_place() const noexcept { return entries_.file() != nullptr; }
  /// O(1). Throws corrupt when the counts of an index in place do not add up, or exceed `most`
  /// stored values.
  BlockCounts counts(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;

  /// Throws corrupt unless the bytes of an index in place match its hash. O(bytes of the index).
  void require_whole() const;

  /// See `Entries::operator[]`.
  Entry entry(std::uint64_t number) const { return entries_[number]; }

  /// Number of the i-th block in file order.
  std::uint64_t in_file_order(std::uint64_t i) const;

  /// The block that, according to the index, covers a cell. REQUIRES a cell of the object.
  std::optional<std::uint64_t> cover(std::uint64_t row, std::uint64_t col) const;
  /// The block stored at exactly this position.
  std::optional<std::uint64_t> find(BlockPos pos) const;
  /// Numbers of the blocks that share a cell with `region`, ascending.
  std::vector<std::uint64_t> touching(const Region& region) const;
  /// See `Entries::will_need`.
  void will_need(std::span<const std::uint64_t> numbers) const noexcept {
    entries_.will_need(numbers);
  }

  /// Throws corrupt, blaming the bytes of entry `number`. REQUIRES an index in place.
  [[noreturn]] void fail_entry(std::uint64_t number, std::string detail) const;
  /// What to do about a damaged index, for the end of a message.
  std::string_view remedy() const noexcept;

  /// The parts that an embedded or sidecar index stores. REQUIRES an index in memory.
  std::span<const std::byte> entry_bytes() const noexcept { return entries_.bytes(); }
  std::span<const std::uint64_t> file_order() const noexcept { return order_; }
  std::span<const std::uint64_t> tree() const noexcept { return tree_.words(); }

 private:
  BlockIndex(Entries entries, const Region& object, const std::optional<Grid>& grid,
             IndexOrigin origin);
  static BlockIndex in_memory(Entries entries, const EntrySummary& summary);
  std::uint64_t strip_of(std::uint64_t col) const noexcept;
  [[noreturn]] void fail(std::uint64_t byte, std::string detail) const;
  std::uint64_t byte_after_entries() const noexcept { return entries_.byte_of(size()); }

  Entries entries_;
  Region object_{{0, 0}, {0, 0}};
  IndexOrigin origin_ = IndexOrigin::embedded;
  // How a position becomes a number: one of these.
  std::optional<Grid> grid_;
  std::vector<std::uint64_t> strips_;  // the first column of each, in every band
  std::uint32_t band_rows_ = 0;        // rows of a band; 0: no bands
  CoverSearch tree_;
  // Of an index in memory.
  BlockCounts counts_;
  std::vector<std::uint64_t> order_;  // file order, unless it is the sorted one
  // Of an index in place.
  bool ordered_ = false;
  std::uint64_t tree_words_ = 0;
  std::optional<std::uint64_t> hash_;
};

}  // namespace dapple::detail
