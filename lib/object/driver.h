// What a format provides: how one of its blocks is decoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dapple/blocked_object.h"
#include "dapple/frame.h"
#include "lib/index/block_index.h"
#include "lib/index/entry.h"
#include "lib/io/held_bytes.h"
#include "lib/layout/part.h"

namespace dapple::detail {

class BlockStatsTable;
class RowCountsTable;
class Store;

/// Memory for decoded cells: cell (r, c) goes to data + r * row_step + c * col_step as a value of
/// `type`. Steps are in bytes.
struct Target {
  std::byte* data = nullptr;
  ValueType type = ValueType::f64;
  std::size_t row_step = 0;
  std::size_t col_step = 0;
  bool streamed = false;  // too large for the caches: written past them (stream_copy.h)

  std::byte* cell(std::uint64_t row, std::uint64_t col) const noexcept {
    return data + row * row_step + col * col_step;
  }
  /// The same, streamed if rows x cols cells are too many for the caches.
  Target streamed_if_large(std::uint64_t rows, std::uint64_t cols) const noexcept;
};

/// Values that can be used in place.
struct DensePlace {
  HeldBytes held;            // from the first value on
  std::size_t row_step = 0;  // bytes; the values of a row are contiguous

  const std::byte* data() const noexcept { return held.data(); }
};

/// One stored entry: row and column in the object, and the value as the column's declared type, in
/// the low bytes of `bits`.
struct StoredCell {
  std::uint64_t row, col;
  std::uint64_t bits;
};

/// Collects stored cells and passes them on in runs, because one call per cell costs more than
/// decoding it. Drops positive zeros.
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
  /// Passes on what is left. Call it after the last cell.
  void flush() {
    if (size_ > 0) take_(std::span<const StoredCell>(cells_.data(), size_));
    size_ = 0;
  }

 private:
  const Take& take_;
  std::size_t size_ = 0;
  std::array<StoredCell, kMost> cells_;
};

/// How the blocks of one format are decoded: a table of functions. They may be called from any
/// thread, check what they read, and throw corrupt or type_mismatch.
struct Driver {
  std::string_view format;
  /// CSR and COO payloads are those of the DAPHNE binary format, so that views work on them.
  bool sparse_in_place = false;
  /// Bytes from `entry.offset` to the values of a dense block, if every one can be used in place;
  /// -1: `in_place` decides.
  int dense_header = -1;
  /// Bytes of a block's own header, at `entry.offset`. May be null: none.
  std::uint64_t (*header_size)(const Entry&) = nullptr;
  /// Bytes of the payload that an encoded block decodes to. May be null: no block is encoded.
  std::uint64_t (*plain_size)(const Entry&) = nullptr;
  /// True when the payload of a block is not as it is stored (codes that are not those of the
  /// object's dictionaries, a compression of the format's own); `recode` then makes it. May be
  /// null: none are.
  bool (*is_recoded)(const Store&, const Entry&) = nullptr;
  HeldBytes (*recode)(const Store&, const Entry&) = nullptr;
  /// Compares entry `number` with the bytes that it points to. Called before a block is first used.
  /// May be null: nothing to compare.
  void (*confirm)(const Store&, std::uint64_t number, const Entry&) = nullptr;
  /// Compares the entry's hash with the block's bytes. Throws corrupt. May be null: no hashes.
  void (*check_hash)(const Store&, const Entry&) = nullptr;
  /// Throws absent for a cell that no block covers, naming the file that should. May be null: it is
  /// the store's own.
  void (*fail_absent)(const Store&, BlockPos cell) = nullptr;
  /// The index that a walk over the file finds, whatever index it contains. An index that leaves
  /// cells uncovered is checked against it. May be null: the index is always right.
  BlockIndex (*walk_again)(const Store&) = nullptr;
  /// The statistics of all blocks in the file or its sidecar; nothing when there are none, or when
  /// they are damaged or of other blocks. May be null: there are none.
  std::unique_ptr<const BlockStatsTable> (*find_stats)(const Store&) = nullptr;
  /// The row counts of CSR blocks that the file stores; nothing when there are none, or when they
  /// are damaged. May be null: there are none.
  std::unique_ptr<const RowCountsTable> (*find_row_counts)(const Store&) = nullptr;
  /// Implements `BlockedObject::packed`. May be null: no block is encoded.
  PackedCounts (*count_packed)(const Store&) = nullptr;
  /// Decodes the cells of `part` into `out` (whose cell (0, 0) is the part's first cell).
  void (*read)(const Store&, const Entry&, const Part&, const Target& out) = nullptr;
  /// Fetches what `read` will need of these regions, many at once, where that is far away. Never
  /// fails: `read` tells why. May be null: the blocks are at their entries' bytes.
  void (*will_need)(const Store&, std::span<const Region>) noexcept = nullptr;
  /// The values in place, or nothing. May be null: never in place.
  std::optional<DensePlace> (*in_place)(const Store&, const Entry&) = nullptr;
  /// Calls `take` for every stored entry of `part`, in any order. May be null: all blocks are
  /// empty or dense.
  void (*entries)(const Store&, const Entry&, const Part&, CellRun& take) = nullptr;
  /// Decodes rows of a CSR or COO block into arrays, each row's columns in ascending order. False
  /// when there is not enough room. The cursor must be of this block. May be null: `entries` is
  /// used.
  bool (*csr_arrays)(const Store&, const Entry&, Range rows, RowCursor& cursor,
                     const CsrTarget& out) = nullptr;
  /// Moves the cursor of a CSR block down to `row`, counting the entries that it passes. May be
  /// null: `csr_arrays` is then used only for whole blocks.
  void (*skip_rows)(const Store&, const Entry&, std::uint64_t row, RowCursor& cursor) = nullptr;
  /// Implements `Frame::read_rows`. May be null: `read` is called for each run of columns.
  void (*read_rows)(const Store&, Range rows, std::span<const ColumnBuffer> columns,
                    const ReadOptions&) = nullptr;
};

/// What a format's driver needs beyond schema and index (strides, row positions, scratch files).
struct DriverState {
  virtual ~DriverState() = default;
  /// See `BlockedObject::text_columns`.
  virtual std::span<const TextColumn> text_columns() const noexcept { return {}; }
  /// Calls `take` for rows of text column `k`. REQUIRES that it is readable, rows of the object.
  virtual void read_text(const Store&, std::size_t, Range, const TakeText&) const {}
  /// The size of the files that the object consists of, but for the one that was opened.
  virtual std::uint64_t bytes_beside() const noexcept { return 0; }
  /// See `BlockedObject::details`.
  virtual std::vector<Detail> details(const Store&) const { return {}; }
};

}  // namespace dapple::detail
