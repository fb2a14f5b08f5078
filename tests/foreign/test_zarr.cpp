// Zarr hierarchies that zarr-python and anndata wrote (tests/golden/make_zarr.py), and damaged
// ones.

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/codec/crc32c.h"
#include "lib/io/local/local_file.h"
#include "tests/check.h"
#include "tests/foreign/zip_image.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRows = 13, kCols = 9;

/// Cell (i, j) is 100 i + j.
double cell(std::uint64_t i, std::uint64_t j) { return static_cast<double>(100 * i + j); }

Matrix open_array(const fs::path& hierarchy, const std::string& array) {
  return Matrix::open(hierarchy, {.array = array});
}

/// Compares regions that begin and end in different chunks, too.
void require_cells(const Matrix& m, std::uint64_t rows = kRows) {
  REQUIRE(m.rows() == kRows);
  REQUIRE(m.cols() == kCols);
  for (const Region& part : {Region{{0, rows}, {0, kCols}}, Region{{3, rows}, {2, 9}},
                             Region{{rows - 1, rows}, {0, 1}}}) {
    const std::vector<double> read = m.read<double>(part);
    for (std::uint64_t i = part.rows.begin; i < part.rows.end; ++i) {
      for (std::uint64_t j = part.cols.begin; j < part.cols.end; ++j) {
        REQUIRE(read[(i - part.rows.begin) * part.cols.size() + j - part.cols.begin] == cell(i, j));
      }
    }
  }
}

/// A copy of a golden hierarchy, to be damaged.
fs::path copied(const TempDir& dir, const std::string& name) {
  fs::copy(golden("zarr") / name, dir / name, fs::copy_options::recursive);
  return dir / name;
}

Error error_of_array(const fs::path& hierarchy, const std::string& array) {
  return required_error(error_of([&] {
    const Matrix m = open_array(hierarchy, array);
    m.read<double>({{0, m.rows()}, {0, m.cols()}});
  }));
}

