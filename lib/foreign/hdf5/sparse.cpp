#include "lib/foreign/hdf5/objects.h"

#include <array>
#include <cstring>
#include <utility>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/foreign/arrays/lines.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/foreign/hdf5/describe.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::hdf5 {

namespace {

using Shape = std::array<std::uint64_t, 2>;

/// Two extents that an attribute gives.
std::optional<Shape> shape_attribute(const Session& session, hid_t object, const char* name) {
  const auto value = find_attribute(session, object, name);
  if (!value || value->items.size() != 2) return std::nullopt;
  const auto rows = value->items[0].count(), cols = value->items[1].count();
  return rows && cols ? std::optional(Shape{*rows, *cols}) : std::nullopt;
}

class Opener {
 public:
  Opener(std::shared_ptr<const OpenFile> opened, const std::string& path, SparseKind kind)
      : opened_(std::move(opened)), path_(path) {
    matrix_->by_columns = kind != SparseKind::csr;
  }

  std::unique_ptr<arrays::SparseArrays> take_matrix() {
    matrix_->pointers = open_integers("indptr");
    matrix_->indices = open_integers("indices");
    const auto values = open_vector("data");
    type_ = values->type();
    matrix_->shown.push_back({"group", path_});
    matrix_->shown.push_back({"encoding", matrix_->by_columns ? "csc_matrix" : "csr_matrix"});
    if (!values->chunk().empty()) {
      matrix_->shown.push_back({"chunks", shape_text(values->chunk())});
    }
    if (!values->compression().empty()) {
      matrix_->shown.push_back({"compression", values->compression()});
    }
    matrix_->values = lazy_items(values);
    return std::move(matrix_);
  }
  ValueType type() const noexcept { return type_; }

  /// The extents that Cell Ranger keeps in a data set.
  Shape stored_shape() const {
    arrays::Items items = open_integers("shape");
    const auto memory = arrays::load_all(items);
    if (items.size != 2) fail("shape", " should hold 2 integers");
    // A negative one is far more than there are pointers or indices for.
    return {arrays::pointer(items, 0), arrays::pointer(items, 1)};
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& wrong) const {
    throw Error(Errc::corrupt, opened_->name(), std::nullopt,
                "the data set " + path_ + "/" + name + wrong);
  }

  std::shared_ptr<const DataSet> open_vector(const std::string& name) const {
    auto data = std::make_shared<const DataSet>(opened_, path_ + "/" + name);
    if (data->shape().size() != 1) fail(name, " should have one dimension");
    data->require_plausible();
    return data;
  }

  arrays::Items open_integers(const std::string& name) const {
    const auto data = open_vector(name);
    return arrays::integers(lazy_items(data), data->type(), opened_->name(),
                            "the data set " + data->path());
  }
  static arrays::Items lazy_items(std::shared_ptr<const DataSet> data) {
    arrays::Items items{data->rows(), size_of(data->type())};
    if (const auto place = data->place()) {
      items.offset = *place;
      items.data = data->file().at(*place, items.size * items.width);
    } else {
      items.load = [data = std::move(data)](Range which, std::byte* out) {
        data->read(which, out);
      };
    }
    return items;
  }

  std::shared_ptr<const OpenFile> opened_;
  std::string path_;
  std::unique_ptr<arrays::SparseArrays> matrix_ = std::make_unique<arrays::SparseArrays>();
  ValueType type_ = ValueType::f64;
};

/// The extents that the group gives.
Shape shape_of(const OpenFile& opened, const std::string& path) {
  const Session session(opened.name());
  const Handle group = opened.open_object(session, path);
  auto shape = shape_attribute(session, group.get(), "shape");
  if (!shape) shape = shape_attribute(session, group.get(), "h5sparse_shape");
  if (!shape) {
    throw Error(Errc::corrupt, opened.name(), std::nullopt,
                "the sparse matrix " + path + " has no shape");
  }
  return *shape;
}

}  // namespace

std::optional<SparseKind> sparse_kind(const Session& session, const OpenFile& opened,
                                      const std::string& path) {
  const Handle group = opened.open_object(session, path);
  if (!group.is_open() || session.api().H5Iget_type(group.get()) != H5I_GROUP) return std::nullopt;
  auto text = text_attribute(session, group.get(), "encoding-type");
  if (!text) text = text_attribute(session, group.get(), "h5sparse_format");
  if (text == "csr_matrix" || text == "csr") return SparseKind::csr;
  if (text == "csc_matrix" || text == "csc") return SparseKind::csc;
  if (text) return std::nullopt;
  for (const char* const member : {"/data", "/indices", "/indptr", "/shape", "/barcodes"}) {
    const Handle object = opened.open_object(session, path + member);
    if (!object.is_open() || session.api().H5Iget_type(object.get()) != H5I_DATASET) {
      return std::nullopt;
    }
  }
  return SparseKind::cell_ranger;
}

std::shared_ptr<Store> open_sparse(std::shared_ptr<const OpenFile> opened,
                                   std::shared_ptr<ByteSource> file, const std::string& path,
                                   SparseKind kind) {
  static constexpr arrays::Drivers kDrivers("hdf5");
  Schema schema;
  schema.storage = Storage::csr;
  Opener opener(opened, path, kind);
  const bool in_data_set = kind == SparseKind::cell_ranger;
  const Shape shape = in_data_set ? opener.stored_shape() : shape_of(*opened, path);
  schema.rows = shape[0];
  schema.cols = shape[1];
  auto matrix = opener.take_matrix();
  schema.value_type = opener.type();
  describe(opened, path, schema);
  if (kind == SparseKind::cell_ranger) {
    auto names = read_words(*opened, path + "/barcodes", schema.cols);
    if (!names.empty()) {
      schema.group = std::make_shared<ColumnGroup>(
          ColumnGroup{"", schema.cols, listed_dictionary(std::move(names))});
    }
  }
  return arrays::make_store(std::move(file), std::move(schema), std::move(matrix), kDrivers);
}

}  // namespace dapple::detail::hdf5
