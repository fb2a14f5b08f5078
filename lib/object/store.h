// THE IDEA: an opened object of any format is a schema, a block index, and a codec that decodes
// one block. Public Matrix, Frame and Block are thin handles of a Store.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dapple/blocked_object.h"
#include "dapple/frame.h"
#include "lib/io/file.h"
#include "lib/object/index.h"
#include "lib/object/places.h"
#include "lib/object/schema.h"

namespace dapple::detail {

class RowAccess;
class Store;

/// Where decoded cells go: cell (r, c) of the rectangle at data + r * row_step + c * col_step, as
/// a value of `type`. Steps are in bytes.
struct Target {
  std::byte* data = nullptr;
  ValueType type = ValueType::f64;
  std::size_t row_step = 0;
  std::size_t col_step = 0;
  bool streamed = false;  // too much to be read again from a cache (stream_copy.h)

  std::byte* cell(std::uint64_t row, std::uint64_t col) const noexcept {
    return data + row * row_step + col * col_step;
  }
  /// The same for all of the cells that will be put there.
  Target streamed_if_large(std::uint64_t rows, std::uint64_t cols) const noexcept;
};

/// A rectangle inside one block; rows and columns count from the block's first cell.
struct Part {
  Range rows;
  Range cols;
};

/// What a block and a region that touches it share.
inline Part shared_part(const Entry& entry, const Region& region) noexcept {
  const Region both = intersect(entry.cells(), region);
  return {{both.rows.begin - entry.pos.rx, both.rows.end - entry.pos.rx},
          {both.cols.begin - entry.pos.cx, both.cols.end - entry.pos.cx}};
}

/// Values that can be looked at in place.
struct DensePlace {
  const std::byte* data = nullptr;
  std::size_t row_step = 0;  // bytes; the values of a row follow each other
};

/// One stored entry, as `Codec::entries` hands it out: absolute row and column, and the value as
/// the object's declared type of that column, in the low bytes of `bits`.
struct StoredCell {
  std::uint64_t row, col;
  std::uint64_t bits;
};

/// Stored cells on their way from a codec to whoever asked for them: handed on in runs, because a
/// call for each costs more than to decode it. Drops positive zeros.
class CellRun {
 public:
  using Take = std::function<void(std::span<const StoredCell>)>;
  static constexpr std::size_t kMost = 256;

  explicit CellRun(const Take& take) : take_(take) {}

  void operator()(const StoredCell& cell) {
    cells_[size_] = cell;
    size_ += cell.bits != 0 ? 1 : 0;
    if (size_ == kMost) flush();
  }
  /// REQUIRED before the run ends.
  void flush() {
    if (size_ > 0) take_(std::span<const StoredCell>(cells_.data(), size_));
    size_ = 0;
  }

