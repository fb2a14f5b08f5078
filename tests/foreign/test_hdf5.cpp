// Dense data sets of HDF5 files, against the array that they were written from.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "dapple/range_reader.h"
#include "tests/check.h"
#include "tests/foreign/hdf5_writer.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::test;

namespace {

constexpr std::uint64_t kRows = 23, kCols = 11;

/// Cells that differ from their neighbours, among them the ends of the type.
template <Value T>
std::vector<T> some_cells() {
  std::vector<T> cells;
  for (std::uint64_t i = 0; i < kRows * kCols; ++i) cells.push_back(static_cast<T>(i * 7 % 120));
  cells[5] = std::numeric_limits<T>::lowest();
  cells[6] = std::numeric_limits<T>::max();
  return cells;
}

/// The whole, random regions of it, and what `verify` and `to_csr` find are these cells.
template <Value T>
void check_cells(const std::filesystem::path& path, const std::vector<T>& wanted,
                 std::uint64_t rows = kRows, std::uint64_t cols = kCols) {
  const Matrix m = Matrix::open(path);
  REQUIRE(m.rows() == rows);
  REQUIRE(m.cols() == cols);
  CHECK(m.value_type() == value_type_of<T>());
  CHECK(m.storage() == Storage::dense);
  CHECK(m.read<T>({{0, rows}, {0, cols}}) == wanted);
  CHECK(verify(path, Level::payload).findings.empty());
  Rng rng(21);
  for (int round = 0; round < 20; ++round) {
    const Region region{rng.range(rows), rng.range(cols)};
    std::vector<T> part;
    for (std::uint64_t row = region.rows.begin; row < region.rows.end; ++row) {
      for (std::uint64_t col = region.cols.begin; col < region.cols.end; ++col) {
        part.push_back(wanted[row * cols + col]);
      }
    }
    REQUIRE(m.read<T>(region) == part);
  }
}

template <Value T>
void check_layouts() {
  const TempDir dir;
  const std::vector<T> cells = some_cells<T>();
  const std::vector<Hdf5Layout> layouts = {
      {},
      {.chunk = {5, 4}},
      {.chunk = {1, 1}},
      {.chunk = {kRows, kCols}, .gzip = 9},
      {.chunk = {7, 3}, .gzip = 1, .shuffle = true},
      {.chunk = {7, 3}, .shuffle = true},
      {.chunk = {6, 6}, .gzip = 4, .checksum = true},
  };
  for (Hdf5Layout layout : layouts) {
    for (const bool big_endian : {false, true}) {
      CAPTURE(layout.gzip);
      CAPTURE(big_endian);
      layout.big_endian = big_endian;
      Hdf5Writer(dir / "d.h5").data_set("values", {kRows, kCols}, cells, layout);
      check_cells(dir / "d.h5", cells);
    }
  }
}

Error error_of_opening(const std::filesystem::path& path, const std::string& array = {}) {
  return required_error(error_of([&] { open(path, {.array = array}); }));
}

}  // namespace

TEST_CASE("hdf5: integers of one byte are read from every layout") {
  check_layouts<std::uint8_t>();
  check_layouts<std::int8_t>();
}
TEST_CASE("hdf5: integers of two bytes are read from every layout") {
  check_layouts<std::uint16_t>();
  check_layouts<std::int16_t>();
}
TEST_CASE("hdf5: integers of four bytes are read from every layout") {
  check_layouts<std::uint32_t>();
  check_layouts<std::int32_t>();
}
TEST_CASE("hdf5: integers of eight bytes are read from every layout") {
  check_layouts<std::uint64_t>();
  check_layouts<std::int64_t>();
}
TEST_CASE("hdf5: floats are read from every layout") {
  check_layouts<float>();
  check_layouts<double>();
}

TEST_CASE("hdf5: a contiguous data set is used where it is in the file") {
  const TempDir dir;
  const std::vector<double> cells = some_cells<double>();
  Hdf5Writer(dir / "d.h5").data_set("X", {kRows, kCols}, cells);
  const BlockInfo info = block_info(dir / "d.h5", {0, 0});
  CHECK(info.bytes == cells.size() * sizeof(double));
  CHECK(std::memcmp(read_bytes(dir / "d.h5").data() + info.offset, cells.data(), info.bytes) == 0);
  const Matrix m = Matrix::open(dir / "d.h5");
  CHECK(m.block({0, 0}).dense_view<double>()(22, 10) == cells.back());
}

