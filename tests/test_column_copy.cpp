// Columns at random (gather_columns), and the copy by column that makes them fast, against the
// cells that a read of everything gives.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/column_copy.h"
#include "lib/dbdf/write/block_writer.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Image;
using test::Rng;
using test::TempDir;

namespace {

namespace fs = std::filesystem;

template <Value T>
bool is_stored(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits != 0;
}

/// The columns of a list are those of `cells`, which are all of the matrix.
template <Value T>
void check_columns(const Matrix& m, std::span<const T> cells, std::span<const std::uint64_t> list,
                   Csr<T>& out, const GatherOptions& options) {
  gather_columns(m, list, out, options);
  REQUIRE(out.row_ptr.size() == list.size() + 1);
  REQUIRE(out.row_ptr[0] == 0);
  REQUIRE(out.col_idx.size() == out.values.size());
  REQUIRE(out.row_ptr[list.size()] == out.values.size());
  std::uint64_t k = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::uint64_t row = 0; row < m.rows(); ++row) {
      const T wanted = cells[row * m.cols() + list[i]];
      if (!is_stored(wanted)) continue;
      REQUIRE(k < out.values.size());
      REQUIRE(out.col_idx[k] == row);
      REQUIRE(std::memcmp(&out.values[k++], &wanted, sizeof wanted) == 0);
    }
    REQUIRE(out.row_ptr[i + 1] == k);
  }
}

std::vector<std::uint64_t> random_list(Rng& rng, std::uint64_t limit) {
  std::vector<std::uint64_t> list(limit == 0 ? 0 : rng.below(2 * limit + 1));
  for (auto& item : list) item = rng.below(limit);
  return list;
}

/// Lists of columns, for one and several threads.
void check(Rng& rng, const Matrix& m) {
  visit_type(m.value_type(), [&](auto tag) {
    using T = decltype(tag);
    const auto cells = m.read<T>({{0, m.rows()}, {0, m.cols()}}, {Absent::zero, 1});
    Csr<T> out;
    for (const unsigned threads : {1U, 3U}) {
      const auto list = random_list(rng, m.cols());
      check_columns<T>(m, cells, list, out, {.absent = Absent::zero, .threads = threads});
    }
  });
}

/// A matrix that is high enough for reads to look for a copy: 3000 x 70, sparse and dense tiles.
fs::path high_matrix(const TempDir& dir, TileShape tile = {500, 64}) {
  WriteOptions options;
  options.tile = tile;
  options.overwrite = true;
  auto w = MatrixWriter::create(dir / "high.dbdf", 3000, 70, ValueType::f32, options, Storage::csr);
  Rng rng(7);
  for (std::uint32_t row = 0; row < 3000; row += tile.rows) {
    for (std::uint32_t col = 0; col < 70; col += tile.cols) {
      const std::uint32_t rows = std::min(tile.rows, 3000 - row);
      const std::uint32_t cols = std::min(tile.cols, 70 - col);
      std::vector<float> cells(std::size_t{rows} * cols);
      const unsigned filled = row == 500 ? 90 : row == 1000 ? 0 : 5;
      for (float& cell : cells) {
        if (rng.chance(filled)) cell = static_cast<float>(rng.between(-300, 300)) / 2;
      }
      w.put<float>({row, col}, {cells.data(), rows, cols});
    }
  }
  w.finish();
  return dir / "high.dbdf";
}

/// What a matrix of f32 that is read in several ways says of a few of its columns.
void check_reads(const Matrix& m, std::span<const float> cells, Range rows, Range cols) {
  const auto read = m.read<double>({rows, cols});
  const Csr<double> csr = m.read_csr<double>({rows, cols});
  std::uint64_t k = 0;
  REQUIRE(csr.row_ptr.size() == rows.size() + 1);
  for (std::uint64_t r = 0; r < rows.size(); ++r) {
    for (std::uint64_t c = 0; c < cols.size(); ++c) {
      const double wanted = cells[(rows.begin + r) * m.cols() + cols.begin + c];
      REQUIRE(read[r * cols.size() + c] == wanted);
      if (wanted == 0) continue;
      REQUIRE(k < csr.col_idx.size());
      REQUIRE(csr.col_idx[k] == c);
      REQUIRE(csr.values[k++] == wanted);
    }
    REQUIRE(csr.row_ptr[r + 1] == k);
  }
  std::vector<float> strided(rows.size() * (cols.size() + 2), -7);
  m.read<float>({rows, cols}, strided, cols.size() + 2);
  for (std::size_t i = 0; i < strided.size(); ++i) {
    const std::uint64_t r = i / (cols.size() + 2), c = i % (cols.size() + 2);
    REQUIRE(strided[i] ==
            (c < cols.size() ? cells[(rows.begin + r) * m.cols() + cols.begin + c] : -7));
  }
}

