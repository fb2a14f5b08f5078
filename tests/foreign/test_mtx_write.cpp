// What is written, byte for byte; and random matrices both ways.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"
#include "tests/table.h"

using namespace dapple;
using detail::ObjectKind;
using test::Table;

namespace {

std::string mtx_of(const std::filesystem::path& path, const ConvertOptions& given = {},
                   const Selection& part = {}) {
  ConvertOptions options = given;
  options.to = "mtx";
  return test::converted(open(path), options, part);
}

/// A DAPHNE file of these cells.
template <Value T>
std::filesystem::path file_of(const test::TempDir& dir, std::uint64_t rows, std::uint64_t cols,
                              const std::vector<T>& cells, Storage storage) {
  WriteOptions options;
  options.overwrite = true;
  options.sync = false;
  options.tile = TileShape{100, 64};
  MatrixWriter writer =
      MatrixWriter::create(dir / "m.dbdf", rows, cols, value_type_of<T>(), options, storage);
  for (std::uint64_t r = 0; r < rows; r += 100) {
    for (std::uint64_t c = 0; c < cols; c += 64) {
      writer.put(
          BlockPos{r, c},
          DenseRef<T>{cells.data() + r * cols + c,
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(100, rows - r)),
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(64, cols - c)), cols});
    }
  }
  writer.finish();
  return dir / "m.dbdf";
}

/// Cells that are often zero; floats of every kind but NaN.
template <Value T>
std::vector<T> random_cells(std::uint64_t n, unsigned percent, test::Rng& rng) {
  std::vector<T> cells(n);
  for (T& cell : cells) {
    if (!rng.chance(percent)) continue;
    const std::uint64_t bits = rng.bits();
    std::memcpy(&cell, &bits, sizeof cell);
    if (cell != cell) cell = static_cast<T>(-0.0);
  }
  return cells;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("mtx write: a dense matrix is an array, column after column") {
  const test::TempDir dir;
  CHECK(mtx_of(file_of<double>(dir, 2, 3, {1, 2.5, -0.0, 4, 5, 0.1}, Storage::dense)) ==
        "%%MatrixMarket matrix array real general\n2 3\n1\n4\n2.5\n5\n-0\n0.1\n");
  CHECK(mtx_of(file_of<std::int8_t>(dir, 1, 2, {-1, 2}, Storage::dense)) ==
        "%%MatrixMarket matrix array integer general\n1 2\n-1\n2\n");
  const auto path = file_of<double>(dir, 3, 2, {1, 2, 3, 4, 5, 6}, Storage::dense);
  CHECK(mtx_of(path, {}, {.rows = Range{1, 3}, .cols = std::vector<std::uint64_t>{1}}) ==
        "%%MatrixMarket matrix array real general\n2 1\n4\n6\n");
}

TEST_CASE("mtx write: a sparse matrix is coordinate, row after row") {
  const test::TempDir dir;
  const double inf = std::numeric_limits<double>::infinity();
  const auto path =
      file_of<double>(dir, 3, 3, {0, 2.5, 0, 0, 0, 0, -0.0, std::nan(""), -inf}, Storage::csr);
  CHECK(
      mtx_of(path) ==
      "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 2.5\n3 1 -0\n3 2 nan\n3 3 -inf\n");
  CHECK(mtx_of(path, {}, {.rows = Range{0, 1}, .cols = std::vector<std::uint64_t>{1, 0}}) ==
        "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 2.5\n");
  CHECK(mtx_of(file_of<std::uint8_t>(dir, 2, 2, {0, 0, 0, 0}, Storage::csr)) ==
        "%%MatrixMarket matrix coordinate integer general\n2 2 0\n");
}

TEST_CASE("mtx write: few stored values are coordinate whatever the header declares") {
  const test::TempDir dir;
  std::vector<float> cells(200 * 64);
  cells[3] = 1.5F;
  cells[150 * 64 + 2] = -2;
  const auto path = file_of<float>(dir, 200, 64, cells, Storage::dense);
  REQUIRE(Matrix::open(path).counts().stored == 2);
  CHECK(mtx_of(path) ==
        "%%MatrixMarket matrix coordinate real general\n200 64 2\n1 4 1.5\n151 3 -2\n");
  for (std::size_t i = 0; i < cells.size(); i += 3) cells[i] = 1;
  CHECK(mtx_of(file_of<float>(dir, 200, 64, cells, Storage::dense))
            .starts_with("%%MatrixMarket matrix array real general\n200 64\n1\n"));
}

TEST_CASE("mtx write: u64 is integer until a value needs the larger field") {
  const test::TempDir dir;
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Storage storage : {Storage::dense, Storage::csr}) {
    const std::string small = mtx_of(file_of<std::uint64_t>(dir, 1, 2, {most, 1}, storage));
    CHECK(small.find(" integer general") != std::string::npos);
    const std::string large = mtx_of(file_of<std::uint64_t>(dir, 1, 2, {most + 1, 1}, storage));
    CHECK(large.find(" unsigned-integer general") != std::string::npos);
    test::write_text(dir / "m.mtx", large);
    CHECK(Matrix::open(dir / "m.mtx").read<std::uint64_t>({{0, 1}, {0, 2}}) ==
          std::vector<std::uint64_t>{most + 1, 1});
  }
}

