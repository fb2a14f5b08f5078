// What a scanner of text keeps while it passes brackets: the extents of an array, and the places
// where its tiles start.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/foreign/futhark/stream.h"

namespace dapple::detail::futhark {

/// The first bracket to close at each depth fixes the extent there; all others must agree.
class ArrayShape {
 public:
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

  ArrayShape() { extents_.fill(kUnknown); }

  unsigned depth() const noexcept { return depth_; }
  bool full() const noexcept { return depth_ == kMaxRank; }
  /// REQUIRES !full().
  void open() noexcept { counts_[depth_++] = 0; }
  /// Counts an element, or a closed bracket, of the innermost open one.
  void count(std::uint64_t n = 1) noexcept { counts_[depth_ - 1] += n; }
  std::uint64_t counted() const noexcept { return counts_[depth_ - 1]; }
  /// Elements that the innermost open bracket must have, or kUnknown.
  std::uint64_t wanted() const noexcept { return extents_[depth_ - 1]; }
  /// Closes the innermost bracket. False when its extent differs from that of the others.
  bool close() noexcept {
    --depth_;
    return fix(depth_, counts_[depth_]);
  }
  /// Says that brackets at depth `level` have `extent` elements. False when others had not.
  bool fix(unsigned level, std::uint64_t extent) noexcept {
    if (extents_[level] == kUnknown) extents_[level] = extent;
    return extents_[level] == extent;
  }
  std::vector<std::uint64_t> dims(unsigned rank) const {
    return {extents_.begin(), extents_.begin() + rank};
  }

 private:
  unsigned depth_ = 0;
  std::array<std::uint64_t, kMaxRank> counts_;
  std::array<std::uint64_t, kMaxRank> extents_;
};

/// Notes where each tile starts: at every kTileElements-th element of a row, in each row that
/// starts a group of rows. The first row says how many rows make a group.
class TileNotes {
 public:
  explicit TileNotes(std::vector<TileStart>& tiles) noexcept : tiles_(&tiles) { tiles.clear(); }

  void element(std::uint64_t col, const TileStart& start) {
    if (col % kTileElements == 0 && row_in_group_ == 0) tiles_->push_back(start);
  }
  void end_row(std::uint64_t cols) noexcept {
    if (rows_in_group_ == 0) {
      rows_in_group_ = std::max<std::uint64_t>(1, kTileElements / std::max<std::uint64_t>(1, cols));
    }
    if (++row_in_group_ == rows_in_group_) row_in_group_ = 0;
  }

 private:
  std::vector<TileStart>* tiles_;
  std::uint64_t row_in_group_ = 0;
  std::uint64_t rows_in_group_ = 0;  // 0: the first row has not ended
};

}  // namespace dapple::detail::futhark
