// Typed tiles: the cells of a block as the caller's type, whatever kind and type it is stored in.
//
//   const auto tiles = matrix.tiles<double>();   // once
//   double sum = 0;
//   for (std::uint64_t i = 0; i < tiles.rows(); ++i) {
//     for (std::uint64_t j = 0; j < tiles.cols(); ++j) {
//       sum += tiles(i, j)(0, 0);
//     }
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "dapple/detail.h"
#include "dapple/value_type.h"
#include "dapple/view.h"

namespace dapple {

/// What to do when cells cannot be viewed in place.
enum class Copy : std::uint8_t {
  allowed,    // decode or copy them
  forbidden,  // throw type_mismatch
};

/// The cells of one block as values of type T: a view of the file when the block is dense and
/// stored as T, a view of zeros when it is empty, otherwise a decoded copy that the tile owns. A
/// view is valid while any copy of the Matrix or Frame lives. Const functions may be called from
/// several threads at once.
template <Value T>
class Tile {
 public:
  Tile(Tile&& other) noexcept
      : view_(other.view_), copy_(other.copy_), owned_(std::exchange(other.owned_, nullptr)) {}
  Tile& operator=(Tile&& other) noexcept {
    std::swap(view_, other.view_);
    std::swap(copy_, other.copy_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Tile() {
    // A free function: taking the tile's address would keep it out of registers.
    if (owned_ != nullptr) [[unlikely]]
      detail::free_cells(owned_);
  }

  std::uint64_t rows() const noexcept { return view_.rows(); }
  std::uint64_t cols() const noexcept { return view_.cols(); }

  /// The cell at (row, col) of the tile. REQUIRES row < rows(), col < cols().
  T operator()(std::uint64_t row, std::uint64_t col) const noexcept { return view_(row, col); }

  /// A random-access range of T, valid as long as the tile. REQUIRES row < rows().
  DenseRow<T> row(std::uint64_t row) const& noexcept { return view_.row(row); }
  DenseRow<T> row(std::uint64_t row) const&& = delete;

  /// The same cells as a plain view; valid as long as the tile.
  DenseView<T> view() const& noexcept { return view_; }
  DenseView<T> view() const&& = delete;

  /// True when nothing was copied.
  bool is_view() const noexcept { return owned_ == nullptr; }

  /// All cells as one row-major array, if they are contiguous and aligned for T: true of every
  /// copy, and of tiles that dapple wrote with the default options.
  std::optional<std::span<const T>> aligned() const& noexcept { return view_.aligned(); }
  std::optional<std::span<const T>> aligned() const&& = delete;

  /// The same for any tile: cells that are not `aligned` are copied first. Throws type_mismatch
  /// when a copy is needed but forbidden.
  std::span<const T> span() & {
    if (!aligned())
      *this = Tile(detail::copy_cells({view_.row_bytes(0), rows(), cols(), view_.row_stride()},
                                      sizeof(T), copy_),
                   copy_);
    return *aligned();
  }
  std::span<const T> span() && = delete;

 private:
  friend class Block;
  template <Value>
  friend class Tiles;
  Tile(DenseView<T> view, Copy copy) noexcept : view_(view), copy_(copy) {}
  Tile(const detail::FetchedCells& cells, Copy copy) noexcept
      : view_(cells.data, cells.rows, cells.cols, cells.row_bytes),
        copy_(copy),
        owned_(cells.owned) {}

  DenseView<T> view_;
  Copy copy_;
  void* owned_ = nullptr;
};

/// The tiles of a regular tiling as values of type T; make it once, before a loop. A small value,
/// valid while any copy of its Matrix or Frame lives. Threads may share one. Keep it in a local
/// variable, so that its fields stay in registers.
template <Value T>
class Tiles {
 public:
  /// The number of tiles in each direction.
  std::uint64_t rows() const noexcept { return grid_.rows; }
  std::uint64_t cols() const noexcept { return grid_.cols; }
  const Grid& grid() const noexcept { return grid_; }

  /// Tile (i, j), whatever it is stored as. Its index entry is compared with its block's header
  /// before the first use. Throws out_of_range, type_mismatch when a stored value does not fit T
  /// (R6) or a copy is needed but forbidden, corrupt, io. O(1), a few nanoseconds, for a view;
  /// O(cells) for a copy.
  Tile<T> operator()(std::uint64_t i, std::uint64_t j) const {
    const detail::TileTable& t = table_;
    if (i < t.rows && j < t.cols) [[likely]] {
      const std::uint64_t number = i * t.cols + j;
      // Relaxed: the tag guards no memory but the mapped file, which was there before.
      if (t.tags[number].load(std::memory_order_relaxed) == kDense) [[likely]] {
        return {DenseView<T>(t.values + number * t.step, t.tile.rows, t.tile.cols,
                             t.tile.cols * sizeof(T)),
                copy_};
      }
    }
    return {detail::fetch_tile(t.store, i, j, value_type_of<T>(), copy_), copy_};
  }

 private:
  friend class BlockedObject;
  static constexpr auto kDense = static_cast<std::uint8_t>(value_type_of<T>());
  // Copied field by field, or g++ would not keep them in registers.
  Tiles(const detail::TileTable& table, const Grid& grid, Copy copy) noexcept
      : table_{table.store, table.tags, table.values, table.step,
               table.rows,  table.cols, table.tile},
        grid_(grid),
        copy_(copy) {}

  detail::TileTable table_;
  Grid grid_;
  Copy copy_;
};

}  // namespace dapple
