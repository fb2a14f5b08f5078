// The copy by column beside a matrix: who may use it, and what is said of one that nobody may.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/column_copy.h"
#include "lib/dbdf/write/block_writer.h"
#include "tests/check.h"
#include "tests/columns.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Rng;
using test::TempDir;

namespace {

namespace fs = std::filesystem;

void overwrite(const fs::path& path, const std::vector<std::byte>& bytes) {
  std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

SidecarState state(const fs::path& path) { return column_copy_state(Matrix::open(path)); }

}  // namespace

TEST_CASE("columns: the copy does not depend on the number of threads") {
  const TempDir dir;
  const auto path = test::high_matrix(dir);
  write_column_copy(path);
  const auto one = test::read_bytes(column_copy_path(path));
  write_column_copy(path, {}, {.sync = false, .threads = 3});
  CHECK(test::read_bytes(column_copy_path(path)) == one);
}

TEST_CASE("columns: a copy of another state of the file, or of another file, is not used") {
  const TempDir dir;
  const auto path = test::high_matrix(dir);
  write_column_copy(path);
  CHECK(state(path) == SidecarState::fresh);
  const auto copy = column_copy_path(path);
  const auto bytes = test::read_bytes(copy);
  auto expected = SidecarState::stale;
  auto code = Errc::stale_index;
  SUBCASE("touched") {
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  }
  SUBCASE("replaced") {
    test::write_bytes(dir / "other", test::read_bytes(path));
    fs::rename(dir / "other", path);
  }
  SUBCASE("read in another way") {
    OpenOptions array, vector;
    array.array = "x";
    CHECK(column_copy_state(Matrix::open(path, array)) == SidecarState::stale);
    vector.format_options = {{"idv.column", "Features"}};
    CHECK(column_copy_state(Matrix::open(path, vector)) == SidecarState::fresh);  // no idv
    convert(open(path), {}, dir / "m.idv");
    write_column_copy(dir / "m.idv");
    CHECK(state(dir / "m.idv") == SidecarState::fresh);
    CHECK(column_copy_state(Matrix::open(dir / "m.idv", vector)) == SidecarState::stale);
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  }
  SUBCASE("no copy at all") {
    MatrixWriter::create(copy, 70, 3000, ValueType::f32, {.overwrite = true}).finish();
    expected = SidecarState::damaged;
    code = Errc::corrupt;
  }
  SUBCASE("text") {
    test::write_text(copy, "what somebody else calls so");
    expected = SidecarState::damaged;
    code = Errc::corrupt;
  }
  SUBCASE("cut") {
    test::write_bytes(copy, std::span(bytes).first(bytes.size() - 1));
    expected = SidecarState::damaged;
    code = Errc::corrupt;
  }
  CHECK(state(path) == expected);
  const Matrix m = Matrix::open(path);
  CHECK(m.store().by_column() == nullptr);
  Rng rng(93);
  test::check_columns(rng, m);
  const auto findings = verify(path, Level::structure).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].code() == code);
  CHECK(findings[0].file() == copy.string());
  write_column_copy(path);
  CHECK(state(path) == SidecarState::fresh);
  CHECK(verify(path, Level::payload).findings.empty());
}

TEST_CASE("columns: a copy is stale after a change that moves no time, as in memory") {
  constexpr const char* kMemory = "/dev/shm";  // tmpfs, where writes through a map are like that
  if (!fs::is_directory(kMemory)) return;
  const TempDir dir(kMemory);
  const auto path = dir / "m.npy";
  convert(Matrix::open(test::high_matrix(dir)), {}, path, {});
  write_column_copy(path);
  CHECK(state(path) == SidecarState::fresh);
  CHECK(Matrix::open(path).store().by_column() != nullptr);
  const auto time = fs::last_write_time(path);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const auto size = static_cast<std::size_t>(fs::file_size(path));
  auto* const map =
      static_cast<std::byte*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  REQUIRE(map != MAP_FAILED);
  map[size - 9] ^= std::byte{1};
  ::munmap(map, size);
  ::close(fd);
  fs::last_write_time(path, time);  // which a page that was read before does move
  CHECK(state(path) == SidecarState::stale);
  const Matrix m = Matrix::open(path);
  CHECK(m.store().by_column() == nullptr);
  Rng rng(97);
  test::check_columns(rng, m);
}

TEST_CASE("columns: any changed byte of the copy is found, and leads to no wrong cell") {
  Rng rng(94);
  const TempDir dir;
  const auto path = dir.write(
      "m", test::random_matrix(rng, test::regular(9, 12, {4, 5}), ValueType::i16).bytes());
  const auto cells = Matrix::open(path).read<std::int16_t>({{0, 9}, {0, 12}});
  write_column_copy(path);
  const auto copy = column_copy_path(path);
  auto bytes = test::read_bytes(copy);
  const std::vector<std::uint64_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  OpenOptions careful;
  careful.check = Check::first_touch;
  Csr<std::int16_t> out;
  for (std::size_t at = 0; at < bytes.size(); at += test::one_of(5)) {
    CAPTURE(at);
    bytes[at] ^= std::byte{4};
    overwrite(copy, bytes);
    test::check_columns<std::int16_t>(Matrix::open(path, careful), cells, all, out, {});
    gather_columns(Matrix::open(path), all, out);  // whatever it gives
    const auto findings = verify(path, Level::payload).findings;
    CHECK(!findings.empty());
    for (const Error& finding : findings) CHECK(finding.file() == copy.string());
    bytes[at] ^= std::byte{4};
  }
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    test::write_bytes(copy, std::span(bytes).first(size));
    test::check_columns<std::int16_t>(Matrix::open(path), cells, all, out, {});
  }
}

