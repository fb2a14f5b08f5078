// The matrix of W1 to W4, stored by every contender in tiles of one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "harness/page_cache.h"
#include "harness/raw_file.h"
#include "harness/session.h"

namespace dapple::bench {

struct TileShapeOf {
  std::uint64_t side;  // rows and columns of the matrix
  std::uint32_t tile;  // rows and columns of a tile

  std::uint64_t grid() const { return side / tile; }  // tiles in a row, and in a column
  std::size_t tile_cells() const { return std::size_t{tile} * tile; }
  std::size_t tile_bytes() const { return tile_cells() * sizeof(double); }
  std::uint64_t number(std::uint64_t i, std::uint64_t j) const { return i * grid() + j; }
};

struct TileFiles {
  TileShapeOf shape;
  std::filesystem::path dapple, lmdb, hdf5;  // of the peers: empty when they are not built in
};

/// Makes the files unless they are there.
TileFiles make_tile_files(const Session& session, const TileShapeOf& shape);

/// Keeps all of them in memory.
std::vector<Pin> pin(const TileFiles& files);

/// The sum of each tile's cells, by number.
std::vector<double> tile_sums(const TileShapeOf& shape);

/// What the limit uses: dapple's file, mapped once more. The same pages of memory, reached with
/// nothing but an address.
class RawTiles {
 public:
  /// Throws std::runtime_error unless the tiles lie at equal distances.
  RawTiles(const std::filesystem::path& dapple_file, const TileShapeOf& shape);

  const std::byte* tile(std::uint64_t number) const { return first_ + number * step_; }
  /// Where the cells of a tile start in the file.
  std::uint64_t offset(std::uint64_t number) const {
    return static_cast<std::uint64_t>(tile(number) - map_.data());
  }

 private:
  RawMap map_;
  const std::byte* first_ = nullptr;
  std::size_t step_ = 0;
};

/// One cell of a random tile.
struct Touch {
  std::uint16_t i, j, row, col;
};

/// `count` of them, the same in every run.
std::vector<Touch> random_touches(const TileShapeOf& shape, std::size_t count);

}  // namespace dapple::bench
