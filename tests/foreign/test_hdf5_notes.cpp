// Attributes of HDF5 objects, and the names that anndata's tables give.

#include <cmath>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/hdf5_writer.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

void attribute(hid_t object, const char* name, hid_t type, const std::vector<hsize_t>& extents,
               const void* values) {
  const Hdf5Id space(
      extents.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
      H5Sclose);
  const Hdf5Id made(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  H5Awrite(made, type, values);
}

/// Strings of any length; of one length where `length` is not 0.
hid_t string_type(std::size_t length = H5T_VARIABLE) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

void text(hid_t object, const char* name, const char* value) {
  const Hdf5Id type(string_type(), H5Tclose);
  attribute(object, name, type, {}, &value);
}

void words(Hdf5Writer& file, const std::string& name, const std::vector<const char*>& values) {
  const Hdf5Id type(string_type(), H5Tclose);
  file.data_set_of(name, type, {values.size()}, {}, type, values.data());
}

hid_t opened(Hdf5Writer& file, const char* name) { return H5Oopen(file.id(), name, H5P_DEFAULT); }

/// A dense X of 2 x 3 and its tables.
void write_annotated(const std::filesystem::path& path, std::vector<const char*> cells) {
  Hdf5Writer file(path);
  file.data_set<float>("X", {2, 3}, {1, 2, 3, 4, 5, 6});
  words(file, "obs/barcodes", cells);
  words(file, "var/_index/values", {"CD3E", "MS4A1", "CD3E"});
  const Hdf5Id obs(opened(file, "obs"), H5Oclose), var(opened(file, "var"), H5Oclose);
  text(obs, "_index", "barcodes");
  text(var, "_index", "_index");
}

}  // namespace

