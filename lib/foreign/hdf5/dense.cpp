#include "lib/foreign/hdf5/dense.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/object/copy_rows.h"
#include "lib/object/misfit.h"

namespace dapple::detail::hdf5 {

namespace {

constexpr std::uint64_t kFewestCells = 1 << 16;  // of a block of small chunks
constexpr std::uint64_t kStripCells = 1 << 20;   // of a strip
constexpr std::uint64_t kMostBlocks = 1 << 20;
constexpr std::uint64_t kSide = std::uint64_t{1} << 31;

struct DenseState final : DriverState {
  std::unique_ptr<const DataSet> data;
  std::vector<Detail> details(const Store&) const override {
    std::vector<Detail> shown{{"data set", data->path()}};
    if (!data->chunk().empty()) shown.push_back({"chunks", shape_text(data->chunk())});
    if (!data->compression().empty()) shown.push_back({"compression", data->compression()});
    return shown;
  }
};

std::size_t row_bytes(const DataSet& data) { return data.cols() * size_of(data.type()); }

std::optional<DensePlace> in_place(const Store& store, const Entry& e) {
  const DataSet& data = *store.state<DenseState>().data;
  if (!data.place()) return std::nullopt;
  return DensePlace{store.payload(e), row_bytes(data)};
}

/// Copies rows x cols cells from memory; `first` is the first one's place in the block.
void copy_cells(const Store& store, const Entry& e, CellInBlock first, const std::byte* from,
                std::size_t row_step, const Part& part, const Target& out) {
  const std::uint64_t rows = part.rows.size(), cols = part.cols.size();
  const std::uint64_t done = copy_rows(out, e.value_type, from, row_step, rows, cols);
  if (done == rows * cols) return;
  const std::byte* const value =
      from + done / cols * row_step + done % cols * size_of(e.value_type);
  fail_misfit(store, e, {first.row + done / cols, first.col + done % cols}, value, out.type);
}

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const DataSet& data = *store.state<DenseState>().data;
  const std::size_t size = size_of(e.value_type);
  const std::uint64_t cols = part.cols.size();
  if (part.rows.empty() || part.cols.empty()) return;
  const CellInBlock first{part.rows.begin, part.cols.begin};
  if (const auto place = in_place(store, e)) {
    const std::byte* const from =
        place->data() + part.rows.begin * place->row_step + part.cols.begin * size;
    return copy_cells(store, e, first, from, place->row_step, part, out);
  }
  const Range rows{e.pos.rx + part.rows.begin, e.pos.rx + part.rows.end};
  const Range columns{e.pos.cx + part.cols.begin, e.pos.cx + part.cols.end};
  if (out.type == e.value_type && out.col_step == size && out.row_step == cols * size) {
    return data.read(rows, columns, out.data);
  }
  Array<std::byte> cells(part.rows.size() * cols * size);
  data.read(rows, columns, cells.data());
  copy_cells(store, e, first, cells.data(), cols * size, part, out);
}

constexpr Driver kDriver = {.format = "hdf5", .read = read, .in_place = in_place};

/// Extents of a block.
struct Tile {
  std::uint64_t rows, cols;
};

/// 2^64 - 1 if there are more. REQUIRES a data set that has cells.
std::uint64_t count_blocks(const DataSet& data, const Tile& tile) {
  const std::uint64_t down = (data.rows() - 1) / tile.rows + 1;
  const std::uint64_t across = (data.cols() - 1) / tile.cols + 1;
  std::uint64_t blocks = 0;
  return multiply(down, across, blocks) ? blocks : std::numeric_limits<std::uint64_t>::max();
}

Tile tile_of(const DataSet& data) {
  const std::uint64_t rows = data.rows(), cols = data.cols();
  const auto fit = [](std::uint64_t extent, std::uint64_t most) {
    return std::clamp<std::uint64_t>(extent, 1, std::min(most, kSide));
  };
  if (data.chunk().empty()) {
    const std::uint64_t width = fit(cols, cols);
    return {fit(kStripCells / width, rows), width};
  }
  Tile tile{fit(data.chunk()[0], rows), fit(data.chunk().size() == 2 ? data.chunk()[1] : 1, cols)};
  // Chunks stay whole in a block, so that each is decompressed for one block only.
  while (tile.rows * tile.cols < kFewestCells || count_blocks(data, tile) > kMostBlocks) {
    const bool wider = tile.cols < cols && (tile.cols <= tile.rows || tile.rows >= rows);
    std::uint64_t& side = wider ? tile.cols : tile.rows;
    const std::uint64_t most = wider ? cols : rows;
    if (side >= most || side > kSide / 2) break;
    side = std::min(2 * side, most);
  }
  return tile;
}

EntryTable blocks_of(const DataSet& data) {
  EntryTable entries;
  const std::uint64_t rows = data.rows(), cols = data.cols();
  if (rows == 0 || cols == 0) return entries;
  const Tile tile = tile_of(data);
  if (count_blocks(data, tile) > 16 * kMostBlocks) {
    throw Error(Errc::unsupported, data.file().name(), std::nullopt,
                "the data set " + data.path() + " of " + shape_text(data.shape()) +
                    " cells has too many chunks");
  }
  const std::size_t size = size_of(data.type()), step = row_bytes(data);
  for (std::uint64_t row = 0; row < rows; row += std::min(tile.rows, rows - row)) {
    for (std::uint64_t col = 0; col < cols; col += std::min(tile.cols, cols - col)) {
      Entry e;
      e.pos = {row, col};
      e.rows = static_cast<std::uint32_t>(std::min(tile.rows, rows - row));
      e.cols = static_cast<std::uint32_t>(std::min(tile.cols, cols - col));
      e.kind = BlockKind::dense;
      e.value_type = data.type();
      e.stored = std::uint64_t{e.rows} * e.cols;
      if (data.place()) {
        e.offset = *data.place() + row * step + col * size;
        e.bytes = (e.rows - 1) * step + e.cols * size;
      }
      entries.push_back(e);
    }
  }
  return entries;
}

}  // namespace

std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const DataSet> data) {
  Schema schema;
  schema.rows = data->rows();
  schema.cols = data->cols();
  schema.value_type = data->type();
  BlockIndex index =
      BlockIndex::from_entries(blocks_of(*data), schema.rows, schema.cols, file->name());
  auto state = std::make_unique<DenseState>();
  state->data = std::move(data);
  return std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), kDriver,
                                 std::move(state));
}

}  // namespace dapple::detail::hdf5