TEST_CASE("hdf5: small chunks share a block, and details tell of them") {
  const TempDir dir;
  const std::vector<std::int32_t> cells = some_cells<std::int32_t>();
  Hdf5Writer(dir / "d.h5")
      .data_set("layers/counts", {kRows, kCols}, cells,
                {.chunk = {5, 4}, .gzip = 3, .shuffle = true});
  const Matrix m = Matrix::open(dir / "d.h5");
  CHECK(m.blocks().size() == 1);
  const auto details = m.details();
  REQUIRE(details.size() == 3);
  CHECK(details[0].text == "layers/counts");
  CHECK(details[1].text == "5 x 4");
  CHECK(details[2].text == "shuffle, gzip 3");
}

TEST_CASE("hdf5: large chunks are blocks, read in part and by several threads") {
  const TempDir dir;
  constexpr std::uint64_t rows = 1000, cols = 600;
  std::vector<float> cells;
  for (std::uint64_t i = 0; i < rows * cols; ++i) cells.push_back(static_cast<float>(i % 997));
  Hdf5Writer(dir / "d.h5")
      .data_set("X", {rows, cols}, cells, {.chunk = {300, 256}, .gzip = 1, .shuffle = true});
  const Matrix m = Matrix::open(dir / "d.h5");
  CHECK(m.blocks().size() == 12);
  check_cells(dir / "d.h5", cells, rows, cols);
  CHECK(m.read<float>({{0, rows}, {0, cols}}, {Absent::error, 4}) == cells);
}