bool mentions(const Error& error, const std::string& text) {
  return (error.file() + ": " + error.what()).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("zarr: arrays of version 3, of both byte orders, turned, compressed and in shards") {
  const fs::path path = golden("zarr") / "v3.zarr";
  const std::vector<std::pair<std::string, ValueType>> arrays = {{"big", ValueType::i32},
                                                                 {"turned", ValueType::u16},
                                                                 {"half", ValueType::f32},
                                                                 {"gzip", ValueType::i64},
                                                                 {"sharded", ValueType::f64}};
  for (const auto& [name_, type] : arrays) {
    const auto& name = name_;  // clang 14 captures no bindings
    CAPTURE(name);
    const Matrix m = open_array(path, name);
    CHECK(m.value_type() == type);
    CHECK(m.attributes() == "{\"of\":\"" + name + "\",\"dimension_names\":[\"y\",\"x\"]}");
    require_cells(m);
  }
}

TEST_CASE("zarr: an archive is what was packed into it, in a folder of its own or not") {
  const TempDir dir;
  const fs::path golden_one = golden("zarr") / "v3.zarr";
  for (const std::string folder : {"", "a.zarr/"}) {
    std::vector<ZipMember> members;
    if (!folder.empty()) members.push_back({folder, ""});
    for (const auto& file : fs::recursive_directory_iterator(golden_one)) {
      if (!file.is_regular_file()) continue;
      const std::string name = file.path().lexically_relative(golden_one).generic_string();
      members.push_back({folder + name, read_text(file.path())});
    }
    write_text(dir / "a.zip", zip_archive(members));
    require_cells(open_array(dir / "a.zip", "big"));
    require_cells(open_array(dir / "a.zip", "sharded"));
    CHECK(required_error(error_of([&] { Matrix::open(dir / "a.zip"); })).detail() ==
          required_error(error_of([&] { Matrix::open(golden_one / "zarr.json"); })).detail());
  }
}

TEST_CASE("zarr: attributes that are no object are none, and names of dimensions are kept") {
  const TempDir dir;
  const fs::path path = copied(dir, "v3.zarr") / "big", file = path / "zarr.json";
  const std::string whole = read_text(file), known = "\"attributes\":";
  REQUIRE(whole.find(known) != std::string::npos);
  for (const char* const other : {"[1, 2, 3, 4, 5, 6, 7, 8]", "\"a\"", "null", "7"}) {
    CAPTURE(std::string(other));
    std::string text = whole;
    text.insert(text.find(known), known + other + ", ");  // the first of two counts
    write_text(file, text);
    CHECK(Matrix::open(path).attributes() == "{\"dimension_names\":[\"y\",\"x\"]}");
  }
}

TEST_CASE("zarr: cells of chunks that are not there are the fill value") {
  const Matrix m = open_array(golden("zarr") / "v3.zarr", "partial");
  require_cells(m, 5);
  for (const double value : m.read<double>({{5, kRows}, {0, kCols}})) CHECK(value == -1);
}

TEST_CASE("zarr: the fill value of half floats is one") {
  const TempDir dir;
  const fs::path metadata = copied(dir, "v3.zarr") / "half/zarr.json";
  fs::remove_all(dir / "v3.zarr/half/c");
  const std::string text = read_text(metadata), known = "\"fill_value\": 0.0";
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string, double>> cases = {
      {"0.1", 0.0999755859375},     {"65519", 65504}, {"65520", kInfinity},
      {"-7e4", -kInfinity},         {"2.9e-8", 0},    {"3e-8", 0x1p-24},
      {"\"0xbc01\"", -1.0009765625}};
  for (const auto& [fill, value] : cases) {
    write_text(metadata, std::string(text).replace(text.find(known), known.size(),
                                                   "\"fill_value\": " + fill));
    CHECK(Matrix::open(dir / "v3.zarr/half").read<double>({{0, 1}, {0, 1}})[0] == value);
  }
}

TEST_CASE("zarr: chunks are those of the folder that was opened") {
  const TempDir dir;
  const fs::path path = copied(dir, "v3.zarr");
  const Matrix m = open_array(path, "big"), later = open_array(path, "big");
  fs::rename(path, dir / "moved.zarr");
  require_cells(m);
  fs::remove_all(dir / "moved.zarr");
  const Error error = required_error(error_of([&] { later.read<double>({{0, 1}, {0, 1}}); }));
  CHECK(error.code() == Errc::io);
  CHECK(error.detail() == "the folder was removed since it was opened");
}

TEST_CASE("zarr: arrays of version 2") {
  const fs::path path = golden("zarr") / "v2.zarr";
  require_cells(open_array(path, "blosc"));
  require_cells(open_array(path, "zlib"));
  const Matrix bytes = open_array(path, "plain");
  CHECK(bytes.value_type() == ValueType::u8);
  CHECK(bytes.read<double>({{12, 13}, {8, 9}})[0] == (1208 % 256));
}

TEST_CASE("zarr: a hierarchy of several arrays lists them") {
  const Error error = error_of_array(golden("zarr") / "v3.zarr", "");
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "6 arrays: big, gzip, half, partial, sharded, turned"));
  CHECK(error_of_array(golden("zarr") / "v3.zarr", "nothing").code() == Errc::invalid_argument);
  CHECK(error_of_array(golden("zarr") / "v3.zarr", "../v2.zarr/blosc").code() ==
        Errc::invalid_argument);
}

TEST_CASE("zarr: a folder that cannot be listed is an error, not one without arrays") {
  const TempDir dir;
  write_text(dir / "zarr.json", "{}");
  const auto file = detail::LocalFile::open((dir / "zarr.json").string());
  CHECK(file->folders_beside("").empty());
  // As one that its user may not list, but anybody is refused this.
  const Error error = required_error(error_of([&] { file->folders_beside("gone"); }));
  CHECK(error.code() == Errc::io);
  CHECK(error.detail() == "cannot list: No such file or directory");
  CHECK(mentions(error, "gone"));
}

