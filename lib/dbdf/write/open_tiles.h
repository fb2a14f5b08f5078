// Tiles of which only some rows have been put: they wait for the others, so that whoever puts
// strips of any height gets a regular tiling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "dapple/region.h"
#include "lib/dbdf/write/block_plan.h"

namespace dapple::detail::dbdf {

/// Rows of a tile in memory of their own: dense, or CSR where there are row pointers.
struct TilePart {
  BlockPos pos;
  std::uint32_t rows = 0, cols = 0;
  ValueType type = ValueType::f64;
  std::vector<std::byte> values{};
  std::vector<std::uint64_t> row_ptr{};
  std::vector<std::uint32_t> col_idx{};

  TilePart(BlockPos at, const DenseCells& cells);
  TilePart(BlockPos at, const CsrCells& cells);

  bool is_sparse() const noexcept { return !row_ptr.empty(); }
  DenseCells dense() const noexcept;
  CsrCells csr() const noexcept;
  /// Adds the rows below. REQUIRES that they are dense or CSR as these, of the same type.
  void append(const TilePart& below);
  std::size_t bytes() const noexcept;
};

/// Any thread.
class OpenTiles {
 public:
  /// Keeps at most this many bytes.
  explicit OpenTiles(std::size_t most = std::size_t{256} << 20) noexcept : most_(most) {}

  /// Takes a part of the tile that begins at `tile` and has `rows` rows. Hands out what is to be
  /// written now: the tile, if it is whole with that; or all parts, when they take too much memory.
  std::vector<TilePart> add(BlockPos tile, std::uint64_t rows, TilePart part);
  /// Hands out all parts.
  std::vector<TilePart> take_all();

 private:
  struct Open {
    std::uint64_t rows = 0;  // in its parts
    std::vector<TilePart> parts{};
  };
  std::vector<TilePart> take_all_locked();

  const std::size_t most_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Open> tiles_;  // by their first cell
  std::size_t bytes_ = 0;
};

}  // namespace dapple::detail::dbdf
