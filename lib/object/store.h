// THE IDEA: an opened object of any format is a schema (schema.h), a block index (index.h), and a
// codec that decodes one block (codec.h). Public Matrix, Frame and Block are thin handles of a
// Store.
//
// store.cpp finds blocks, fetch.cpp compares them before their first use, covering.cpp tells what
// covers a region, and read.cpp reads it.
#pragma once

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
#include "lib/io/file.h"
#include "lib/object/codec.h"
#include "lib/object/index.h"
#include "lib/object/places.h"
#include "lib/object/schema.h"

namespace dapple::detail {

class BlockStatsTable;
class RowAccess;

class Store {
 public:
  Store(std::shared_ptr<MappedFile> file, Schema schema, BlockIndex&& index, const Codec& codec,
        std::unique_ptr<CodecState> state = nullptr);

  const MappedFile& file() const noexcept { return *file_; }
  const std::shared_ptr<MappedFile>& shared_file() const noexcept { return file_; }
  const Schema& schema() const noexcept { return schema_; }
  const BlockIndex& index() const noexcept { return index_; }
  const Codec& codec() const noexcept { return *codec_; }
  template <class S>
  const S& state() const noexcept {
    return static_cast<const S&>(*state_);
  }
  std::span<const TextColumn> text_columns() const noexcept;
  /// As `BlockedObject::read_text`.
  void read_text(std::size_t k, Range rows, const TakeText& take) const;
  std::vector<std::string> column_names() const;
  std::vector<Detail> details() const;

  const std::string& note() const noexcept { return note_; }
  void set_note(std::string note) { note_ = std::move(note); }
  const std::vector<std::string>& contents() const noexcept { return contents_; }
  void set_contents(std::vector<std::string> contents) { contents_ = std::move(contents); }
  void set_check(Check check) noexcept { check_ = check; }

  /// Block `number` of the index. Its entry is compared with the bytes that it points to when the
  /// block is first fetched, its hash as `Check` says. Throws corrupt. O(1); no lock and no system
  /// call once it was compared.
  Block block(std::uint64_t number) const {
    fetch(number);
    return Block(*this, number);
  }
  /// The same for tile (i, j). Throws invalid_argument and out_of_range, too.
  Block tile(std::uint64_t i, std::uint64_t j) const;
  /// What loops over tiles start from (tiles.h).
  TileTable tile_table() const;
  /// The cells of a block that was fetched, as `Block::cells`.
  FetchedCells cells(std::uint64_t number, ValueType type, Copy copy) const;
  /// Those of a dense block that was fetched if they can be used in place as `type`.
  std::optional<FetchedCells> cells_in_place(std::uint64_t number, ValueType type) const;
  /// An entry, compared as above: what it says is safe to use, even when the file is changed
  /// meanwhile. Throws corrupt.
  Entry confirmed_entry(std::uint64_t number) const;
  /// The same for a block that was fetched, so that its hash is not compared again.
  Entry fetched_entry(std::uint64_t number) const;
  void confirm_entry(std::uint64_t number, const Entry& entry) const;

  /// The block that covers a cell, or that is stored at a position. That there is none is believed
  /// only after a walk over the file.
  std::optional<std::uint64_t> cover(std::uint64_t row, std::uint64_t col) const;
  std::optional<std::uint64_t> find(BlockPos pos) const;
  /// What such a walk finds; nullptr where the index is the truth. O(blocks) the first time.
  const BlockIndex* truth() const;
  /// Throws corrupt: the file has this block, the index does not.
  [[noreturn]] void fail_missing(const Entry& entry) const;

  /// Throws corrupt when an index that is about to be listed is damaged: single blocks are compared
  /// with their headers when they are used, a list of all of them is not. O(n) the first time.
  void require_whole_index() const;

  /// Copies the cells of `region` to `out`. REQUIRES that `out` has room. The heart of every read:
  /// visits the blocks that the region touches, and decodes each straight into place.
  void read(const Region& region, const Target& out, const ReadOptions& options) const;
  /// The same for a part of one block, whose entry is known to be right.
  void read_block(const Entry& entry, const Part& part, const Target& out) const;

