// Scattering the stored cells of a sparse block into dense rows of zeros.
#pragma once

#include <cstdint>
#include <functional>

#include "dapple/array.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Makes the cells of `part`, which are row by row at `cells`, zero again. The entries that were
/// stored in them are those from `begin` to `end` in the block.
using ClearRows = std::function<void(const Part& part, std::byte* cells, const std::byte* begin,
                                     const std::byte* end)>;

/// Writes rows of cells to a target. A few rows at a time are set to zero just before their values
/// are stored, while they are in the L1 cache: zeroing all rows first takes 1.8 times as long. If
/// the target is streamed, rows are made in a buffer (the stage) and copied with streaming stores,
/// so that the lines of the target need not be read before they are overwritten: a third faster.
/// Rows may come in any order, and again and again; ascending order is fast.
class ScatteredRows {
 public:
  /// Writes the cells of `part` to `out`, which must outlive this. Throws bad_alloc.
  ScatteredRows(const Target& out, const Part& part, ClearRows clear);

  /// Where to store the first cell of a row of the part; the others are `col_step` of the target
  /// apart. Valid until the next call. The row's entries begin at `at` in the block, after those of
  /// all earlier calls.
  std::byte* row(std::uint64_t row, const std::byte* at) noexcept {
    if (row != row_) move_to(row, at);
    return first_;
  }
  /// Completes the target, with zeros in the cells that were not stored. Call it once, at the end.
  void finish() noexcept;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  bool staged() const noexcept { return stage_.size() > 0; }
  void move_to(std::uint64_t row, const std::byte* at) noexcept;
  void leave_stage() noexcept;
  void zero_to(std::uint64_t end) noexcept;
  std::byte* target(std::uint64_t row) const noexcept {
    return out_.cell(row - part_.rows.begin, 0);
  }

  const Target& out_;
  const Part part_;
  const ClearRows clear_;
  std::uint64_t row_bytes_;
  std::uint64_t at_once_;  // rows
  Array<std::byte> stage_;
  std::byte* cells_ = nullptr;         // the first row in the stage
  const std::byte* stored_ = nullptr;  // its entries in the block
  std::uint64_t row_ = kNone;          // the last row requested
  std::byte* first_ = nullptr;         // its first cell
  std::uint64_t begin_, done_;  // rows [begin_, done_) are in the stage, if there is one; all
                                // rows before them are in the target
};

}  // namespace dapple::detail