void overwrite(const fs::path& path, const std::vector<std::byte>& bytes) {
  std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

ColumnCopyState state(const fs::path& path) { return column_copy_state(Matrix::open(path)); }

}  // namespace

TEST_CASE("columns: those of any partition, kind and type are those of a read") {
  Rng rng(91);
  for (const ValueType type : kValueTypes) {
    for (const test::Partition& p : test::partitions(rng, 20)) {
      CAPTURE(p.name);
      CAPTURE(name(type));
      const TempDir dir;
      const auto path = dir.write("m", test::random_matrix(rng, p, type, 0).bytes());
      const Matrix plain = Matrix::open(path);
      check(rng, plain);
      bool whole = false;
      if (const auto error = error_of([&] { write_column_copy(path); })) {
        CHECK(error->code() == Errc::absent);
        CHECK(dir.names() == std::vector<std::string>{"m"});
      } else {
        whole = true;
      }
      const Matrix m = Matrix::open(path);
      CHECK(column_copy_state(m) == (whole ? ColumnCopyState::fresh : ColumnCopyState::none));
      CHECK((m.store().by_column() != nullptr) == whole);
      check(rng, m);
      if (!whole) continue;
      CHECK(verify(path, Level::payload).findings.empty());
      const Matrix copy = Matrix::open(column_copy_path(path));
      CHECK(copy.rows() == m.cols());
      CHECK(copy.cols() == m.rows());
      CHECK(copy.value_type() == m.value_type());
    }
  }
}

TEST_CASE("columns: shapes without rows or columns, and with one of them") {
  Rng rng(92);
  for (const auto& [rows, cols] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 0}, {0, 5}, {5, 0}, {1, 7}, {7, 1}, {1, 1}}) {
    CAPTURE(rows);
    CAPTURE(cols);
    const TempDir dir;
    auto w = MatrixWriter::create(dir / "m", rows, cols, ValueType::i32);
    const std::vector<std::int32_t> cells(rows * cols, -5);
    if (!cells.empty()) {
      w.put<std::int32_t>({0, 0}, {cells.data(), static_cast<std::uint32_t>(rows),
                                   static_cast<std::uint32_t>(cols)});
    }
    w.finish();
    check(rng, Matrix::open(dir / "m"));
    write_column_copy(dir / "m");
    const Matrix m = Matrix::open(dir / "m");
    CHECK(m.store().by_column() != nullptr);
    check(rng, m);
    CHECK(verify(dir / "m", Level::payload).findings.empty());
  }
}

TEST_CASE("columns: numbers outside, absent cells, and outputs that overlap are errors") {
  const TempDir dir;
  const auto gaps = dir.write(
      "m", Image::matrix(3, 3, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, 3, {1, 2, 3}).bytes());
  const Matrix m = Matrix::open(gaps);
  Csr<float> out;
  const std::vector<std::uint64_t> outside{0, 3}, inside{2, 2};
  const auto code = [&](std::span<const std::uint64_t> list, const GatherOptions& options) {
    return test::required_error(error_of([&] { gather_columns(m, list, out, options); })).code();
  };
  CHECK(code(outside, {}) == Errc::out_of_range);
  CHECK(code(inside, {}) == Errc::absent);
  CHECK(code(inside, {.absent = Absent::nan}) == Errc::unsupported);
  gather_columns<float>(m, inside, out, {.absent = Absent::zero});
  CHECK(out.values == std::vector<float>{3, 3});
  out.col_idx.reset(4);
  const std::span<const std::uint64_t> inner(out.col_idx.data(), 2);
  out.col_idx[0] = out.col_idx[1] = 0;
  CHECK(error_of([&] { gather_columns(m, inner, out, {.absent = Absent::zero}); })->code() ==
        Errc::invalid_argument);
}

