#include "lib/foreign/arrays/annotated.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lib/base/bytes.h"

namespace dapple::detail::arrays {

namespace {

/// The paths of the tables that tell of rows and columns, by the place of a matrix among annotated
/// data; "" for none.
std::array<std::string_view, 2> tables_of(std::string_view path) noexcept {
  const std::string_view part = path.substr(0, path.find('/'));
  if (path == "X" || part == "layers") return {"obs", "var"};
  if (path == "raw/X") return {"obs", "raw/var"};
  if (part == "obsm") return {"obs", ""};
  if (part == "varm") return {"var", ""};
  if (part == "obsp") return {"obs", "obs"};
  if (part == "varp") return {"var", "var"};
  return {};
}

/// The index of a table: an array of words, or the values beside a mask. Null when there is none of
/// this length.
std::shared_ptr<const Names> read_index(const Objects& objects, const std::string& table,
                                        std::uint64_t count) {
  const auto group = objects.find(table);
  const std::string name = group && !group->is_array ? group->text("_index") : std::string();
  if (name.empty()) return nullptr;
  std::string path = table + "/" + name;
  const auto index = objects.find(path);
  if (!index) return nullptr;
  if (!index->is_array) path += "/values";
  const Vector words = objects.open_vector(path);
  if (!words.read_words || words.items.size != count) return nullptr;
  NamesBuilder names;
  words.read_words([&](std::string_view word) { names.add(word); });
  return names.finish();
}

}  // namespace

std::string Object::text(const char* name) const {
  auto value = attribute(name);
  return value && value->is(Json::Kind::string) ? std::move(value->text) : std::string();
}

Encoding encoding_of(const Object& group) {
  if (group.is_array) return Encoding::none;
  std::string text = group.text("encoding-type");
  if (text.empty()) text = group.text("h5sparse_format");
  if (text == "csr_matrix" || text == "csr") return Encoding::csr;
  if (text == "csc_matrix" || text == "csc") return Encoding::csc;
  return text == "dataframe" ? Encoding::table : Encoding::none;
}

void drop_encoding(Json& attributes) {
  static constexpr std::array<std::string_view, 7> names = {
      "encoding-type", "encoding-version", "shape",         "column-order",
      "_index",        "h5sparse_format",  "h5sparse_shape"};
  if (attributes.find(names.front()) == nullptr && attributes.find("h5sparse_format") == nullptr) {
    return;
  }
  Json kept;
  kept.kind = Json::Kind::object;
  for (std::size_t i = 0; i < attributes.keys.size(); ++i) {
    if (std::find(names.begin(), names.end(), attributes.keys[i]) != names.end()) continue;
    kept.keys.push_back(std::move(attributes.keys[i]));
    kept.items.push_back(std::move(attributes.items[i]));
  }
  attributes = std::move(kept);
}

void give_names(const FindObjects& objects, std::string_view path, Schema& schema) {
  const auto index_of = [&](std::string_view table, std::uint64_t count) -> ReadNames {
    if (table.empty()) return nullptr;
    return read_once([objects, table = std::string(table), count] {
      return read_index(*objects(), table, count);
    });
  };
  const auto tables = tables_of(path);
  schema.row_names = index_of(tables[0], schema.rows);
  schema.col_names = index_of(tables[1], schema.cols);
}

namespace {

/// From the attributes of a sparse group.
void take_shape(const Objects& objects, const std::string& path, Schema& schema) {
  const auto group = objects.find(path);
  auto shape = group->attribute("shape");
  if (!shape) shape = group->attribute("h5sparse_shape");
  const bool pair = shape && shape->items.size() == 2;
  const auto rows = pair ? shape->items[0].count() : std::nullopt;
  const auto cols = pair ? shape->items[1].count() : std::nullopt;
  if (!rows || !cols) {
    throw objects.fault(Errc::corrupt, path,
                        "the sparse matrix has no attribute 'shape' of two extents");
  }
  schema.rows = *rows;
  schema.cols = *cols;
}

/// REQUIRES the shape in the schema.
std::shared_ptr<Store> open_sparse(std::shared_ptr<ByteSource> file, const Objects& objects,
                                   const std::string& path, bool by_columns, Schema schema,
                                   const Drivers& drivers) {
  const auto integers_in = [&](const char* name) {
    Vector vector = objects.open_vector(path + "/" + name);
    return integers(std::move(vector.items), vector.type, file->name(), vector.path);
  };
  Vector values = objects.open_vector(path + "/data");
  if (values.read_words) {
    throw objects.fault(Errc::unsupported, values.path, "the values are strings");
  }
  schema.storage = Storage::csr;
  schema.value_type = values.type;
  auto matrix = std::make_unique<SparseArrays>();
  matrix->by_columns = by_columns;
  matrix->pointers = integers_in("indptr");
  matrix->indices = integers_in("indices");
  matrix->shown = {{"group", path}, {"encoding", by_columns ? "csc_matrix" : "csr_matrix"}};
  std::move(values.shown.begin(), values.shown.end(), std::back_inserter(matrix->shown));
  matrix->values = std::move(values.items);
  return make_store(std::move(file), std::move(schema), std::move(matrix), drivers);
}

}  // namespace

std::shared_ptr<Store> open_group(std::shared_ptr<ByteSource> file, const Objects& objects,
                                  const FindObjects& later, const std::string& path,
                                  Encoding encoding, Schema schema, const GroupDrivers& drivers) {
  if (encoding == Encoding::table) {
    return open_table(std::move(file), objects, path, std::move(schema), drivers.table);
  }
  if (encoding != Encoding::cell_ranger) {
    take_shape(objects, path, schema);
    give_names(later, path, schema);
  }
  return open_sparse(std::move(file), objects, path, encoding != Encoding::csr, std::move(schema),
                     drivers.sparse);
}

}  // namespace dapple::detail::arrays
