#include "lib/foreign/futhark/import_text.h"

#include <algorithm>
#include <cstring>

#include "lib/base/parallel.h"
#include "lib/base/value_types.h"
#include "lib/foreign/futhark/elements.h"
#include "lib/foreign/text/import.h"

namespace dapple::detail::futhark {

namespace {

template <Dialect dialect, class T>
void parse(const ByteSource& file, const TextTile& tile, std::byte* cells) {
  const std::uint64_t bytes = tile.end - tile.start.offset;
  const auto* const text = reinterpret_cast<const char*>(file.at(tile.start.offset, bytes));
  Elements<dialect, T> elements(text, text + bytes, tile.element, tile.start.in_string);
  for (std::uint64_t n = std::uint64_t{tile.rows} * tile.cols; n > 0; --n, cells += sizeof(T)) {
    T value{};
    if (!elements.next(value)) {
      throw Error(Errc::io, file.name(), tile.start.offset, "the file changes while it is read");
    }
    std::memcpy(cells, &value, sizeof value);
  }
}

}  // namespace

void import_tiles(const ByteSource& file, const std::vector<TextTile>& tiles, Dialect dialect,
                  unsigned threads, BlockWriter& writer) {
  std::vector<std::vector<std::byte>> memory(worker_limit(threads));
  parallel_in_order(tiles.size(), threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
    const TextTile& tile = tiles[i];
    const ValueType type = info(tile.element).cell;
    const std::size_t row_bytes = tile.cols * size_of(type);
    std::vector<std::byte>& cells = memory[worker];
    cells.resize(tile.rows * row_bytes);
    visit_type(type, [&](auto tag) {
      using T = decltype(tag);
      if (dialect == Dialect::typed) {
        parse<Dialect::typed, T>(file, tile, cells.data());
      } else {
        parse<Dialect::untyped, T>(file, tile, cells.data());
      }
    });
    writer.put(tile.pos, {cells.data(), type, tile.rows, tile.cols, row_bytes}, &turn);
  });
}

void import_blocks(const Store& binary, BlockWriter& writer) {
  std::vector<std::byte> cells;
  for (std::uint64_t i = 0; i < binary.index().size(); ++i) {
    const Entry e = binary.index().entry(i);
    const std::size_t row_bytes = e.cols * size_of(e.value_type);
    // Blocks of vectors: one column, as high as a tile.
    for (std::uint64_t row = 0; row < e.rows; row += kTileElements) {
      const std::uint64_t rows = std::min<std::uint64_t>(e.rows - row, kTileElements);
      cells.resize(rows * row_bytes);
      binary.driver().read(binary, e, {{row, row + rows}, {0, e.cols}},
                           {cells.data(), e.value_type, row_bytes, size_of(e.value_type)});
      writer.put({e.pos.rx + row, e.pos.cx},
                 {cells.data(), e.value_type, static_cast<std::uint32_t>(rows), e.cols, row_bytes});
    }
  }
}

}  // namespace dapple::detail::futhark
