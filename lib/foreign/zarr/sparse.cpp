#include "lib/foreign/zarr/nodes.h"

#include <string>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/sparse_arrays.h"

namespace dapple::detail::zarr {

namespace {

arrays::Items items_of(std::shared_ptr<const ArrayData> data) {
  arrays::Items items{data->rows(), size_of(data->type())};
  items.load = [data = std::move(data)](Range which, std::byte* out) { data->read(which, out); };
  return items;
}

arrays::Items integers(const Hierarchy& hierarchy, const Node& group, std::string_view name) {
  auto data = open_vector(hierarchy, group, name);
  const ValueType type = data->type();
  return arrays::integers(items_of(std::move(data)), type, group.key, std::string(name));
}

void take_shape(const Node& group, Schema& schema) {
  const Json* const shape = group.attributes.find("shape");
  const bool pair = shape != nullptr && shape->items.size() == 2;
  const auto rows = pair ? shape->items[0].count() : std::nullopt;
  const auto cols = pair ? shape->items[1].count() : std::nullopt;
  if (!rows || !cols) {
    throw Error(Errc::corrupt, group.key, std::nullopt,
                "the sparse matrix has no attribute 'shape' of two extents");
  }
  schema.rows = *rows;
  schema.cols = *cols;
}

}  // namespace

bool is_sparse(const Node& group) noexcept {
  const std::string_view encoding = group.text("encoding-type");
  return !group.is_array && (encoding == "csr_matrix" || encoding == "csc_matrix");
}

std::shared_ptr<Store> open_sparse(std::shared_ptr<ByteSource> file, const Hierarchy& hierarchy,
                                   const Node& group, AxisNames names) {
  static constexpr arrays::Drivers kDrivers("zarr");
  Schema schema;
  schema.storage = Storage::csr;
  schema.attributes = group.for_schema();
  take_shape(group, schema);
  names.give_to(schema);
  const auto values = open_vector(hierarchy, group, "data");
  schema.value_type = values->type();
  auto matrix = std::make_unique<arrays::SparseArrays>();
  matrix->by_columns = group.text("encoding-type") == "csc_matrix";
  matrix->pointers = integers(hierarchy, group, "indptr");
  matrix->indices = integers(hierarchy, group, "indices");
  matrix->shown = {{"group", group.path},
                   {"encoding", std::string(group.text("encoding-type"))},
                   {"chunks", shape_text(values->metadata().chunk)},
                   {"codecs", values->metadata().codecs}};
  matrix->values = items_of(values);
  return arrays::make_store(std::move(file), std::move(schema), std::move(matrix), kDrivers);
}

}  // namespace dapple::detail::zarr
