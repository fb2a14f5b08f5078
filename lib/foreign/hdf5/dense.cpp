#include "lib/foreign/hdf5/dense.h"

#include <string>
#include <utility>

#include "dapple/array.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/foreign/hdf5/describe.h"
#include "lib/object/copy_rows.h"
#include "lib/object/misfit.h"

namespace dapple::detail::hdf5 {

namespace {

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

EntryTable blocks_of(const DataSet& data, const Schema& schema) {
  arrays::Tile chunk{0, 0};
  if (!data.chunk().empty()) {
    chunk = {data.chunk()[0], data.chunk().size() == 2 ? data.chunk()[1] : 1};
  }
  const std::string name = "the data set " + data.path();
  EntryTable entries = arrays::blocks_of(schema, arrays::block_of(schema.rows, schema.cols, chunk),
                                         data.file().name(), name);
  if (!data.place()) return entries;
  const std::size_t size = size_of(data.type()), step = row_bytes(data);
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    Entry e = entries[i];
    e.offset = *data.place() + e.pos.rx * step + e.pos.cx * size;
    e.bytes = (e.rows - 1) * step + e.cols * size;
    entries.set(i, e);
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
  describe(data->opened(), data->path(), schema);
  BlockIndex index =
      BlockIndex::from_entries(blocks_of(*data, schema), schema.rows, schema.cols, file->name());
  auto state = std::make_unique<DenseState>();
  state->data = std::move(data);
  return std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), kDriver,
                                 std::move(state));
}

}  // namespace dapple::detail::hdf5
