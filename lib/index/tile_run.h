// Tiles whose index entries can be computed from their numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "dapple/region.h"
#include "lib/index/entry.h"

namespace dapple::detail {

/// Dense tiles of one value type, without hashes, in row-major order in the file with the same
/// number of bytes between any two. A few words describe a million of them, where entries would
/// take 64 MB.
class TileRun {
 public:
  /// An empty run, for an object of rows x cols cells.
  TileRun(std::uint64_t rows, std::uint64_t cols) noexcept : rows_(rows), cols_(cols) {}
  /// The run of all tiles of a grid that ends with these two; nothing if no run does. Damaged
  /// entries may give a wrong run, but never one that cannot be used. REQUIRES a grid of at least
  /// two tiles that have cells.
  static std::optional<TileRun> ending(const Region& object, const Grid& grid, const Entry& before,
                                       const Entry& last) noexcept;

  /// Adds an entry if it continues the run; false otherwise. REQUIRES that the entry is of the
  /// tiling's next tile, with the cells and bytes that a dense block of its shape has, and follows
  /// the others in the file.
  bool take(const Entry& e) noexcept {
    if (size_ == 0) {
      begin(e);
    } else if (size_ == 1) {
      between_ = e.offset - end_;
    }
    if (e.kind != BlockKind::dense || e.value_type != first_.value_type ||
        (size_ != 0 && e.offset - end_ != between_)) {
      return false;
    }
    end_ = e.offset + e.bytes;
    ++size_;
    return true;
  }

  std::uint64_t size() const noexcept { return size_; }
  /// REQUIRES the number of a tile of the object.
  Entry operator[](std::uint64_t number) const noexcept;

 private:
  void begin(const Entry& first) noexcept {
    first_ = first;
    strips_ = (cols_ - 1) / first.cols + 1;
  }

  std::uint64_t rows_, cols_;
  std::uint64_t strips_ = 0;  // tiles per row of tiles
  std::uint64_t size_ = 0;
  Entry first_;
  std::uint64_t end_ = 0;      // of the last block
  std::uint64_t between_ = 0;  // bytes from the end of a block to the offset of the next
};

}  // namespace dapple::detail
