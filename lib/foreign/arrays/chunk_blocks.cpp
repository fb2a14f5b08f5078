#include "lib/foreign/arrays/chunk_blocks.h"

#include <algorithm>
#include <limits>

#include "lib/base/bytes.h"

namespace dapple::detail::arrays {

namespace {

constexpr std::uint64_t kFewestCells = 1 << 16;  // of a block of small chunks
constexpr std::uint64_t kStripCells = 1 << 20;   // of a strip
constexpr std::uint64_t kMostBlocks = 1 << 20;

/// 2^64 - 1 if there are more. REQUIRES an array that has cells.
std::uint64_t count_blocks(std::uint64_t rows, std::uint64_t cols, const Tile& tile) {
  std::uint64_t blocks = 0;
  return multiply((rows - 1) / tile.rows + 1, (cols - 1) / tile.cols + 1, blocks)
             ? blocks
             : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

Tile block_of(std::uint64_t rows, std::uint64_t cols, const Tile& chunk) {
  const auto fit = [](std::uint64_t extent, std::uint64_t most) {
    return std::clamp<std::uint64_t>(extent, 1,
                                     std::max<std::uint64_t>(1, std::min(most, kMostSide)));
  };
  if (chunk.rows == 0) {
    const std::uint64_t width = fit(cols, cols);
    return {fit(kStripCells / width, rows), width};
  }
  Tile tile{fit(chunk.rows, rows), fit(chunk.cols, cols)};
  if (rows == 0 || cols == 0) return tile;
  // Chunks stay whole in a block, so that each is decompressed for one block only.
  while (tile.rows * tile.cols < kFewestCells || count_blocks(rows, cols, tile) > kMostBlocks) {
    const bool wider = tile.cols < cols && (tile.cols <= tile.rows || tile.rows >= rows);
    std::uint64_t& side = wider ? tile.cols : tile.rows;
    const std::uint64_t most = wider ? cols : rows;
    if (side >= most || side > kMostSide / 2) break;
    side = std::min(2 * side, most);
  }
  return tile;
}

EntryTable blocks_of(const Schema& schema, const Tile& tile, const std::string& file,
                     const std::string& array) {
  EntryTable entries;
  const std::uint64_t rows = schema.rows, cols = schema.cols;
  if (rows == 0 || cols == 0) return entries;
  if (count_blocks(rows, cols, tile) > 16 * kMostBlocks) {
    throw Error(Errc::unsupported, file, std::nullopt,
                array + " of " + extents_text(rows, cols) + " cells has too many chunks");
  }
  for_each_dense({{0, rows}, {0, cols}}, tile, [&](Entry e) {
    e.value_type = schema.type_of(e.pos.cx);
    entries.push_back(e);
  });
  return entries;
}

}  // namespace dapple::detail::arrays