TEST_CASE("mtx write: a matrix that is too large for this library's reader is told of") {
  const test::TempDir dir;
  for (const std::uint64_t rows : {0xffff'ffffULL, 0x1'0000'0000ULL}) {
    WriteOptions write;
    write.tile = TileShape{1U << 31, 1};
    write.overwrite = true;
    auto writer = MatrixWriter::create(dir / "m.dbdf", rows, 1, ValueType::u8, write, Storage::csr);
    const std::uint8_t one = 1;
    writer.put_region<std::uint8_t>({rows - 1, 0}, {&one, 1, 1});
    writer.finish();
    std::string notes;
    ConvertOptions options;
    options.note = [&](const std::string& note) { notes += note; };
    const std::string text = mtx_of(dir / "m.dbdf", options);
    const std::string last = std::to_string(rows);
    CHECK(text ==
          "%%MatrixMarket matrix coordinate integer general\n" + last + " 1 1\n" + last + " 1 1\n");
    test::write_text(dir / "m.mtx", text);
    const auto error = test::error_of([&] { Matrix::open(dir / "m.mtx"); });
    CHECK(error.has_value() == !notes.empty());
    CHECK(notes.empty() == (rows == 0xffff'ffff));
  }
}

TEST_CASE("mtx write: objects without rows or columns") {
  const test::TempDir dir;
  CHECK(mtx_of(file_of<double>(dir, 0, 3, {}, Storage::dense)) ==
        "%%MatrixMarket matrix array real general\n0 3\n");
  CHECK(mtx_of(file_of<double>(dir, 3, 0, {}, Storage::csr)) ==
        "%%MatrixMarket matrix coordinate real general\n3 0 0\n");
}

TEST_CASE("mtx write: frames only where nothing of them is lost") {
  const test::TempDir dir;
  const auto frame = [&](std::vector<Column> columns) {
    Table table(ObjectKind::frame, 2, std::move(columns));
    for (std::uint64_t c = 0; c < table.cols(); ++c) table.at(1, c) = c + 1;
    WriteOptions options;
    options.overwrite = true;
    table.write(dir / "f.dbdf", options);
    return dir / "f.dbdf";
  };
  CHECK(mtx_of(frame({{"", ValueType::i32}, {"", ValueType::i32}})) ==
        "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n0\n2\n");
  const auto labelled = test::error_of([&] { mtx_of(frame({{"pH", ValueType::i32}})); });
  REQUIRE(labelled);
  CHECK(labelled->code() == Errc::unsupported);
  CHECK(labelled->detail() == "mtx has no place for column labels such as 'pH'");
  CHECK(labelled->option() == "drop_labels");
  ConvertOptions drop;
  drop.drop_labels = true;
  CHECK(mtx_of(frame({{"pH", ValueType::i32}}), drop) ==
        "%%MatrixMarket matrix array integer general\n2 1\n0\n1\n");
  const auto mixed = [&] { return frame({{"", ValueType::i8}, {"", ValueType::u8}}); };
  CHECK(test::error_of([&] { mtx_of(mixed()); })->detail() ==
        "mtx has one value type for all columns, and these are i8 and u8");
  ConvertOptions one_type;
  one_type.value_type = ValueType::f64;
  CHECK(mtx_of(mixed(), one_type) == "%%MatrixMarket matrix array real general\n2 2\n0\n1\n0\n2\n");
}

TEST_CASE_TEMPLATE("mtx write: random matrices come back, bit for bit", T, std::int64_t,
                   std::uint64_t, double) {
  const test::TempDir dir;
  test::Rng rng(31);
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t rows = rng.between(1, 250), cols = rng.between(1, 150);
    const Storage storage = rng.chance(50) ? Storage::csr : Storage::dense;
    const auto cells = random_cells<T>(rows * cols, storage == Storage::csr ? 10 : 90, rng);
    const auto path = file_of<T>(dir, rows, cols, cells, storage);
    const std::string text = mtx_of(path);
    test::write_text(dir / "m.mtx", text);
    const Matrix back = Matrix::open(dir / "m.mtx");
    CHECK(back.storage() == storage);
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      CHECK(back.value_type() == ValueType::u64);  // some value is always large
    } else {
      CHECK(back.value_type() == value_type_of<T>());
    }
    CHECK(same_bits(back.read<T>({{0, rows}, {0, cols}}), cells));
    ConvertOptions threads;
    threads.threads = 0;
    CHECK(mtx_of(path, threads) == text);
  }
}

TEST_CASE("mtx write: an array larger than working memory, and a row larger than a band") {
  const test::TempDir dir;
  test::Rng rng(32);
  for (const auto& [rows, cols] : {std::pair<std::uint64_t, std::uint64_t>{70'003, 70},
                                   std::pair<std::uint64_t, std::uint64_t>{1, 4'300'000}}) {
    const auto cells = random_cells<std::int64_t>(rows * cols, 3, rng);
    ConvertOptions threads;
    threads.threads = 0;
    test::write_text(dir / "m.mtx",
                     mtx_of(file_of(dir, rows, cols, cells, Storage::dense), threads));
    const Matrix back = Matrix::open(dir / "m.mtx");
    CHECK(same_bits(back.read<std::int64_t>({{0, rows}, {0, cols}}), cells));
  }
}

TEST_CASE("mtx write: f32 in digits that mean the same as f64, in the fewest only when asked") {
  const test::TempDir dir;
  const std::vector<float> cells = {0.1f, 9007199254740992.0f};
  const auto text = [&](Storage storage, bool short_floats) {
    ConvertOptions options;
    options.short_floats = short_floats;
    const std::string whole = mtx_of(file_of<float>(dir, 2, 1, cells, storage), options);
    return whole.substr(whole.find('\n') + 1);
  };
  CHECK(text(Storage::dense, false) == "2 1\n0.10000000149011612\n9007199254740992\n");
  CHECK(text(Storage::csr, false) == "2 1 2\n1 1 0.10000000149011612\n2 1 9007199254740992\n");
  CHECK(text(Storage::dense, true) == "2 1\n0.1\n9.007199e+15\n");
  CHECK(text(Storage::csr, true) == "2 1 2\n1 1 0.1\n2 1 9.007199e+15\n");
}
