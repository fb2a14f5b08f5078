// What HDF5 files hold that is no matrix, or one of other cells than numbers; and chunks that are
// stored in another way than the rest.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/foreign/hdf5_writer.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

Error refusal_of(const std::filesystem::path& path, const std::string& array = {}) {
  return required_error(error_of([&] { open(path, {.array = array}); }));
}

/// A matrix of 40 x 40 in a file that is written through this driver.
void write_cells(const std::string& name, hid_t access) {
  const Hdf5Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  const hsize_t extents[] = {40, 40};
  const Hdf5Id space(H5Screate_simple(2, extents, nullptr), H5Sclose);
  const Hdf5Id data(
      H5Dcreate2(file, "X", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  const std::vector<double> cells(1600, 1);
  H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells.data());
}

}  // namespace

TEST_CASE("hdf5: what is no matrix says so") {
  const TempDir dir;
  Hdf5Writer(dir / "d.h5").data_set<double>("cube", {1, 2, 2}, {1, 2, 3, 4});
  CHECK(refusal_of(dir / "d.h5").detail() ==
        "the file holds no matrices, only cube (3 dimensions; save a slice of it as a matrix)");
  CHECK(refusal_of(dir / "d.h5", "other").detail() ==
        "the file holds no matrices, only cube (3 dimensions; save a slice of it as a matrix); "
        "'other' is not in it, or in another "
        "file");
  const Error cube = refusal_of(dir / "d.h5", "cube");
  CHECK(cube.code() == Errc::unsupported);
  CHECK(cube.detail() ==
        "the data set cube has 3 dimensions, not 1 or 2; save a slice of it as a matrix");

  const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
  Hdf5Writer(dir / "d.h5").data_set_of("X", text, {2, 2}, {}, text, "abcd");
  CHECK(refusal_of(dir / "d.h5", "X").detail() == "the data set X holds strings");

  const Hdf5Id complex(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
  H5Tinsert(complex, "r", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(complex, "i", 8, H5T_NATIVE_DOUBLE);
  Hdf5Writer(dir / "d.h5").data_set_of("X", complex, {1, 1}, {}, complex, nullptr);
  const std::string parts = "complex numbers; save their real and imaginary parts";
  CHECK(refusal_of(dir / "d.h5", "X").detail() == "the data set X holds " + parts);
  CHECK(refusal_of(dir / "d.h5").detail() == "the file holds no matrices, only X (" + parts + ")");

  const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
  const double value = 1;
  Hdf5Writer(dir / "d.h5")
      .create("X", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5T_NATIVE_DOUBLE, &value);
  CHECK(refusal_of(dir / "d.h5", "X").detail() == "the data set X has 0 dimensions, not 1 or 2");
}

TEST_CASE("hdf5: what is nested deeply is opened by its name alone") {
  const TempDir dir;
  std::string deep;
  for (int i = 0; i < 31; ++i) deep += "g/";
  Hdf5Writer(dir / "d.h5").data_set<double>(deep + "m", {1, 2}, {1, 2});
  CHECK(Matrix::open(dir / "d.h5").cols() == 2);

  deep += "g/";
  Hdf5Writer(dir / "d.h5").data_set<double>(deep + "m", {1, 2}, {1, 2});
  CHECK(refusal_of(dir / "d.h5").detail() == "the file holds no matrices, only " + deep +
                                                 "m (more than 32 deep: opened by its name alone)");
  CHECK(Matrix::open(dir / "d.h5", {.array = deep + "m"}).cols() == 2);

  while (deep.size() < 2 * 99) deep += "g/";
  {
    Hdf5Writer file(dir / "d.h5");
    file.data_set<double>(deep + "g/m", {1, 2}, {1, 2});
    file.data_set<double>("z", {1, 2}, {1, 2});  // not reached
  }
  CHECK(refusal_of(dir / "d.h5").detail() == "the file holds no matrices, only " + deep +
                                                 "g (more than 32 deep: opened by its name alone)");
}

TEST_CASE("hdf5: a data set of a later release than the library is not called absent") {
  const TempDir dir;
  Hdf5Writer(dir / "d.h5").data_set<std::int32_t>("a/X", {1, 2}, {1, 2});
  std::string bytes = read_text(dir / "d.h5");
  const std::string type("\x10\x08\x00\x00\x04\x00\x00\x00\x00\x00\x20\x00", 12);  // version 1
  REQUIRE(bytes.find(type) != std::string::npos);
  bytes[bytes.find(type)] = '\x50';  // version 5, of HDF5 2.0
  write_text(dir / "d.h5", bytes);
  for (const char* const wanted : {"", "a/X", "/a/X/"}) {
    const Error error = refusal_of(dir / "d.h5", wanted);
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.detail().find("cannot open it: bad version number for datatype message; a later "
                              "release may have written it") != std::string::npos);
  }
  CHECK(refusal_of(dir / "d.h5", "a/Y").detail().find("'a/Y' is not in it") != std::string::npos);
}

TEST_CASE("hdf5: values in other files are not looked for") {
  const TempDir dir;
  write_text(dir / "raw.bin", std::string(32, 'x'));
  Hdf5Writer(dir / "own.h5").data_set<double>("X", {1, 2}, {1, 2});
  {
    Hdf5Writer file(dir / "d.h5");
    const hsize_t extents[] = {2, 2};
    const Hdf5Id space(H5Screate_simple(2, extents, nullptr), H5Sclose);
    const Hdf5Id created(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(created, (dir / "raw.bin").c_str(), 0, 32);
    file.create("X", H5T_NATIVE_DOUBLE, space, created, H5T_NATIVE_DOUBLE, nullptr);
    H5Lcreate_external("own.h5", "/X", file.id(), "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  }
  CHECK(
      refusal_of(dir / "d.h5", "X").detail() ==
      "the data set X keeps its values in other files, which are not opened; store a copy of them "
      "in this one");
  CHECK(refusal_of(dir / "d.h5", "elsewhere").code() == Errc::invalid_argument);
  {
    Hdf5Writer file(dir / "d.h5");
    H5Lcreate_external("own.h5", "/X", file.id(), "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  }
  CHECK(refusal_of(dir / "d.h5").detail() ==
        "the file holds no matrices of its own, and links to other files are not followed");
}

TEST_CASE("hdf5: one of the files that a driver splits is no damaged one") {
  const TempDir dir;
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  for (const bool family : {true, false}) {
    CAPTURE(family);
    if (family) {
      H5Pset_fapl_family(access, 2048, H5P_DEFAULT);
    } else {
      H5Pset_fapl_split(access, "0.h5", H5P_DEFAULT, ".raw", H5P_DEFAULT);
    }
    write_cells((dir / (family ? "d%d.h5" : "d")).string(), access);
    const Error error = refusal_of(dir / "d0.h5");
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.detail().find("one of several files") != std::string::npos);
  }
}

TEST_CASE("hdf5: enumerations are their integers, in chunks and attributes, too") {
  const TempDir dir;
  const Hdf5Id colour(H5Tenum_create(H5T_STD_I16BE), H5Tclose);
  std::int16_t value = 0x0200;  // 2, as big-endian
  H5Tenum_insert(colour, "blue", &value);
  value = static_cast<std::int16_t>(0xFEFF);  // -2
  H5Tenum_insert(colour, "none", &value);
  const Hdf5Id native(H5Tget_native_type(colour, H5T_DIR_ASCEND), H5Tclose);
  const std::vector<std::int16_t> cells = {2, -2, -2, 2};
  for (const Hdf5Layout& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {1, 2}, .gzip = 1}}) {
    Hdf5Writer(dir / "d.h5").data_set_of("X", colour, {2, 2}, layout, native, cells.data());
    const Matrix m = Matrix::open(dir / "d.h5");
    CHECK(m.value_type() == ValueType::i16);
    CHECK(m.read<std::int16_t>({{0, 2}, {0, 2}}) == cells);
  }
}

TEST_CASE(
    "hdf5: integers with fewer bits than their bytes have, or of 3 bytes, keep their values") {
  const TempDir dir;
  const std::vector<std::int64_t> cells = {0, 5, -8, 7};
  for (const std::size_t bytes : {1, 2, 3, 4, 5, 7, 8}) {
    for (const hid_t like : {H5T_STD_I64LE, H5T_STD_I64BE}) {
      const Hdf5Id four(H5Tcopy(like), H5Tclose);  // bits, of which some may be before them
      H5Tset_precision(four, 4);
      H5Tset_offset(four, bytes == 1 ? 0 : 3);
      H5Tset_size(four, bytes);
      const Hdf5Id named(H5Tenum_create(four), H5Tclose);
      const Hdf5Id native(H5Tenum_create(H5T_NATIVE_INT64), H5Tclose);
      for (const std::int64_t cell : cells) {
        std::int64_t bits = cell;
        H5Tconvert(H5T_NATIVE_INT64, four, 1, &bits, nullptr, H5P_DEFAULT);
        H5Tenum_insert(named, std::to_string(cell).c_str(), &bits);
        H5Tenum_insert(native, std::to_string(cell).c_str(), &cell);
      }
      for (const Hdf5Layout& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {1, 2}, .gzip = 1}}) {
        {
          Hdf5Writer file(dir / "d.h5");
          file.data_set_of("X", four, {2, 2}, layout, H5T_NATIVE_INT64, cells.data());
          file.data_set_of("named", named, {2, 2}, layout, native, cells.data());
        }
        for (const char* array : {"X", "named"}) {
          const Matrix m = Matrix::open(dir / "d.h5", {.array = array});
          CHECK(size_of(m.value_type()) == std::bit_ceil(bytes));
          CHECK(m.read<std::int64_t>({{0, 2}, {0, 2}}) == cells);
        }
      }
    }
  }
}

TEST_CASE("hdf5: bits beside an integer are no part of it, and its sign is its own first bit") {
  // By the specification of the format alone (a fixed-point number: byte order, bit offset,
  // precision, sign): the library, asked for a type of as many bytes in the other order, gives 8
  // for -8 in four bits.
  const TempDir dir;
  const std::vector<std::int64_t> numbers = {0, 5, -8, 7, -1, -3};
  for (const std::size_t bytes : {1, 2, 3, 4, 8}) {
    for (const hid_t like : {H5T_STD_I64LE, H5T_STD_I64BE, H5T_STD_U64LE, H5T_STD_U64BE}) {
      for (const std::size_t offset : {std::size_t{0}, std::size_t{2}, bytes * 8 - 4}) {
        const bool is_signed = H5Tget_sign(like) == H5T_SGN_2;
        const bool big_endian = H5Tget_order(like) == H5T_ORDER_BE;
        const Hdf5Id four(H5Tcopy(like), H5Tclose);
        H5Tset_precision(four, 4);
        H5Tset_offset(four, offset);
        H5Tset_size(four, bytes);
        std::vector<std::int64_t> wanted;
        std::vector<std::uint8_t> stored;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          const std::uint64_t beside = i % 2 == 0 ? ~(std::uint64_t{15} << offset) : 0;
          const std::uint64_t four_bits = static_cast<std::uint64_t>(numbers[i]) & 15;
          const std::uint64_t word = four_bits << offset | beside;
          for (std::size_t b = 0; b < bytes; ++b) {
            stored.push_back(
                static_cast<std::uint8_t>(word >> 8 * (big_endian ? bytes - 1 - b : b)));
          }
          wanted.push_back(is_signed ? numbers[i] : static_cast<std::int64_t>(four_bits));
        }
        for (const Hdf5Layout& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {2, 2}, .gzip = 1}}) {
          {
            Hdf5Writer file(dir / "d.h5");
            file.data_set_of("X", four, {3, 2}, layout, four, stored.data());  // without conversion
            const Hdf5Id x(H5Oopen(file.id(), "X", H5P_DEFAULT), H5Oclose);
            const hsize_t count = numbers.size();
            const Hdf5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
            const Hdf5Id note(H5Acreate2(x, "n", four, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
            H5Awrite(note, four, stored.data());
          }
          CAPTURE(bytes);
          CAPTURE(offset);
          const Matrix m = Matrix::open(dir / "d.h5");
          CHECK(m.read<std::int64_t>({{0, 3}, {0, 2}}) == wanted);
          CHECK(m.attributes() ==
                (is_signed ? "{\"n\":[0,5,-8,7,-1,-3]}" : "{\"n\":[0,5,8,7,15,13]}"));
        }
      }
    }
  }
}

