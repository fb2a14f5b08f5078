// Cells of which few are stored: the stored ones, and zeros everywhere else.
#pragma once

#include <cstdint>
#include <functional>

#include "dapple/array.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Makes the cells of `part`, which lie row by row at `cells`, zero again: between `begin` and
/// `end` in the block stands what was stored in them.
using ClearRows = std::function<void(const Part& part, std::byte* cells, const std::byte* begin,
                                     const std::byte* end)>;

/// Rows of cells on their way to a target, each written once: zeros are put where a row will be
/// shortly before its values are, while they are in the nearest cache (zeros written for all rows
/// at once have left it again when the values come: 10^7 values to 10^8 cells take 1.8 times as
/// long). Where the target is streamed, rows are made in a place of their own and copied past the
/// caches from there: the lines of the target need not be read before they are overwritten (the
/// same, 24 ms instead of 36; AMD EPYC, family 25, model 17). Rows may come in any order, also
/// again; those in ascending order come fast.
class ScatteredRows {
 public:
  /// For the cells of `part`, to `out`, which must stay. Throws bad_alloc.
  ScatteredRows(const Target& out, const Part& part, ClearRows clear);

  /// Where the first cell of a row of the part is to be stored, the others `col_step` of the target
  /// apart; until the next call. What will be stored there begins at `at` in the block, behind
  /// whatever was stored before.
  std::byte* row(std::uint64_t row, const std::byte* at) noexcept {
    if (row != row_) move_to(row, at);
    return first_;
  }
  /// REQUIRED in the end: cells in which nothing was stored are zero now.
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
  std::uint64_t at_once_;              // rows
  Array<std::byte> stage_;             // zeros, and in the rows
  std::byte* cells_ = nullptr;         //   from here on what
  const std::byte* stored_ = nullptr;  //   begins here in the block
  std::uint64_t row_ = kNone;          // the one that was asked for,
  std::byte* first_ = nullptr;         //   and its first cell
  std::uint64_t begin_, done_;         // rows [begin_, done_) are in the stage, if there is one,
                                       //   all in front of them in the target
};

}  // namespace dapple::detail
