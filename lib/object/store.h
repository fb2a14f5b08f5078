// The central idea: an opened object of any format is a schema (schema.h), a block index
// (lib/index), and a driver that decodes one block (driver.h). The public Matrix, Frame and Block
// are thin handles of a Store.
//
// store.cpp finds blocks, fetch.cpp checks them before their first use, covering.cpp finds the
// blocks that cover a region, and read.cpp reads it.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dapple/blocked_object.h"
#include "dapple/frame.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"
#include "lib/object/checked_blocks.h"
#include "lib/object/driver.h"
#include "lib/object/label_search.h"
#include "lib/object/schema.h"
#include "lib/object/zero_row.h"

namespace dapple::detail {

class BlockStatsTable;
class RowAccess;
class RowCountsTable;
struct HeldRows;

/// Larger than any object.
inline constexpr Region kEverywhere{{0, ~std::uint64_t{0}}, {0, ~std::uint64_t{0}}};

class Store {
 public:
  /// `blocks` is where the bytes of blocks are, if not in `file`, which has all else.
  Store(std::shared_ptr<ByteSource> file, Schema schema, BlockIndex&& index, const Driver& driver,
        std::unique_ptr<DriverState> state = nullptr,
        std::shared_ptr<const ByteSource> blocks = nullptr);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const ByteSource& file() const noexcept { return *file_; }
  const std::shared_ptr<ByteSource>& shared_file() const noexcept { return file_; }
  /// The file that the user opened, for messages about what was asked of it.
  const std::string& known_as() const noexcept { return file_->known_as(); }
  /// What `Entry::offset` counts in.
  const ByteSource& blocks() const noexcept { return *blocks_; }
  const Schema& schema() const noexcept { return schema_; }
  /// The first column of a frame with this label.
  std::optional<std::uint64_t> find_column(std::string_view label) const noexcept {
    return labels_.find(schema_.columns, label);
  }
  const BlockIndex& index() const noexcept { return index_; }
  const Driver& driver() const noexcept { return *driver_; }
  template <class S>
  const S& state() const noexcept {
    return static_cast<const S&>(*state_);
  }
  std::span<const TextColumn> text_columns() const noexcept;
  /// As of the object; the slots of its group where the columns of a matrix have no other names.
  std::shared_ptr<const Names> col_names() const;
  /// As `BlockedObject::read_text`.
  void read_text(std::size_t k, Range rows, const TakeText& take) const;
  std::vector<Detail> details() const;
  /// As `BlockedObject::bytes`.
  std::uint64_t bytes() const noexcept;

  /// The name of the format as which the object was opened. Text is parsed into dbdf.
  std::string_view format() const noexcept { return format_.empty() ? driver_->format : format_; }
  /// True for text that was parsed, in the tiles that a converter would choose.
  bool is_import() const noexcept { return !format_.empty() && driver_->confirm != nullptr; }
  /// True when the file that has the blocks also tells of them: their statistics, their row counts.
  bool tells_of_blocks() const noexcept {
    return index_.origin() == IndexOrigin::embedded || is_import();
  }
  /// REQUIRES a name that lives as long as the library.
  void set_format(std::string_view format) noexcept { format_ = format; }

  const std::string& note() const noexcept { return note_.empty() ? file_->note() : note_; }
  void set_note(std::string note) { note_ = std::move(note); }
  static constexpr std::size_t kMostContents = 1000;
  const std::vector<std::string>& contents() const noexcept { return contents_; }
  void set_contents(std::vector<std::string> contents) { contents_ = std::move(contents); }
  bool checks_hashes() const noexcept { return file_->check() != Check::never; }

