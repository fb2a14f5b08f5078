#include "lib/foreign/hdf5/sparse.h"

#include <array>
#include <cstring>
#include <utility>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/foreign/arrays/sparse_arrays.h"
#include "lib/foreign/hdf5/describe.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::hdf5 {

namespace {

/// Two extents that an attribute gives.
std::optional<std::array<std::uint64_t, 2>> shape_attribute(const Session& session, hid_t object,
                                                            const char* name) {
  const Api& h5 = session.api();
  if (h5.H5Aexists(object, name) <= 0) return std::nullopt;
  const Handle attribute(h5.H5Aopen(object, name, H5P_DEFAULT), h5.H5Aclose);
  const Handle space(attribute.is_open() ? h5.H5Aget_space(attribute.get()) : -1, h5.H5Sclose);
  if (!space.is_open() || h5.H5Sget_simple_extent_ndims(space.get()) != 1) return std::nullopt;
  std::array<hsize_t, 1> extents{};
  std::array<std::int64_t, 2> shape{};
  h5.H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  if (extents[0] != 2 ||
      h5.H5Aread(attribute.get(), h5.native_of(ValueType::i64), shape.data()) < 0 || shape[0] < 0 ||
      shape[1] < 0) {
    return std::nullopt;
  }
  return std::array{static_cast<std::uint64_t>(shape[0]), static_cast<std::uint64_t>(shape[1])};
}

class Opener {
 public:
  Opener(std::shared_ptr<const OpenFile> opened, const std::string& path, SparseKind kind)
      : opened_(std::move(opened)), path_(path) {
    matrix_->by_columns = kind != SparseKind::csr;
  }

  std::unique_ptr<arrays::SparseArrays> take_matrix() {
    take_pointers();
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
    if (is_float(data->type())) {
      fail(name, " should hold integers, not " + std::string(dapple::name(data->type())));
    }
    return arrays::widened(lazy_items(data), data->type());
  }

  /// All pointers, in memory or in place.
  void take_pointers() {
    matrix_->pointers = open_integers("indptr");
    matrix_->owners.push_back(arrays::load_all(matrix_->pointers));
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

/// The extents that Cell Ranger keeps in a data set.
std::array<std::uint64_t, 2> stored_shape(const std::shared_ptr<const OpenFile>& opened,
                                          const std::string& path) {
  const DataSet data(opened, path + "/shape");
  std::array<std::byte, 16> bytes{};
  const std::size_t size = size_of(data.type());
  if (data.shape() != std::vector<std::uint64_t>{2} || is_float(data.type()) || size < 4) {
    throw Error(Errc::corrupt, opened->name(), std::nullopt,
                "the data set " + path + "/shape should hold 2 integers");
  }
  data.read({0, 2}, bytes.data());
  const auto extent = [&](std::size_t i) -> std::uint64_t {
    const std::byte* const p = bytes.data() + i * size;
    // A negative one is far more than there are pointers or indices for.
    return size == 4 ? load_le<std::uint32_t>(p) : load_le<std::uint64_t>(p);
  };
  return {extent(0), extent(1)};
}

/// The extents that the group gives.
void read_shape(const OpenFile& opened, const std::string& path, Schema& schema) {
  const Session session(opened.name());
  const Handle group = opened.open_object(session, path);
  auto shape = shape_attribute(session, group.get(), "shape");
  if (!shape) shape = shape_attribute(session, group.get(), "h5sparse_shape");
  if (!shape) {
    throw Error(Errc::corrupt, opened.name(), std::nullopt,
                "the sparse matrix " + path + " has no shape");
  }
  schema.rows = (*shape)[0];
  schema.cols = (*shape)[1];
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
  static constexpr Driver kRows = arrays::row_driver("hdf5"),
                          kColumns = arrays::column_driver("hdf5");
  Schema schema;
  schema.storage = Storage::csr;
  if (kind == SparseKind::cell_ranger) {
    const auto shape = stored_shape(opened, path);
    schema.rows = shape[0];
    schema.cols = shape[1];
  } else {
    read_shape(*opened, path, schema);
  }
  Opener opener(opened, path, kind);
  auto matrix = opener.take_matrix();
  schema.value_type = opener.type();
  arrays::require_consistent(*matrix, schema, *file);
  describe(opened, path, schema);
  if (kind == SparseKind::cell_ranger) {
    auto names = read_words(*opened, path + "/barcodes", schema.cols);
    if (!names.empty()) {
      schema.group = std::make_shared<ColumnGroup>(
          ColumnGroup{"", schema.cols, listed_dictionary(std::move(names))});
    }
  }
  const Driver& driver = matrix->by_columns ? kColumns : kRows;
  BlockIndex index = BlockIndex::from_entries(arrays::strips_of(*matrix, schema, *file),
                                              schema.rows, schema.cols, file->name());
  return std::make_shared<Store>(std::move(file), std::move(schema), std::move(index), driver,
                                 std::move(matrix));
}

}  // namespace dapple::detail::hdf5