TEST_CASE("zarr: anndata's sparse matrix is X, its table a frame") {
  const fs::path path = golden("zarr") / "cells.zarr";
  const Matrix x = Matrix::open(path);
  CHECK(x.storage() == Storage::csr);
  CHECK(x.read<double>({{0, 3}, {0, 4}}) ==
        std::vector<double>{0, 7, 0, 1, 0, 0, 0, 0, 5, 0, 0, 2});
  const Frame obs = Frame::open(path, {.array = "obs"});
  REQUIRE(obs.cols() == 5);
  CHECK(obs.column_info(0).meaning.kind == MeaningKind::text);
  CHECK((*obs.column_info(0).meaning.words)[2] == "c2");
  CHECK(obs.column_info(1).label == "kind");
  CHECK(obs.column_info(1).meaning.kind == MeaningKind::category);
  CHECK((*obs.column_info(1).meaning.words)[0] == "a");
  std::vector<std::uint32_t> codes(3);
  obs.read_column<std::uint32_t>(1, {0, 3}, std::span(codes));
  CHECK(codes == std::vector<std::uint32_t>{2, 0, 1});
  std::vector<std::int64_t> sizes(3);
  obs.read_column<std::int64_t>(2, {0, 3}, std::span(sizes));
  CHECK(sizes == std::vector<std::int64_t>{3, 1, 2});
  CHECK(obs.column_info(3).meaning.kind == MeaningKind::boolean);
  CHECK((*obs.column_info(4).meaning.words)[1] == "y");
}

TEST_CASE("zarr: metadata that is cut anywhere is an error that names it") {
  const TempDir dir;
  const fs::path path = copied(dir, "v2.zarr") / "blosc" / ".zarray";
  const std::string whole = read_text(path);
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    write_text(path, whole.substr(0, size));
    CAPTURE(size);
    const Error error = error_of_array(dir / "v2.zarr", "blosc");
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "blosc/.zarray"));
  }
}

