#include "lib/foreign/zarr/nodes.h"

#include <algorithm>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/object/copy_rows.h"
#include "lib/object/misfit.h"

namespace dapple::detail::zarr {

namespace {

struct DenseState final : DriverState {
  std::unique_ptr<const ArrayData> data;
  std::vector<Detail> details(const Store&) const override {
    std::vector<Detail> shown;
    if (!data->path().empty()) shown.push_back({"array", data->path()});
    shown.push_back({"chunks", extents_text(data->metadata().chunk)});
    if (data->metadata().shards) {
      shown.push_back({"shards", extents_text(data->metadata().shards->chunk)});
    }
    if (!data->metadata().codecs.empty()) shown.push_back({"codecs", data->metadata().codecs});
    return shown;
  }
};

/// Copies cells of one chunk, which is `part` of the block.
void copy_cells(const Store& store, const Entry& e, const Part& part, const std::byte* from,
                std::size_t row_step, std::size_t col_step, const Target& out) {
  if (col_step == size_of(e.value_type)) {
    return copy_part(store, e, part, from, row_step, out);
  }
  const std::uint64_t cols = part.cols.size();
  for (std::uint64_t r = 0; r < part.rows.size(); ++r, from += row_step) {
    const std::size_t done =
        convert_cells(e.value_type, from, col_step, out.type, out.cell(r, 0), out.col_step, cols);
    if (done == cols) continue;
    fail_misfit(store, e, {part.rows.begin + r, part.cols.begin + done}, from + done * col_step,
                out.type);
  }
}

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const ArrayData& data = *store.state<DenseState>().data;
  const std::uint64_t down = data.chunk_rows(), across = data.chunk_cols();
  const Region wanted{{e.pos.rx + part.rows.begin, e.pos.rx + part.rows.end},
                      {e.pos.cx + part.cols.begin, e.pos.cx + part.cols.end}};
  if (part.rows.empty() || part.cols.empty()) return;
  for (std::uint64_t i = wanted.rows.begin / down; i <= (wanted.rows.end - 1) / down; ++i) {
    for (std::uint64_t j = wanted.cols.begin / across; j <= (wanted.cols.end - 1) / across; ++j) {
      const std::uint64_t top = i * down, left = j * across;
      const Region chunk{{top, top + std::min(down, data.rows() - top)},
                         {left, left + std::min(across, data.cols() - left)}};
      const Region both = intersect(chunk, wanted);
      Target to = out;
      to.data = out.cell(both.rows.begin - wanted.rows.begin, both.cols.begin - wanted.cols.begin);
      const Part here = shared_part(e, both);
      // One that is read in part is kept, because readers go on where they stopped.
      const auto cells = data.chunk(i, j, !(both == chunk));
      if (!cells) {
        copy_cells(store, e, here, data.metadata().fill.data(), 0, 0, to);
        continue;
      }
      const std::byte* const from = cells->first + (both.rows.begin - top) * cells->row_step +
                                    (both.cols.begin - left) * cells->col_step;
      copy_cells(store, e, here, from, cells->row_step, cells->col_step, to);
    }
  }
}

void will_need(const Store& store, std::span<const Region> regions) noexcept {
  const ArrayData& data = *store.state<DenseState>().data;
  if (!data.fetches()) return;
  try {
    const std::uint64_t down = data.chunk_rows(), across = data.chunk_cols();
    std::vector<ChunkPlace> chunks;
    for (const Region& wanted : regions) {
      if (wanted.empty()) continue;
      for (std::uint64_t i = wanted.rows.begin / down; i <= (wanted.rows.end - 1) / down; ++i) {
        for (std::uint64_t j = wanted.cols.begin / across; j <= (wanted.cols.end - 1) / across;
             ++j) {
          chunks.push_back({i, j});
        }
      }
    }
    std::sort(chunks.begin(), chunks.end());
    chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
    data.will_need(chunks);
  } catch (const std::exception&) {  // no memory
  }
}

constexpr Driver kDriver = {.format = "zarr", .read = read, .will_need = will_need};

}  // namespace

std::shared_ptr<Store> open_dense(std::shared_ptr<ByteSource> file,
                                  std::unique_ptr<const ArrayData> data, const Node& node,
                                  const arrays::FindObjects& beside) {
  Schema schema;
  schema.attributes = node.for_schema();
  schema.rows = data->rows();
  schema.cols = data->cols();
  schema.value_type = data->type();
  if (beside) arrays::give_names(beside, node.path, schema);
  const arrays::Tile tile =
      arrays::block_of(schema.rows, schema.cols, {data->chunk_rows(), data->chunk_cols()});
  const std::string array = data->path().empty() ? "the array" : "the array " + data->path();
  EntryTable blocks = arrays::blocks_of(schema, tile, file->name(), array);
  auto state = std::make_unique<DenseState>();
  state->data = std::move(data);
  return make_store(std::move(file), std::move(schema), std::move(blocks), kDriver,
                    std::move(state));
}

}  // namespace dapple::detail::zarr