  /// Block `number` of the index. Its entry is compared with the bytes that it points to when the
  /// block is first fetched, its hash as `Check` says. Throws corrupt. O(1); afterwards without a
  /// lock or system call.
  Block block(std::uint64_t number) const {
    fetch(number);
    return Block(*this, number);
  }
  /// The same for tile (i, j). Also throws invalid_argument, out_of_range.
  Block tile(std::uint64_t i, std::uint64_t j) const;
  /// The fast path of Tiles (tiles.h).
  TileTable tile_table() const;
  /// Implements `Block::cells` for a block that was fetched.
  FetchedCells cells(std::uint64_t number, ValueType type, Copy copy) const;
  /// The cells of a block that was fetched, if they can be used in place as `type`.
  std::optional<FetchedCells> cells_in_place(std::uint64_t number, ValueType type) const;
  /// A copy of an entry that was compared as above, so that it is safe to use even if the file is
  /// changed meanwhile. Throws corrupt.
  Entry confirmed_entry(std::uint64_t number) const;
  /// The same for a block that was fetched; its hash is not compared again.
  Entry fetched_entry(std::uint64_t number) const;
  void confirm_entry(std::uint64_t number, const Entry& entry) const;
  /// Throws corrupt when, in a regular tiling, the entry is not of the tile with its number.
  void require_tile(std::uint64_t number, const Entry& entry) const;

  /// The block that covers a cell, or that is stored at a position. An index that has none
  /// is believed only after a walk over the file.
  std::optional<std::uint64_t> cover(std::uint64_t row, std::uint64_t col) const;
  std::optional<std::uint64_t> find(BlockPos pos) const;
  /// The index that this walk finds; nullptr when the index need not be doubted. O(blocks) the
  /// first time.
  const BlockIndex* truth() const;
  /// Throws corrupt: the file has this block, the index does not.
  [[noreturn]] void fail_missing(const Entry& entry) const;

  /// Throws corrupt when the index is damaged. Called before all entries are listed, since they are
  /// not compared with block headers then. O(n) the first time.
  void require_whole_index() const;

  /// Copies the cells of `region` to `out`. REQUIRES that `out` has room. The heart of every read:
  /// decodes each block that the region touches straight into place.
  void read(const Region& region, const Target& out, const ReadOptions& options) const;
  /// Where the bytes of a block after its header are in the file.
  std::uint64_t payload_offset(const Entry& entry) const;
  /// Where the cache has a block as it is encoded: at no offset of a file, as blocks of a damaged
  /// one may overlap.
  std::uint64_t encoded_key(const Entry& entry) const { return ~payload_offset(entry); }
  /// A block as it is stored, with its header and `before` bytes before it. REQUIRES that they are
  /// inside the file.
  HeldBytes stored_block(const Entry& entry, std::uint64_t before) const;
  /// What is stored after its header, encoded or not.
  HeldBytes stored_bytes(const Entry& entry) const;
  /// The bytes of a plain block after its header. The only place where a block's payload comes into
  /// being (payload.cpp). REQUIRES an entry that was confirmed. Throws corrupt, io.
  HeldBytes payload(const Entry& entry) const;
  /// The same as the file has it, before codes are replaced. Not kept.
  HeldBytes plain_payload(const Entry& entry) const;
  /// As `payload`, for bytes [part.begin, part.end). REQUIRES that they are inside.
  HeldBytes payload(const Entry& entry, Range part) const;
  /// The same for all, valid as long as the store; nothing where they have to be made or fetched.
  std::optional<std::span<const std::byte>> payload_in_place(const Entry& entry) const;
  /// The rows of an encoded CSR block, to decode some without the others; null where all of it has
  /// to be decoded, and for blocks that are not encoded. Throws as `payload`.
  HeldRows encoded_rows(const Entry& entry) const;
  /// The payload of a block of these rows of an encoded CSR block alone, and how many values they
  /// store; null where all rows are as well decoded, and kept.
  HeldBytes decoded_rows(const Entry& entry, Range rows, std::uint64_t& stored) const;
  /// The same as `read` for a part of one block, whose entry was confirmed.
  void read_block(const Entry& entry, const Part& part, const Target& out) const;

  /// Implements `Frame::read_rows`. Throws what `read` throws.
  void read_rows(Range rows, std::span<const ColumnBuffer> columns,
                 const ReadOptions& options) const;
  /// These rows in pieces whose blocks of a column are in few enough files to stay open while other
  /// columns are read. O(1) where all files do, otherwise O(blocks of the column).
  std::vector<Range> bands_of_files(Range rows, std::uint64_t col) const;