 private:
  const Take& take_;
  std::size_t size_ = 0;
  std::array<StoredCell, kMost> cells_;
};

/// Three arrays for rows of one sparse block, of which all values are of one type: row pointers,
/// one more than rows, and `room` columns (from the block's first) and values.
struct CsrTarget {
  std::uint64_t* row_ptr;
  std::uint32_t* col_idx;
  std::byte* values;
  ValueType type;
  std::uint64_t room;
};

/// Where in a block its rows were read up to: who goes on there need not hop over the rows in
/// front. One that is new, or stands behind the rows that are asked for, is at row 0.
struct RowCursor {
  std::uint64_t row = 0;
  std::uint64_t entries = 0;  // of the rows above it
};

/// How the blocks of one format are decoded: a table of functions, one table per format.
/// All may be called from any thread, check what they read, and throw corrupt or type_mismatch.
struct Codec {
  std::string_view format;
  /// CSR and COO payloads are those of the DAPHNE binary format, so that views work on them.
  bool sparse_in_place = false;
  /// Bytes from `entry.offset` to the values of a dense block that can be used in place, always;
  /// -1: `in_place` decides.
  int dense_header = -1;
  /// Bytes of a block's own header, at `entry.offset`. May be null: none.
  std::uint64_t (*header_size)(const Entry&) = nullptr;
  /// Compares entry `number` with the bytes that it points to (rule 2.6). Called before a block is
  /// first used. May be null: nothing to compare.
  void (*confirm)(const Store&, std::uint64_t number, const Entry&) = nullptr;
  /// Compares the entry's hash with the block's bytes. Throws corrupt. May be null: no hashes.
  void (*check_hash)(const Store&, const Entry&) = nullptr;
  /// The index that a walk over the file finds, whatever index it brings along: what an index that
  /// leaves cells uncovered is compared with. May be null: the index is the truth.
  BlockIndex (*walk_again)(const Store&) = nullptr;
  /// Decodes the cells of `part` into `out` (whose cell (0, 0) is the part's first cell).
  void (*read)(const Store&, const Entry&, const Part&, const Target& out) = nullptr;
  /// The values in place, or nothing. May be null: never in place.
  std::optional<DensePlace> (*in_place)(const Store&, const Entry&) = nullptr;
  /// Calls `take` for every stored entry of `part`, in any order. May be null: all cells of the
  /// block are decoded with `read`, and those that are not positive zero are taken.
  void (*entries)(const Store&, const Entry&, const Part&, CellRun& take) = nullptr;
  /// Decodes rows of a CSR or COO block into arrays, each row's columns in ascending order, and
  /// returns true; false when there is no room for them. The cursor must be of this block. May be
  /// null: they are made of `entries`.
  bool (*csr_arrays)(const Store&, const Entry&, Range rows, RowCursor& cursor,
                     const CsrTarget& out) = nullptr;
  /// Moves the cursor of a CSR block down to `row`, and counts the entries of the rows that it
  /// passes. May be null: then `csr_arrays` is used for whole blocks only.
  void (*skip_rows)(const Store&, const Entry&, std::uint64_t row, RowCursor& cursor) = nullptr;
  /// True when the file has to be parsed from front to back, so that reading it tile by tile
  /// would parse it again and again: converters read strips of whole rows once and cut them up.
  bool sequential = false;
  /// Decodes rows of several columns of a frame in one pass, each into memory of its own layout
  /// and type, as `Frame::read_rows`. May be null: run by run of columns with `read`.
  void (*read_rows)(const Store&, Range rows, std::span<const ColumnBuffer> columns,
                    const ReadOptions&) = nullptr;
};

/// What a format's codec needs beyond schema and index (strides, row positions, scratch files).
struct CodecState {
  virtual ~CodecState() = default;
  /// Columns that are shown only (`BlockedObject::text_columns`).
  virtual std::span<const TextColumn> text_columns() const noexcept { return {}; }
  /// Calls `take` for rows of text column `k`. REQUIRES a readable one, rows of the object.
  virtual void read_text(const Store&, std::size_t, Range, const TakeText&) const {}
  /// As `BlockedObject::details`.
  virtual std::vector<Detail> details(const Store&) const { return {}; }
};

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
  std::vector<Detail> details() const;

  const std::string& note() const noexcept { return note_; }
  void set_note(std::string note) { note_ = std::move(note); }
  const std::vector<std::string>& contents() const noexcept { return contents_; }
  void set_contents(std::vector<std::string> contents) { contents_ = std::move(contents); }
  void set_check(Check check) noexcept { check_ = check; }