  /// Copies rows of several columns, each into memory of its own layout and type; formats that
  /// are parsed in order are parsed once for all of them. Throws as `read`.
  void read_rows(Range rows, std::span<const ColumnBuffer> columns,
                 const ReadOptions& options) const;

  /// Calls `take` with every cell of `region` that is stored and not positive zero, block by
  /// block, at most CellRun::kMost at a time; absent cells as `options` says.
  void entries(const Region& region, const ReadOptions& options, const CellRun::Take& take) const;
  /// The same, cell by cell.
  template <std::invocable<const StoredCell&> F>
  void entries(const Region& region, const ReadOptions& options, const F& take) const {
    entries(region, options, CellRun::Take([&take](std::span<const StoredCell> run) {
              for (const StoredCell& cell : run) take(cell);
            }));
  }

  /// Calls f(number, entry, part) with every block that shares cells with `region`, in ascending
  /// order of positions, each compared with its header first; `part` is what they share. Absent
  /// cells as in `options`.
  template <class F>
  void for_each_block(const Region& region, const ReadOptions& options, const F& f) const {
    const auto blocks = watched([&] { return covering(region, options.absent); });
    for (const std::uint64_t number : blocks.numbers) {
      const Entry entry = index_.entry(number);
      watched([&] { f(number, entry, confirmed_part(number, entry, region)); }, &entry);
    }
  }

  /// What is known of the values of blocks without a look at them; nullptr when nothing is. What it
  /// says is a hint that was compared with its hash. O(blocks) the first time.
  const BlockStatsTable* block_stats() const;

  /// Where the rows of blocks are; made when it is first asked for.
  RowAccess& row_access() const;

  void prefetch(const Region& region) const;

  /// Runs `f`, which reads the file. When the file is guarded and was cut or changed, throws io
  /// whatever `f` returned or threw, and blames the block of that entry if there is one.
  template <class F>
  auto watched(const F& f, const Entry* block = nullptr) const {
    return detail::watched(*file_, f, [block] { return reading(block); });
  }
  void require_intact(const Entry* block = nullptr) const;
  /// Throws absent when a cell of `region` is in no block (R7), out_of_range, corrupt (R3); with
  /// Absent::nan, unsupported instead of absent. Reads no block.
  void require_covered(const Region& region, Absent absent = Absent::error) const {
    watched([&] { covering(region, absent); });
  }
  /// Throws out_of_range unless `region` lies inside the object.
  void require_inside(const Region& region) const;

  /// Throws `code` for a byte of this file.
  [[noreturn]] void fail(Errc code, std::uint64_t offset, std::string detail) const;

 private:
  /// Blocks that touch a region, in ascending order of positions; `whole`: they cover all of it.
  struct Covering {
    std::vector<std::uint64_t> numbers;
    bool whole = true;
  };
  /// Throws absent (R7) when cells are in no block and `absent` is an error, out_of_range, corrupt.
  Covering covering(const Region& region, Absent absent) const;
  void fetch(std::uint64_t number) const;
  void compare(std::uint64_t number, const Entry& entry) const;
  void remember(std::uint64_t number, const Entry& entry) const;
  Places::Even guess_even() const;
  Part confirmed_part(std::uint64_t number, const Entry& entry, const Region& region) const;
  void ask_for(std::span<const std::uint64_t> numbers) const;
  void read_blocks(const Region& region, const Target& out, const ReadOptions& options) const;
  void fill_nan(const Target& out, const Region& region) const;
  void entries_of_dense(const Entry& entry, const Part& part, CellRun& take) const;
  static std::string reading(const Entry* block);

  std::shared_ptr<MappedFile> file_;
  Schema schema_;
  BlockIndex index_;
  const Codec* codec_;
  std::unique_ptr<CodecState> state_;
  std::string note_;
  std::vector<std::string> contents_;
  Check check_ = Check::never;
  mutable Places places_;
  mutable std::atomic<bool> index_is_whole_{false};
  mutable std::optional<BlockIndex> truth_;  // made when an index leaves a cell uncovered
  mutable std::shared_ptr<RowAccess> row_access_;
  mutable std::optional<std::shared_ptr<const BlockStatsTable>> block_stats_;
  mutable std::mutex mutex_;  // held while these three are made
};

}  // namespace dapple::detail