  /// Calls `take` with the entries of a part of a CSR or COO block that are not positive zero, in
  /// any order, at most CellRun::kMost at a time. REQUIRES an entry that was confirmed.
  void entries(const Entry& entry, const Part& part, const CellRun::Take& take) const;

  /// What of blocks is read, and therefore asked for where they are far away.
  enum class Needs { headers, cells };
  /// Calls f(number, entry, part) for every block that shares cells with `region`, in ascending
  /// order of positions, after comparing it with its header; `part` is what they share.
  template <class F>
  void for_each_block(const Region& region, const ReadOptions& options, const F& f,
                      Needs needs = Needs::cells) const {
    const auto blocks = watched([&] { return covering(region, options.absent); });
    watched_blocks(
        blocks.numbers,
        [&](std::uint64_t number, const Entry& entry) {
          f(number, entry, confirmed_part(number, entry, region));
        },
        region, needs);
  }

  /// The statistics of blocks in the file, compared with their hash; nullptr when there are none.
  /// O(blocks) the first time.
  const BlockStatsTable* block_stats() const;

  /// The row counts of CSR blocks in the file; nullptr when there are none. O(1).
  const RowCountsTable* row_counts() const;

  /// The copy by column beside a matrix (lib/dbdf/column_copy.h), whose rows are its columns;
  /// nullptr when there is none of this state of the file. Looked for on first use.
  std::shared_ptr<const Store> by_column() const;
  /// Whether a region is so narrow, and so high, that the copy would be cheaper to read.
  bool suits_copy(const Region& region) const noexcept;
  /// Calls f(copy) if there is a copy. False when there is none, when `f` throws an Error, or when
  /// the file has changed meanwhile: what is wrong with the copy is no matter, and anything else
  /// shows when the file itself is read.
  template <class F>
  bool try_by_column(const F& f) const {
    const auto copy = by_column();
    if (copy == nullptr) return false;
    try {
      watched([&] { f(*copy); });
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  /// Random access to rows; made on first use.
  RowAccess& row_access() const;

  void prefetch(const Region& region) const;
  /// Asks for some of these blocks, from the first on, if they are far away or outgrow memory, and
  /// returns how many: the caller reads them next, and then asks again. All of them elsewhere.
  std::size_t ask_for_some(std::span<const std::uint64_t> numbers, const Region& region,
                           Needs needs = Needs::cells) const;
  /// The same for the blocks that touch some of these regions, from the first on, which are read
  /// next, each by itself; returns how many regions, at least one.
  std::size_t ask_for_some(std::span<const Region> regions) const;
  /// The bytes of a block, about, where they have to be fetched.
  std::uint64_t typical_bytes() const;

  /// Runs `f`, which reads the file. When the file is guarded and was truncated or changed, throws
  /// io whatever `f` returned or threw, naming `block` if there is one.
  template <class F>
  auto watched(const F& f, const Entry* block = nullptr) const {
    return detail::watched(*blocks_, f, Reading{block});
  }
  /// Runs f(number, entry) for these blocks, one after the other, and checks that the file is
  /// intact once for many small ones: a check costs as much as reading a block of some kilobytes.
  /// Of those far away, what they need in `region` is asked for, some blocks at a time.
  template <class F>
  void watched_blocks(std::span<const std::uint64_t> numbers, const F& f,
                      const Region& region = kEverywhere, Needs needs = Needs::cells) const {
    constexpr std::uint64_t kUnchecked = 256 << 10;  // bytes
    std::size_t asked = 0;
    while (!numbers.empty()) {
      if (asked == 0) asked = ask_for_some(numbers, region, needs);
      Entry entry;
      std::size_t n = 0;
      watched(
          [&] {
            for (std::uint64_t bytes = 0; n < asked && bytes < kUnchecked; ++n) {
              entry = index_.entry(numbers[n]);
              f(numbers[n], std::as_const(entry));
              bytes += std::min(entry.bytes, kUnchecked);
            }
          },
          &entry);
      numbers = numbers.subspan(n);
      asked -= n;
    }
  }
  void require_intact(const Entry* block = nullptr) const;
  /// Throws absent when a cell of `region` is in no block (R7), out_of_range, corrupt (R3); with
  /// Absent::nan, unsupported instead of absent. Reads no block.
  void require_covered(const Region& region, Absent absent = Absent::error) const {
    if (index_.grid()) return require_inside(region);  // it covers everything
    watched([&] { covering(region, absent); });
  }
  /// The blocks that touch a region, in ascending order of positions, and whether they cover it.
  struct Covering {
    std::vector<std::uint64_t> numbers;
    bool whole = true;
  };
  /// Throws absent (R7) when cells are in no block and `absent` is an error, out_of_range, corrupt.
  Covering covering(const Region& region, Absent absent) const;
  /// True when blocks cover these columns, which ascend, in these rows, as the index has it.
  /// REQUIRES that they are inside the object. O(log n + blocks between them).
  bool covers(Range rows, std::span<const std::uint64_t> cols) const;
  /// Throws out_of_range unless `region` is inside the object.
  void require_inside(const Region& region) const;

  /// Throws absent: no block covers this cell.
  [[noreturn]] void fail_absent(BlockPos cell) const;
  /// Throws `code` for a byte of `blocks()`.
  [[noreturn]] void fail(Errc code, std::uint64_t offset, std::string detail) const;

 private:
  void fetch(std::uint64_t number) const;
  HeldBytes decoded(const Entry& entry) const;
  bool is_made(const Entry& entry) const;
  bool is_recoded(const Entry& entry) const;
  void compare(std::uint64_t number, const Entry& entry) const;
  void remember(std::uint64_t number, const Entry& entry) const;
  CheckedBlocks::Even guess_even() const;
  Part confirmed_part(std::uint64_t number, const Entry& entry, const Region& region) const;
  bool is_cached(const Entry& entry) const;
  bool comes_as_wanted(const Entry& entry, const Region& region, ValueType type) const;
  std::optional<std::vector<std::uint64_t>> receive(std::span<const std::uint64_t> numbers,
                                                    const Region& region, const Target& out,
                                                    bool keep) const;
  std::uint64_t bytes_to_fetch(const Entry& entry) const noexcept;
  bool follow_each_other(std::span<const std::uint64_t> numbers) const;
  void ask_for(std::span<const std::uint64_t> numbers, const Region& region,
               Needs needs = Needs::cells) const;
  std::span<const std::uint64_t> first_of(std::span<const std::uint64_t> numbers,
                                          std::uint64_t bytes) const;
  void read_blocks(const Region& region, const Target& out, const ReadOptions& options) const;
  void fill_nan(const Target& out, const Region& region) const;
  static std::string reading(const Entry* block);
  struct Reading {
    const Entry* block;
    std::string operator()() const { return reading(block); }
  };

  std::shared_ptr<ByteSource> file_;
  Schema schema_;
  BlockIndex index_;
  const Driver* driver_;
  std::unique_ptr<DriverState> state_;
  ReadNames col_names_;  // of a matrix
  std::shared_ptr<const ByteSource> blocks_;
  LabelSearch labels_;
  std::string_view format_;
  std::string note_;
  std::vector<std::string> contents_;
  mutable CheckedBlocks checked_;
  mutable ZeroRow zeros_;
  mutable std::atomic<bool> uses_cache_{false};
  mutable std::atomic<bool> index_is_whole_{false};
  mutable std::optional<BlockIndex> truth_;  // made when the index leaves a cell uncovered
  mutable std::shared_ptr<RowAccess> row_access_;
  mutable std::optional<std::shared_ptr<const BlockStatsTable>> block_stats_;
  mutable std::optional<std::shared_ptr<const RowCountsTable>> row_counts_;
  mutable std::optional<std::shared_ptr<const Store>> by_column_;
  mutable std::mutex mutex_;  // held while these five are made
};

/// The object whose blocks these are. Throws as `BlockIndex::from_entries`.
std::shared_ptr<Store> make_store(std::shared_ptr<ByteSource> file, Schema schema,
                                  EntryTable entries, const Driver& driver,
                                  std::unique_ptr<DriverState> state);

}  // namespace dapple::detail