TEST_CASE("hdf5: one dimension is one column, Booleans are u8, halves f32") {
  const TempDir dir;
  const std::vector<std::int16_t> column = {3, -1, 7};
  Hdf5Writer(dir / "d.h5").vector("a/b", column);
  check_cells(dir / "d.h5", column, 3, 1);
  Hdf5Writer(dir / "d.h5").vector("a/b", column, {.chunk = {2}, .gzip = 1});
  check_cells(dir / "d.h5", column, 3, 1);

  const Hdf5Id truth(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(truth, "FALSE", &no);
  H5Tenum_insert(truth, "TRUE", &yes);
  const std::vector<std::uint8_t> truths = {1, 0, 0, 1};
  Hdf5Writer(dir / "d.h5").data_set_of("t", truth, {2, 2}, {}, truth, truths.data());
  check_cells(dir / "d.h5", truths, 2, 2);

  const Hdf5Id half(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  const std::vector<float> halves = {0.5F, -2, 1024, 0};
  Hdf5Writer(dir / "d.h5").data_set_of("h", half, {1, 4}, {}, H5T_NATIVE_FLOAT, halves.data());
  check_cells(dir / "d.h5", halves, 1, 4);
}

TEST_CASE("hdf5: cells that were never written have the fill value") {
  const TempDir dir;
  {
    Hdf5Writer file(dir / "d.h5");
    const hsize_t extents[] = {kRows, kCols}, chunk[] = {10, 10};
    const Hdf5Id space(H5Screate_simple(2, extents, nullptr), H5Sclose);
    const Hdf5Id created(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(created, 2, chunk);
    const double fill = 2.5;
    H5Pset_fill_value(created, H5T_NATIVE_DOUBLE, &fill);
    file.create("X", H5T_NATIVE_DOUBLE, space, created, H5T_NATIVE_DOUBLE, nullptr);
  }
  check_cells(dir / "d.h5", std::vector<double>(kRows * kCols, 2.5));
}

TEST_CASE("hdf5: data sets without cells are matrices without cells") {
  const TempDir dir;
  Hdf5Writer(dir / "d.h5").data_set<double>("X", {0, 4}, {});
  const Matrix m = Matrix::open(dir / "d.h5");
  CHECK(m.rows() == 0);
  CHECK(m.cols() == 4);
  CHECK(m.blocks().size() == 0);
}

TEST_CASE("hdf5: X is chosen, or the only matrix, or what the caller names") {
  const TempDir dir;
  const std::vector<std::int32_t> two = {1, 2};
  {
    Hdf5Writer file(dir / "d.h5");
    file.data_set("a", {1, 2}, two);
    file.data_set("b/c", {2, 1}, two);
    file.vector("d", two);
    file.group("e");
  }
  const Error several = error_of_opening(dir / "d.h5");
  CHECK(several.code() == Errc::invalid_argument);
  CHECK(several.option() == "array");
  CHECK(several.detail() == "the file holds 3 arrays: a, b/c, d");
  CHECK(error_of_opening(dir / "d.h5", "x").detail() ==
        "the file has no array 'x', or it is in another file; it has a, b/c, d");
  CHECK(error_of_opening(dir / "d.h5", std::string("a\0x", 3)).code() == Errc::invalid_argument);
  CHECK(error_of_opening(dir / "d.h5", "e").detail() ==
        "e is neither a data set nor a sparse matrix in CSR or CSC form, nor a table of anndata's");
  CHECK(Matrix::open(dir / "d.h5", {.array = "/b/c"}).rows() == 2);
  {
    Hdf5Writer file(dir / "d.h5");
    file.data_set("a", {1, 2}, two);
    file.vector("d", two);
  }
  CHECK(Matrix::open(dir / "d.h5").cols() == 2);
  {
    Hdf5Writer file(dir / "d.h5");
    file.data_set("a", {1, 2}, two);
    file.vector("X", two);
  }
  CHECK(Matrix::open(dir / "d.h5").rows() == 2);
  CHECK(Matrix::open(dir / "d.h5").contents() == std::vector<std::string>{"X", "a"});
  CHECK(Matrix::open(dir / "d.h5", {.array = "X"}).contents().empty());
}

TEST_CASE("hdf5: a value that does not fit names its cell") {
  const TempDir dir;
  std::vector<std::int32_t> cells(kRows * kCols, 1);
  cells[kCols * 3 + 2] = -5;
  for (const Hdf5Layout& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {2, 2}}}) {
    Hdf5Writer(dir / "d.h5").data_set("X", {kRows, kCols}, cells, layout);
    const Matrix m = Matrix::open(dir / "d.h5");
    const Error error = required_error(error_of([&] {
      m.read<std::uint8_t>({{1, kRows}, {1, kCols}});
    }));
    CHECK(error.code() == Errc::type_mismatch);
    CHECK(error.detail() == "-5 in cell (3, 2) does not fit u8");
  }
}

TEST_CASE("hdf5: reading locks nothing, and is not locked out") {
  const TempDir dir;
  const auto cells = some_cells<float>();
  Hdf5Writer(dir / "d.h5").data_set("X", {kRows, kCols}, cells, {.chunk = {8, 8}, .gzip = 1});
  const std::string whole = read_text(dir / "d.h5");
  const int writer = ::open((dir / "d.h5").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(writer, LOCK_EX | LOCK_NB) == 0);  // as the HDF5 library does
  {
    const Matrix m = Matrix::open(dir / "d.h5");
    CHECK(m.read<float>({{0, kRows}, {0, kCols}}) == cells);
    ::flock(writer, LOCK_UN);
    CHECK(::flock(writer, LOCK_EX | LOCK_NB) == 0);
  }
  // What is not written yet is no damage.
  REQUIRE(::ftruncate(writer, static_cast<off_t>(whole.size() / 2)) == 0);
  const Error error = error_of_opening(dir / "d.h5");
  CHECK(error.code() == Errc::io);
  CHECK(error.detail().find("another program is writing it") != std::string::npos);
  ::close(writer);
  CHECK(error_of_opening(dir / "d.h5").code() == Errc::corrupt);
}

TEST_CASE("hdf5: a file that is cut off is corrupt") {
  const TempDir dir;
  Hdf5Writer(dir / "d.h5")
      .data_set("X", {kRows, kCols}, some_cells<float>(), {.chunk = {8, 8}, .gzip = 1});
  const std::string whole = read_text(dir / "d.h5");
  for (std::size_t size = 8; size < whole.size(); size += 61) {
    CAPTURE(size);
    write_text(dir / "cut.h5", whole.substr(0, size));
    const Error error = required_error(error_of([&] {
      Matrix::open(dir / "cut.h5").read<float>({{0, kRows}, {0, kCols}});
    }));
    CHECK(error.code() == Errc::corrupt);
  }
}

TEST_CASE("hdf5: a chunk that has fewer bytes than its cells is corrupt") {
  // What is missing, the HDF5 library takes from its memory: other cells at each read.
  const TempDir dir;
  for (const bool left_out : {true, false}) {
    {
      Hdf5Writer file(dir / "d.h5");
      const std::vector<std::int32_t> cells(20, 7);
      file.data_set("X", {4, 5}, cells, {.chunk = {4, 5}, .gzip = 1});
      const Hdf5Id data(H5Dopen2(file.id(), "X", H5P_DEFAULT), H5Dclose);
      const hsize_t at[] = {0, 0};
      const unsigned char short_one[] = {0x78, 0x9c, 0x63, 0x67, 0x60, 0x60,
                                         0x00, 0x00, 0x00, 0x1c, 0x00, 0x08};
      H5Dwrite_chunk(data, H5P_DEFAULT, left_out ? 1 : 0, at, sizeof short_one, short_one);
    }
    const Matrix m = Matrix::open(dir / "d.h5");
    const Error error = required_error(error_of([&] { m.read<std::int32_t>({{0, 4}, {0, 5}}); }));
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.detail().starts_with("the data set X has a chunk at (0, 0) that "));
  }
}