TEST_CASE("columns: reads pass over a damaged copy") {
  const TempDir dir;
  auto path = test::high_matrix(dir);
  SUBCASE("beside a file of hashes") {}
  SUBCASE("beside a file without") {
    convert(Matrix::open(path), {}, dir / "m.npy", {});
    path = dir / "m.npy";
  }
  const auto cells = Matrix::open(path).read<float>({{0, 3000}, {0, 70}});
  write_column_copy(path);
  auto bytes = test::read_bytes(column_copy_path(path));
  OpenOptions careful;
  careful.check = Check::first_touch;
  for (std::size_t at = 0; at < bytes.size(); at += 997) {
    CAPTURE(at);
    bytes[at] ^= std::byte{0x81};
    overwrite(column_copy_path(path), bytes);
    test::check_reads(Matrix::open(path, careful), cells, {0, 3000}, {33, 36});
    const Matrix trusting = Matrix::open(path);
    trusting.read<float>({{0, 3000}, {33, 34}});  // whatever it gives
    bytes[at] ^= std::byte{0x81};
  }
}

TEST_CASE("columns: a guarded file that was cut is told, though only its copy is read") {
  const TempDir dir;
  const auto path = test::high_matrix(dir);
  write_column_copy(path);
  OpenOptions guarded;
  guarded.guard = true;
  const Matrix m = Matrix::open(path, guarded);
  const std::vector<std::uint64_t> some{3, 1};
  Csr<float> out;
  gather_columns(m, some, out);
  REQUIRE(m.store().by_column() != nullptr);
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto told = [&](const auto& read) {
    const Error error = test::required_error(error_of(read));
    CHECK(error.code() == Errc::io);
    CHECK(error.file() == path.string());
  };
  told([&] { gather_columns(m, some, out); });
  told([&] { m.read<float>({{0, 3000}, {33, 34}}); });
}

TEST_CASE("columns: a matrix is converted with its rows as columns") {
  const TempDir dir;
  const Matrix m = Matrix::open(test::high_matrix(dir));
  const auto cells = m.read<float>({{0, 3000}, {0, 70}});
  Selection part;
  part.rows = Range{100, 2100};
  part.cols = std::vector<std::uint64_t>{7, 8, 9, 60, 3};
  for (const KindChoice kind : {KindChoice::automatic, KindChoice::dense, KindChoice::csr}) {
    ConvertOptions options;
    options.transpose = true;
    options.threads = 2;
    options.value_type = ValueType::f64;
    options.write.kind = kind;
    options.write.overwrite = true;
    convert(m, part, dir / "turned.dbdf", options);
    const Matrix turned = Matrix::open(dir / "turned.dbdf");
    REQUIRE(turned.rows() == 5);
    REQUIRE(turned.cols() == 2000);
    CHECK(turned.value_type() == ValueType::f64);
    const auto found = turned.read<double>({{0, 5}, {0, 2000}});
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i] == cells[(100 + i % 2000) * 70 + (*part.cols)[i / 2000]]);
    }
  }
  ConvertOptions options;
  options.transpose = true;
  CHECK(error_of([&] { append(dir / "turned.dbdf", m, options); })->code() ==
        Errc::invalid_argument);
}

TEST_CASE("columns: a forged copy, whose hashes are right, is found by verify") {
  const TempDir dir;
  const auto path = test::high_matrix(dir);
  const Matrix m = Matrix::open(path);
  auto cells = m.read<float>({{0, 3000}, {0, 70}});
  const auto forge = [&] {
    detail::Schema schema;
    schema.rows = 70;
    schema.cols = 3000;
    schema.value_type = ValueType::f32;
    WriteOptions options;
    options.overwrite = true;
    options.tile = TileShape{70, 3000};
    detail::BlockWriter w(column_copy_path(path), schema, options);
    std::vector<float> turned;
    for (std::size_t i = 0; i < cells.size(); ++i)
      turned.push_back(cells[i % 3000 * 70 + i / 3000]);
    w.put({0, 0}, detail::dbdf::DenseCells{reinterpret_cast<const std::byte*>(turned.data()),
                                           ValueType::f32, 70, 3000, 3000 * sizeof(float)});
    w.add_hint(detail::dbdf::copy_hint(m.store()));
    w.finish();
  };
  forge();
  CHECK(verify(path, Level::payload).findings.empty());
  cells[200 * 70 + 17] += 1;
  forge();
  CHECK(state(path) == SidecarState::fresh);
  CHECK(verify(path, Level::structure).findings.empty());
  const auto findings = verify(path, Level::payload).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].code() == Errc::corrupt);
  CHECK(findings[0].file() == column_copy_path(path).string());
  CHECK(findings[0].detail().find("column 17 ") != std::string::npos);
}