TEST_CASE("zarr: hostile metadata") {
  const TempDir dir;
  const fs::path path = copied(dir, "v2.zarr") / "plain" / ".zarray";
  const std::string whole = read_text(path);
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_text(path, text.replace(at, from.size(), to));
    return error_of_array(dir / "v2.zarr", "plain").code();
  };
  CHECK(error_with("13", "-13") == Errc::corrupt);
  CHECK(error_with("\"shape\"", "\"shap\"") == Errc::corrupt);
  CHECK(error_with("13", "18446744073709551615") == Errc::unsupported);
  CHECK(error_with("5", "0") == Errc::corrupt);
  CHECK(error_with("5", "4294967296") == Errc::unsupported);
  CHECK(error_with("|u1", "<c8") == Errc::unsupported);
  CHECK(error_with("\"order\": \"C\"", "\"order\": \"A\"") == Errc::corrupt);
  CHECK(error_with("13", "18446744073709551614") == Errc::unsupported);
  CHECK(error_of_array(dir / "v2.zarr", "plain").detail().starts_with("the array plain of 184"));
  CHECK(error_of_array(path.parent_path(), "").detail().starts_with("the array of 184"));
  write_text(path, std::string(100'000, '['));
  CHECK(error_of_array(dir / "v2.zarr", "plain").code() == Errc::corrupt);
}

TEST_CASE("zarr: metadata that would mean other cells is refused by what it says") {
  struct Case {
    std::string array, from, to, detail;
    Errc code = Errc::corrupt;
  };
  const Errc no = Errc::unsupported;
  const std::vector<Case> cases = {
      {"big", "\"zarr_format\": 3", "\"zarr_format\": 4", "zarr_format is 4", no},
      {"big", "\"regular\"", "\"rectilinear\"", "the chunk grid 'rectilinear'", no},
      {"big", "\"default\"", "\"fancy\"", "the chunk key encoding 'fancy'", no},
      {"big", "\"separator\": \"/\"", "\"separator\": \"-\"", "a separator of keys"},
      {"big", "\"endian\": \"big\"", "\"endian\": \"odd\"", "endian is 'little' or 'big'"},
      {"big", "\"name\": \"bytes\"", "\"name\": \"packbits\"", "the codec 'packbits' is not read",
       no},
      {"big", "\"name\": \"bytes\"", "\"name\": \"vlen-utf8\"", "the codec 'vlen-utf8'", no},
      {"big", "\"codecs\": [", "\"codecs\": [{\"name\": \"crc32c\"}, ", "'crc32c' is out of place"},
      {"big", "\"storage_transformers\": [", "\"storage_transformers\": [{}", "storage_", no},
      {"big", "\"shape\"", "\"offset\": 1, \"shape\"", "the member 'offset' of the metadata", no},
      {"big", "\"shape\"", "\"x\": {\"must_understand\": true}, \"shape\"", "the member 'x'", no},
      {"big", "\"fill_value\": 0", "\"fill_value\": 1e10", "the fill value 1e10 is no i32"},
      {"gzip", "\"gzip\"", "\"lzma\"", "the codec 'lzma' is not read", no},
      {"turned", "\"order\": [", "\"order\": [0, ", "the order of a transpose"},
      {"turned", "\"order\": [", "\"order\": [7, ", "the order of a transpose"},
      {"sharded", "\"index_location\": \"end\"", "\"index_location\": 1", "index_location is"},
      {"sharded", "\"name\": \"crc32c\"", "\"name\": \"gzip\"", "the codec 'gzip' of a shard's",
       no}};
  const TempDir dir;
  const fs::path path = copied(dir, "v3.zarr");
  for (const Case& one : cases) {
    CAPTURE(one.detail);
    const fs::path file = path / one.array / "zarr.json";
    const std::string whole = read_text(file);
    const std::size_t at = whole.find(one.from);
    REQUIRE(at != std::string::npos);
    write_text(file, std::string(whole).replace(at, one.from.size(), one.to));
    const Error error = error_of_array(path / one.array, "");
    CHECK(error.code() == one.code);
    CHECK(mentions(error, one.detail));
    CHECK(error.file() == (path / one.array / "zarr.json").string());
    write_text(file, std::string(whole).replace(whole.find("\"shape\""), 0,
                                                "\"x\": {\"must_understand\": false}, "));
    require_cells(open_array(path / one.array, ""));
    write_text(file, whole);
  }
}

TEST_CASE("zarr: a damaged chunk or shard is an error that names its key") {
  const TempDir dir;
  const fs::path path = copied(dir, "v3.zarr");
  for (const std::string array : {"big", "turned", "half", "gzip", "sharded"}) {
    const fs::path chunk = path / array / "c" / "1" / "0";
    const std::string whole = read_text(chunk);
    CAPTURE(array);
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40) {
      write_text(chunk, whole.substr(0, size));
      const Error error = error_of_array(path, array);
      CHECK(error.code() == Errc::corrupt);
      CHECK(mentions(error, array + "/c/1/0"));
    }
    write_text(chunk, whole);
    require_cells(open_array(path, array));
  }
}

TEST_CASE("zarr: indexes of shards that point outside, or overlap") {
  const TempDir dir;
  const fs::path path = copied(dir, "v3.zarr"), shard = path / "sharded" / "c" / "0" / "0";
  const std::string whole = read_text(shard);
  const std::size_t index = whole.size() - 4 - 4 * 16;  // of 2 x 2 chunks, and a CRC-32C
  const auto broken = [&](std::size_t at, std::uint64_t value) {
    std::string changed = whole.substr(0, whole.size() - 4);
    changed.replace(index + at, 8, test::number(value, 8));
    const std::string places = changed.substr(index);
    changed += test::number(detail::crc32c(std::as_bytes(std::span(places))), 4);
    write_text(shard, changed);
    return error_of_array(path, "sharded");
  };
  CHECK(mentions(broken(0, whole.size()), "points to"));
  CHECK(mentions(broken(8, ~std::uint64_t{0} - 5), "points to"));
  CHECK(mentions(broken(16, 0), "overlap"));
  std::string changed = whole;
  changed[index] ^= 1;
  write_text(shard, changed);
  CHECK(mentions(error_of_array(path, "sharded"), "CRC-32C"));
}