TEST_CASE("hdf5: attributes of a data set are a JSON object") {
  const TempDir dir;
  const auto path = dir / "a.h5";
  {
    Hdf5Writer file(path);
    file.data_set<float>("x", {1, 2}, {1, 2});
    const Hdf5Id x(opened(file, "x"), H5Oclose);
    text(x, "units", "m\xc3\xa9ter \"quoted\"");
    const Hdf5Id four(string_type(4), H5Tclose);
    attribute(x, "fixed", four, {2}, "ab\0\0wxyz");
    const Hdf5Id padded(string_type(6), H5Tclose);
    H5Tset_strpad(padded, H5T_STR_SPACEPAD);  // as Fortran writes them
    attribute(x, "padded", padded, {2}, " ab   wxyz  ");
    const std::int64_t large = 9007199254740993, list[3] = {1, -2, 3};
    attribute(x, "large", H5T_NATIVE_INT64, {}, &large);
    attribute(x, "list", H5T_NATIVE_INT64, {3}, list);
    const double numbers[3] = {0.1, std::nan(""), -INFINITY};
    attribute(x, "numbers", H5T_NATIVE_DOUBLE, {3}, numbers);
    const std::int64_t square[4] = {};
    attribute(x, "square", H5T_NATIVE_INT64, {2, 2}, square);  // left out
    text(x, "wrong", "\xff\xfe");                              // left out
    const Hdf5Id truth(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
    const std::int8_t no = 0, yes = 1;
    H5Tenum_insert(truth, "FALSE", &no);
    H5Tenum_insert(truth, "TRUE", &yes);
    attribute(x, "yes", truth, {}, &yes);
    attribute(x, "none", H5T_NATIVE_INT64, {0}, list);
  }
  CHECK(Matrix::open(path).attributes() ==
        "{\"fixed\":[\"ab\",\"wxyz\"],\"large\":9007199254740993,\"list\":[1,-2,3],\"none\":[],"
        "\"numbers\":[0.1,\"NaN\",\"-Infinity\"],\"padded\":[\" "
        "ab\",\"wxyz\"],\"units\":\"m\xc3\xa9ter \\\"quoted\\\"\","
        "\"yes\":true}");
  convert(Matrix::open(path), {}, dir / "a.dbdf");
  CHECK(Matrix::open(dir / "a.dbdf").attributes() == Matrix::open(path).attributes());
}

TEST_CASE("hdf5: what is too large for attributes, and how anndata stores, is left out") {
  const TempDir dir;
  const auto path = dir / "a.h5";
  {
    Hdf5Writer file(path);
    file.data_set<float>("x", {1, 2}, {1, 2});
    const Hdf5Id x(opened(file, "x"), H5Oclose);
    text(x, "encoding-type", "array");
    text(x, "encoding-version", "0.2.0");
    text(x, "mine", "kept");
    file.data_set<float>("plain", {1, 2}, {1, 2});
    const Hdf5Id plain(opened(file, "plain"), H5Oclose);
    text(plain, "shape", "round");
    file.data_set<float>("bare", {1, 2}, {1, 2});
  }
  OpenOptions options;
  options.array = "x";
  CHECK(Matrix::open(path, options).attributes() == "{\"mine\":\"kept\"}");
  options.array = "plain";
  CHECK(Matrix::open(path, options).attributes() == "{\"shape\":\"round\"}");
  options.array = "bare";
  CHECK(Matrix::open(path, options).attributes() == "{}");
}

TEST_CASE("hdf5: matrices of anndata have the names of its tables") {
  const TempDir dir;
  const auto path = dir / "a.h5ad";
  write_annotated(path, {"AAAC", "\xc3\xa9"});
  const Matrix m = Matrix::open(path);
  REQUIRE(m.row_names() != nullptr);
  CHECK((*m.row_names())[0] == "AAAC");
  CHECK(m.row_names()->find("\xc3\xa9") == 1);
  REQUIRE(m.col_names() != nullptr);
  CHECK(m.col_names()->find("MS4A1") == 1);
  CHECK_FALSE(m.col_names()->unique());
  CHECK(error_of([&] { m.col_names()->find("CD3E"); })->code() == Errc::invalid_argument);
  convert(Matrix::open(path), {}, dir / "a.dbdf");
  CHECK(Matrix::open(dir / "a.dbdf").row_names()->find("AAAC") == 0);
}

TEST_CASE("hdf5: names that do not fit the matrix are none, or an error that says so") {
  const TempDir dir;
  const auto path = dir / "a.h5ad";
  write_annotated(path, {"one", "two", "three"});
  CHECK(Matrix::open(path).row_names() == nullptr);
  CHECK(Matrix::open(path).col_names() != nullptr);
  write_annotated(path, {"one", "\xff\xfe"});
  const Matrix m = Matrix::open(path);
  CHECK(m.read<float>({{1, 2}, {0, 1}}).front() == 4);
  CHECK(required_error(error_of([&] { m.row_names(); })).code() == Errc::invalid_argument);
}

TEST_CASE("hdf5: parts of a chunk that the library decompresses, and strings of one chunk") {
  const TempDir dir;
  const auto path = dir / "a.h5";
  constexpr hsize_t rows = 1 << 17;
  const Hdf5Id type(string_type(8), H5Tclose);
  std::vector<double> values(rows);
  std::string cells(rows * 8, ' ');
  for (std::size_t i = 0; i < rows; ++i) {
    values[i] = static_cast<double>(i);
    const std::string name = std::to_string(i);
    cells.replace(8 * i, name.size(), name);
  }
  {
    Hdf5Writer file(path);
    file.data_set<double>("X", {rows, 1}, values,
                          {.chunk = {rows, 1}, .gzip = 1, .checksum = true});
    file.data_set_of("obs/_index", type, {rows}, {.chunk = {rows}, .gzip = 1}, type, cells.data());
    const Hdf5Id obs(opened(file, "obs"), H5Oclose);
    text(obs, "_index", "_index");
  }
  OpenOptions options;
  options.array = "X";
  const Matrix m = Matrix::open(path, options);
  for (std::uint64_t row = 0; row + 10 <= rows; row += 1000) {
    CHECK(m.read<double>({{row, row + 10}, {0, 1}})[9] == static_cast<double>(row + 9));
  }
  const auto names = m.row_names();
  REQUIRE(names->size() == rows);
  for (std::uint64_t i = 0; i < rows; i += 999) {
    CHECK(std::string((*names)[i]).starts_with(std::to_string(i)));
  }
}