TEST_CASE("columns: files of other formats have copies, if what they hold is plain to see") {
  Rng rng(95);
  const TempDir dir;
  const Matrix source = Matrix::open(test::high_matrix(dir));
  for (const std::string to : {"m.npy", "m.in"}) {
    CAPTURE(to);
    ConvertOptions how;
    convert(source, {}, dir / to, how);
    write_column_copy(dir / to);
    const Matrix m = Matrix::open(dir / to);
    CHECK(m.store().by_column() != nullptr);
    test::check_columns(rng, m);
    CHECK(verify(dir / to, Level::payload).findings.empty());
  }
  const auto refused = [&](const fs::path& path) {
    const Error error = test::required_error(error_of([&] { write_column_copy(path); }));
    CHECK(error.file() == path.string());
    return error.code();
  };
  for (const std::string text : {"m.csv", "m.mtx"}) {
    convert(source, {}, dir / text, {});
    CHECK(refused(dir / text) == Errc::unsupported);
  }
  const auto frame = dir.write("f", test::random_frame(rng, test::pinwheels(1)).bytes());
  CHECK(refused(frame) == Errc::unsupported);
  CHECK(refused(dir / "nothing") == Errc::io);
}

TEST_CASE("columns: one with more entries than fit a block is cut, in little memory") {
  constexpr std::uint32_t kRows = 6'000'000, kStep = 1'000'000;
  const TempDir dir;
  auto w = MatrixWriter::create(dir / "m", kRows, 3, ValueType::u8, {.tile = TileShape{kStep, 3}},
                                Storage::csr);
  std::vector<std::uint64_t> row_ptr(kStep + 1);
  std::vector<std::uint32_t> cols;
  std::vector<std::uint8_t> values;
  for (std::uint32_t row = 0; row < kStep; ++row) {
    if (row % 5 < 2) {
      cols.push_back(1);
      values.push_back(static_cast<std::uint8_t>(row % 250 + 1));
    }
    row_ptr[row + 1] = cols.size();
  }
  for (std::uint32_t row = 0; row < kRows; row += kStep) {
    w.put<std::uint8_t>({row, 0}, {kStep, 3, row_ptr, cols, values});
  }
  w.finish();
  write_column_copy(dir / "m");
  const Matrix m = Matrix::open(dir / "m");
  const Matrix copy = Matrix::open(column_copy_path(dir / "m"));
  REQUIRE(copy.grid());
  CHECK(copy.grid()->cols == 3);
  Csr<std::uint8_t> out;
  const std::vector<std::uint64_t> list{1, 0};
  gather_columns<std::uint8_t>(m, list, out);
  REQUIRE(out.values.size() == std::size_t{6} * values.size());
  CHECK(out.row_ptr[1] == out.row_ptr[2]);
  for (std::size_t k = 0; k < out.values.size(); k += 997) {
    REQUIRE(out.values[k] == values[k % values.size()]);
    REQUIRE(out.col_idx[k] % 5 < 2);
  }
}

TEST_CASE("columns: many cells are turned in bands of rows, of which each has blocks of its own") {
  constexpr std::uint32_t kRows = 8'201, kCols = 4'200;
  const auto cell = [](std::uint64_t row, std::uint64_t col) {
    const bool stored = col < kCols / 2 ? row % 97 == col % 97 : (row + col) % 251 != 0;
    return static_cast<std::uint8_t>(stored ? row % 250 + 1 : 0);
  };
  const TempDir dir;
  std::vector<std::uint8_t> cells;
  cells.reserve(std::size_t{kRows} * kCols);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (std::uint32_t col = 0; col < kCols; ++col) cells.push_back(cell(row, col));
  }
  auto w = MatrixWriter::create(dir / "m", kRows, kCols, ValueType::u8,
                                {.kind = KindChoice::dense, .sync = false}, Storage::dense);
  w.put_region<std::uint8_t>({0, 0}, {cells.data(), kRows, kCols});
  w.finish();
  const WriteSummary summary = write_column_copy(dir / "m", {}, {.sync = false, .threads = 2});
  CHECK(summary.counts.csr > 0);
  CHECK(summary.counts.dense > 0);
  const Matrix copy = Matrix::open(column_copy_path(dir / "m"));
  CHECK(copy.grid()->cols == 2);
  for (const std::uint64_t col : {0UL, 1UL, 2'099UL, 2'100UL, 4'199UL}) {
    const auto got = copy.read<std::uint8_t>({{col, col + 1}, {0, kRows}});
    for (std::uint64_t row = 0; row < kRows; ++row) REQUIRE(got[row] == cell(row, col));
  }
  CHECK(verify(dir / "m", Level::payload).findings.empty());
}