TEST_CASE("hdf5: a chunk whose compressed bytes were changed is corrupt") {
  const TempDir dir;
  const std::vector<std::uint8_t> cells(4096, 'a');
  Hdf5Writer(dir / "d.h5").data_set("X", {64, 64}, cells, {.chunk = {64, 64}, .gzip = 6});
  std::string bytes = read_text(dir / "d.h5");
  std::size_t at = bytes.find(std::string("\x78\x9c"));  // where zlib's data starts
  REQUIRE(at != std::string::npos);
  bytes[at + 4] = static_cast<char>(bytes[at + 4] ^ 0x55);
  write_text(dir / "bad.h5", bytes);
  const Matrix m = Matrix::open(dir / "bad.h5");
  const Error error = required_error(error_of([&] { m.read<double>({{0, 64}, {0, 64}}); }));
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.detail().starts_with(
      "the data set X has a chunk at (0, 0) that cannot be decompressed: "));
}

namespace {

/// Bytes that are somewhere else, so that the library gets a copy of them in memory.
class Elsewhere final : public RangeReader {
 public:
  explicit Elsewhere(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  std::uint64_t read(std::span<const RangeRequest> requests) const override {
    std::uint64_t done = 0;
    for (const auto& [offset, to] : requests) {
      std::memcpy(to.data(), bytes_.data() + offset, to.size());
      done += to.size();
    }
    return done;
  }

 private:
  std::string bytes_;
};

}  // namespace

TEST_CASE("hdf5: files that are in memory together are told apart") {
  // The library took the second for the first: its extents, its chunks, its cells.
  const TempDir dir;
  for (const Hdf5Layout& layout : {Hdf5Layout{}, Hdf5Layout{.chunk = {1, 3}, .gzip = 1}}) {
    std::vector<Matrix> opened;
    for (std::uint8_t k = 1; k <= 3; ++k) {
      const std::vector<std::uint8_t> cells(k * 4ULL, k);
      Hdf5Writer(dir / "d.h5").data_set("X", {k, 4}, cells, layout);
      const auto bytes = std::make_shared<const Elsewhere>(read_text(dir / "d.h5"));
      opened.push_back(Matrix::open(bytes, "d.h5"));
    }
    for (std::uint8_t k = 1; k <= 3; ++k) {
      const Matrix& m = opened[k - 1];
      REQUIRE(m.rows() == k);
      CHECK(m.read<std::uint8_t>({{0, k}, {0, 4}}) == std::vector<std::uint8_t>(k * 4ULL, k));
    }
  }
}