TEST_CASE("columns: reads of few columns use the copy, and give the same") {
  for (const TileShape tile : {TileShape{500, 64}, TileShape{3000, 70}, TileShape{64, 32}}) {
    const TempDir dir;
    const auto path = high_matrix(dir, tile);
    const auto cells = Matrix::open(path).read<float>({{0, 3000}, {0, 70}});
    for (const bool copied : {false, true}) {
      if (copied) write_column_copy(path, {}, {.threads = 2});
      const Matrix m = Matrix::open(path);
      for (const Range cols : {Range{0, 1}, Range{69, 70}, Range{30, 32}, Range{61, 65}}) {
        check_reads(m, cells, {0, 3000}, cols);
        check_reads(m, cells, {700, 1900}, cols);
      }
      CHECK(m.read<float>({{0, 3000}, {5, 5}}).empty());
      CHECK(error_of([&] { m.read<std::uint8_t>({{0, 3000}, {0, 1}}); })->file() == path.string());
    }
  }
}

TEST_CASE("columns: the copy does not depend on the number of threads") {
  const TempDir dir;
  const auto path = high_matrix(dir);
  write_column_copy(path);
  const auto one = test::read_bytes(column_copy_path(path));
  write_column_copy(path, {}, {.sync = false, .threads = 3});
  CHECK(test::read_bytes(column_copy_path(path)) == one);
}

TEST_CASE("columns: a copy of another state of the file, or of another file, is not used") {
  const TempDir dir;
  const auto path = high_matrix(dir);
  write_column_copy(path);
  CHECK(state(path) == ColumnCopyState::fresh);
  const auto copy = column_copy_path(path);
  const auto bytes = test::read_bytes(copy);
  auto expected = ColumnCopyState::stale;
  auto code = Errc::stale_index;
  SUBCASE("touched") {
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  }
  SUBCASE("replaced") {
    test::write_bytes(dir / "other", test::read_bytes(path));
    fs::rename(dir / "other", path);
  }
  SUBCASE("read in another way") {
    OpenOptions options;
    options.array = "x";
    CHECK(column_copy_state(Matrix::open(path, options)) == ColumnCopyState::stale);
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  }
  SUBCASE("no copy at all") {
    MatrixWriter::create(copy, 70, 3000, ValueType::f32, {.overwrite = true}).finish();
    expected = ColumnCopyState::damaged;
    code = Errc::corrupt;
  }
  SUBCASE("text") {
    test::write_text(copy, "what somebody else calls so");
    expected = ColumnCopyState::damaged;
    code = Errc::corrupt;
  }
  SUBCASE("cut") {
    test::write_bytes(copy, std::span(bytes).first(bytes.size() - 1));
    expected = ColumnCopyState::damaged;
    code = Errc::corrupt;
  }
  CHECK(state(path) == expected);
  const Matrix m = Matrix::open(path);
  CHECK(m.store().by_column() == nullptr);
  Rng rng(93);
  check(rng, m);
  const auto findings = verify(path, Level::structure).findings;
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].code() == code);
  CHECK(findings[0].file() == copy.string());
  write_column_copy(path);
  CHECK(state(path) == ColumnCopyState::fresh);
  CHECK(verify(path, Level::payload).findings.empty());
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
  for (std::size_t at = 0; at < bytes.size(); at += test::one_or_watched(5)) {
    CAPTURE(at);
    bytes[at] ^= std::byte{4};
    overwrite(copy, bytes);
    check_columns<std::int16_t>(Matrix::open(path, careful), cells, all, out, {});
    gather_columns(Matrix::open(path), all, out);  // whatever it gives
    const auto findings = verify(path, Level::payload).findings;
    CHECK(!findings.empty());
    for (const Error& finding : findings) CHECK(finding.file() == copy.string());
    bytes[at] ^= std::byte{4};
  }
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    test::write_bytes(copy, std::span(bytes).first(size));
    check_columns<std::int16_t>(Matrix::open(path), cells, all, out, {});
  }
}

TEST_CASE("columns: a forged copy, whose hashes are right, is found by verify") {
  const TempDir dir;
  const auto path = high_matrix(dir);
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
  CHECK(state(path) == ColumnCopyState::fresh);
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
  const Matrix source = Matrix::open(high_matrix(dir));
  for (const std::string to : {"m.npy", "m.mtx", "m.in"}) {
    CAPTURE(to);
    ConvertOptions how;
    convert(source, {}, dir / to, how);
    write_column_copy(dir / to);
    const Matrix m = Matrix::open(dir / to);
    CHECK(m.store().by_column() != nullptr);
    check(rng, m);
    CHECK(verify(dir / to, Level::payload).findings.empty());
  }
  const auto refused = [&](const fs::path& path) {
    const Error error = test::required_error(error_of([&] { write_column_copy(path); }));
    CHECK(error.file() == path.string());
    return error.code();
  };
  convert(source, {}, dir / "m.csv", {});
  CHECK(refused(dir / "m.csv") == Errc::unsupported);
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
