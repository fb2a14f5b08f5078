#include "lib/foreign/hdf5/objects.h"

#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/lines.h"
#include "lib/foreign/hdf5/describe.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::hdf5 {

namespace {

arrays::Items items_of(std::shared_ptr<const DataSet> data) {
  arrays::Items items{data->rows(), size_of(data->type())};
  if (const auto place = data->place()) {
    items.offset = *place;
    items.data = data->file().at(*place, items.size * items.width);
  } else {
    items.load = [data = std::move(data)](Range which, std::byte* out) { data->read(which, out); };
  }
  return items;
}

/// The extents that Cell Ranger keeps in a data set.
void take_stored_shape(const FileObjects& objects, const OpenFile& opened, const std::string& path,
                       Schema& schema) {
  arrays::Vector shape = objects.open_vector(path + "/shape");
  arrays::Items items =
      arrays::integers(std::move(shape.items), shape.type, opened.name(), shape.path);
  const auto memory = arrays::load_all(items);
  if (items.size != 2) throw objects.fault(Errc::corrupt, shape.path, "should hold 2 integers");
  // A negative one is far more than there are pointers or indices for.
  schema.rows = arrays::pointer(items, 0);
  schema.cols = arrays::pointer(items, 1);
}

void name_columns(const FileObjects& objects, const std::string& path, Schema& schema) {
  const arrays::Vector words = objects.open_vector(path + "/barcodes");
  if (!words.read_words || words.items.size != schema.cols) return;
  std::vector<std::string> names;
  words.read_words([&](std::string_view word) { names.emplace_back(word); });
  schema.group = std::make_shared<ColumnGroup>(
      ColumnGroup{"", schema.cols, listed_dictionary(std::move(names))});
}

}  // namespace

std::optional<arrays::Object> FileObjects::find(const std::string& path) const {
  const Session session(opened_->name());
  const Handle object = opened_->open_object(session, path);
  if (!object.is_open()) return std::nullopt;
  const bool is_array = session.api().H5Iget_type(object.get()) == H5I_DATASET;
  return arrays::Object{is_array, [opened = opened_, path](const char* name) {
                          return read_attribute(*opened, path, name);
                        }};
}

arrays::Vector FileObjects::open_vector(const std::string& path) const {
  if (auto strings = find_strings(opened_, path)) return std::move(*strings);
  const auto data = std::make_shared<const DataSet>(opened_, path);
  if (data->shape().size() != 1) {
    throw Error(Errc::corrupt, opened_->name(), std::nullopt,
                "the data set " + path + " should have one dimension");
  }
  data->require_plausible();
  arrays::Vector vector{
      .path = path, .items = items_of(data), .type = data->type(), .boolean = data->is_boolean()};
  if (!data->chunk().empty()) vector.shown.push_back({"chunks", extents_text(data->chunk())});
  if (!data->compression().empty()) vector.shown.push_back({"compression", data->compression()});
  return vector;
}

Error FileObjects::fault(Errc code, const std::string& path, const std::string& what) const {
  return Error(code, opened_->name(), std::nullopt, path + ": " + what);
}

arrays::Encoding group_encoding(const FileObjects& objects, const std::string& path) {
  using arrays::Encoding;
  const auto group = objects.find(path);
  if (!group || group->is_array) return Encoding::none;
  const Encoding encoding = arrays::encoding_of(*group);
  if (encoding != Encoding::none) return encoding;
  if (!group->text("encoding-type").empty()) return Encoding::none;
  for (const char* const member : {"/data", "/indices", "/indptr", "/shape", "/barcodes"}) {
    const auto object = objects.find(path + member);
    if (!object || !object->is_array) return Encoding::none;
  }
  return Encoding::cell_ranger;
}

std::shared_ptr<Store> open_group(std::shared_ptr<const OpenFile> opened,
                                  std::shared_ptr<ByteSource> file, const std::string& path,
                                  arrays::Encoding encoding) {
  static constexpr arrays::GroupDrivers kDrivers("hdf5");
  const auto objects = std::make_shared<const FileObjects>(opened);
  Schema schema;
  schema.attributes = attributes_of(opened, path);
  if (encoding == arrays::Encoding::cell_ranger) {
    take_stored_shape(*objects, *opened, path, schema);
    name_columns(*objects, path, schema);
  }
  return arrays::open_group(
      std::move(file), *objects, [objects] { return objects; }, path, encoding, std::move(schema),
      kDrivers);
}

}  // namespace dapple::detail::hdf5
