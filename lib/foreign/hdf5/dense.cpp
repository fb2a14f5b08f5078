#include "lib/foreign/hdf5/objects.h"

#include <string>
#include <utility>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/foreign/arrays/chunk_blocks.h"
#include "lib/foreign/hdf5/describe.h"
#include "lib/object/copy_rows.h"

namespace dapple::detail::hdf5 {

namespace {

struct DenseState final : DriverState {
  std::unique_ptr<const DataSet> data;
  std::vector<Detail> details(const Store&) const override {
    std::vector<Detail> shown{{"data set", data->path()}};
    if (!data->chunk().empty()) shown.push_back({"chunks", extents_text(data->chunk())});
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

void read(const Store& store, const Entry& e, const Part& part, const Target& out) {
  const DataSet& data = *store.state<DenseState>().data;
  const std::size_t size = size_of(e.value_type);
  const std::uint64_t cols = part.cols.size();
  if (part.rows.empty() || part.cols.empty()) return;
  if (data.place()) return read_in_place(store, e, part, out);
  const Range rows{e.pos.rx + part.rows.begin, e.pos.rx + part.rows.end};
  const Range columns{e.pos.cx + part.cols.begin, e.pos.cx + part.cols.end};
  if (out.type == e.value_type && out.col_step == size && out.row_step == cols * size) {
    return data.read(rows, columns, out.data);
  }
  Array<std::byte> cells(part.rows.size() * cols * size);
  data.read(rows, columns, cells.data());
  copy_part(store, e, part, cells.data(), cols * size, out);
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
  schema.attributes = attributes_of(data->opened(), data->path());
  const auto objects = std::make_shared<const FileObjects>(data->opened());
  arrays::give_names([objects] { return objects; }, data->path(), schema);
  EntryTable blocks = blocks_of(*data, schema);
  auto state = std::make_unique<DenseState>();
  state->data = std::move(data);
  return make_store(std::move(file), std::move(schema), std::move(blocks), kDriver,
                    std::move(state));
}

}  // namespace dapple::detail::hdf5