  /// Block `number` of the index. Its entry is compared with the bytes it points to when it is
  /// first fetched, its hash as `Check` says. Throws corrupt. O(1), no lock, no system call once
  /// it was compared.
  Block block(std::uint64_t number) const {
    fetch(number);
    return Block(*this, number);
  }
  /// The same for tile (i, j). Throws invalid_argument, out_of_range, too.
  Block tile(std::uint64_t i, std::uint64_t j) const;
  /// What loops over tiles start from.
  TileTable tile_table() const;
  /// The cells of a block that was fetched, as `Block::cells`.
  FetchedCells cells(std::uint64_t number, ValueType type, Copy copy) const;
  /// Those of a dense block that was fetched if they can be used in place as `type`.
  std::optional<FetchedCells> cells_in_place(std::uint64_t number, ValueType type) const;
  /// Its entry, compared as above: what it says is safe to use, even when somebody writes to the
  /// file. Throws corrupt.
  Entry confirmed_entry(std::uint64_t number) const;
  /// The same of a block that was fetched, so that its hash is not looked at once more.
  Entry fetched_entry(std::uint64_t number) const;

  /// The block that covers a cell, or that stands at a position. A cell or position without one
  /// is believed only after a walk over the file.
  std::optional<std::uint64_t> cover(std::uint64_t row, std::uint64_t col) const;
  std::optional<std::uint64_t> find(BlockPos pos) const;

  /// Throws corrupt when an index that is about to be listed is damaged: single blocks are
  /// compared with their headers when they are used, a list of all of them is not. O(n) the first
  /// time.
  void require_whole_index() const;

  /// Copies the cells of `region` to `out`. REQUIRES that `out` has room. The heart of every
  /// read: visits the blocks that the region touches, decodes each straight into place.
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
    bool whole = true;
    const auto numbers = watched([&] { return covering(region, options.absent, whole); });
    for (const std::uint64_t number : numbers) {
      const Entry entry = index_.entry(number);
      watched([&] { f(number, entry, confirmed_part(number, entry, region)); }, &entry);
    }
  }

  /// Where the rows of blocks are; made when it is first asked for.
  RowAccess& row_access() const;

  void prefetch(const Region& region) const;

  /// Runs `f`, which reads the file. When the file is guarded and was cut or changed, throws io,
  /// whatever `f` returned or threw; with the block of that entry to blame, if there is one.
  template <class F>
  auto watched(const F& f, const Entry* block = nullptr) const {
    return detail::watched(*file_, f, [block] { return reading(block); });
  }
  void require_intact(const Entry* block = nullptr) const;
  /// Throws absent when a cell of `region` is in no block (R7), out_of_range, corrupt (R3). No
  /// block is looked at.
  void require_covered(const Region& region) const;
  /// Throws out_of_range unless `region` lies inside the object.
  void require_inside(const Region& region) const;

  /// Throws `code` for a byte of this file.
  [[noreturn]] void fail(Errc code, std::uint64_t offset, std::string detail) const;

 private:
  void fetch(std::uint64_t number) const;
  void confirm(std::uint64_t number, const Entry& entry) const;
  Places::Even guess_even() const;
  std::unique_ptr<std::byte, FreeArray> array_for(const Entry& entry, ValueType type) const;
  void remember(std::uint64_t number, const Entry& entry) const;
  static std::string reading(const Entry* block);
  void confirm_entry(std::uint64_t number, const Entry& entry) const;
  void compare(std::uint64_t number, const Entry& entry) const;
  Part confirmed_part(std::uint64_t number, const Entry& entry, const Region& region) const;
  void read_blocks(const Region& region, const Target& out, const ReadOptions& options) const;
  void ask_for(std::span<const std::uint64_t> numbers) const;
  std::vector<std::uint64_t> covering(const Region& region, Absent absent, bool& whole) const;
  const BlockIndex* truth() const;
  [[noreturn]] void fail_missing(const Entry& entry) const;
  void entries_of_dense(const Entry& entry, const Part& part, CellRun& take) const;
  void require_disjoint(std::span<const std::uint64_t> numbers) const;
  bool cover_all(std::span<const std::uint64_t> numbers, const Region& region) const;
  [[noreturn]] void fail_absent(Region region) const;
  void require_touching(const Region& region, std::span<const std::uint64_t> numbers) const;

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
  mutable std::mutex mutex_;  // guards the making of truth_
};

}  // namespace dapple::detail