TEST_CASE(
    "hdf5: floats with longer exponents than their bytes have elsewhere are not made infinite") {
  const TempDir dir;
  const Hdf5Id wide(H5Tcopy(H5T_IEEE_F64LE),
                    H5Tclose);  // sign, 11 bits, 20 bits: the upper half of a double
  H5Tset_fields(wide, 31, 20, 11, 0, 20);
  H5Tset_precision(wide, 32);
  H5Tset_size(wide, 4);
  const std::vector<double> cells = {1e300, -1.5, 0, 0x1p-1000};
  Hdf5Writer(dir / "d.h5").data_set_of("X", wide, {2, 2}, {}, H5T_NATIVE_DOUBLE, cells.data());
  const Matrix m = Matrix::open(dir / "d.h5");
  CHECK(m.value_type() == ValueType::f64);
  CHECK(m.read<double>({{0, 1}, {1, 2}}) == std::vector<double>{-1.5});
  CHECK(std::isfinite(m.read<double>({{0, 1}, {0, 1}})[0]));
  CHECK(m.read<double>({{1, 2}, {0, 2}}) == std::vector<double>{0, 0x1p-1000});
}

TEST_CASE("hdf5: a chunk may have been stored without some of the filters") {
  const TempDir dir;
  const std::vector<std::uint16_t> cells{0x0102, 0x0304, 0x0506, 0x0708};
  const unsigned char plain[] = {2, 1, 4, 3, 6, 5, 8, 7}, shuffled[] = {2, 4, 6, 8, 1, 3, 5, 7};
  for (const bool shuffles : {true, false}) {
    {
      Hdf5Writer file(dir / "d.h5");
      file.data_set("X", {2, 2}, cells, {.chunk = {2, 2}, .gzip = 1, .shuffle = true});
      const Hdf5Id data(H5Dopen2(file.id(), "X", H5P_DEFAULT), H5Dclose);
      const hsize_t at[] = {0, 0};
      H5Dwrite_chunk(data, H5P_DEFAULT, shuffles ? 2 : 3, at, 8, shuffles ? shuffled : plain);
    }
    CHECK(Matrix::open(dir / "d.h5").read<std::uint16_t>({{0, 2}, {0, 2}}) == cells);
  }
}
