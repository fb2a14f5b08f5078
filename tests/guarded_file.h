// A file of tiles that is cut while somebody reads it with the guard on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "dapple/dapple.h"
#include "tests/support.h"

namespace dapple::test {

inline constexpr std::uint32_t kTileEdge = 64;  // a tile of f64 is 32 KiB: eight pages

/// 4 x 4 tiles; cell (r, c) is 1 + r * 256 + c, so that no cell is zero.
inline std::filesystem::path write_tile_file(const TempDir& dir, bool plain = false) {
  WriteOptions options;
  options.tile = TileShape{kTileEdge, kTileEdge};
  options.narrow = false;
  options.plain = plain;
  constexpr std::uint64_t side = 4 * kTileEdge;
  std::vector<double> cells(side * side);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = 1.0 + static_cast<double>(i);
  auto w = MatrixWriter::create(dir / "m.dbdf", side, side, ValueType::f64, options);
  for (std::uint64_t r = 0; r < side; r += kTileEdge) {
    for (std::uint64_t c = 0; c < side; c += kTileEdge) {
      w.put<double>({r, c}, {cells.data() + r * side + c, kTileEdge, kTileEdge, side});
    }
  }
  w.finish();
  return dir / "m.dbdf";
}

inline OpenOptions guarded() {
  OpenOptions options;
  options.guard = true;
  return options;
}

inline Region region_of(const Matrix& m) { return {{0, m.rows()}, {0, m.cols()}}; }

/// Cuts the file to `size` bytes, as a careless writer would.
inline void cut_file(const std::filesystem::path& path, std::uint64_t size) {
  std::filesystem::resize_file(path, size);
}

}  // namespace dapple::test
