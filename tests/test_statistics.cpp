// The statistics of blocks that a file has of itself, or beside it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "dapple/dapple.h"
#include "lib/compute/block_tally.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/statistics.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/support.h"

namespace {

using namespace dapple;
using test::error_of, test::Rng, test::TempDir;

constexpr std::uint32_t kRows = 150, kCols = 200;
constexpr TileShape kTile{64, 64};

template <Value T>
T random_value(Rng& rng) {
  if (rng.chance(40)) return T{0};
  if (rng.chance(60)) return static_cast<T>(rng.below(100));
  if constexpr (std::is_floating_point_v<T>) {
    switch (rng.below(6)) {
      case 0:
        return std::numeric_limits<T>::quiet_NaN();
      case 1:
        return -T{0};
      case 2:
        return std::numeric_limits<T>::infinity();
      default:
        return static_cast<T>(static_cast<double>(rng.below(1000)) / 7 - 50);
    }
  } else {
    return static_cast<T>(rng.bits());
  }
}

template <Value T>
std::vector<T> random_cells(Rng& rng, std::size_t n) {
  std::vector<T> cells(n);
  for (T& cell : cells) cell = random_value<T>(rng);
  return cells;
}

/// Every tile by another door of the writer.
template <Value T>
void write_tiles(const std::filesystem::path& path, Rng& rng, WriteOptions options) {
  options.tile = kTile;
  MatrixWriter writer = MatrixWriter::create(path, kRows, kCols, value_type_of<T>(), options);
  unsigned door = 0;
  for (std::uint32_t row = 0; row < kRows; row += kTile.rows) {
    for (std::uint32_t col = 0; col < kCols; col += kTile.cols) {
      const std::uint32_t rows = std::min(kTile.rows, kRows - row);
      const std::uint32_t cols = std::min(kTile.cols, kCols - col);
      const auto cells = random_cells<T>(rng, std::size_t{rows} * cols);
      if (door++ % 3 == 0) {
        writer.template put<T>({row, col}, {cells.data(), rows, cols});
      } else {
        std::vector<Triplet<T>> entries;
        std::vector<std::uint64_t> row_ptr{0};
        std::vector<std::uint32_t> col_idx;
        std::vector<T> values;
        for (std::uint32_t r = 0; r < rows; ++r) {
          for (std::uint32_t c = 0; c < cols; ++c) {
            const T value = cells[r * cols + c];
            entries.push_back({r, c, value});
            if (value == 0) continue;
            col_idx.push_back(c);
            values.push_back(value);
          }
          row_ptr.push_back(values.size());
        }
        if (door % 3 == 0) {
          writer.template put<T>({row, col}, {rows, cols}, entries);
        } else {
          writer.template put<T>({row, col}, CsrRef<T>{rows, cols, row_ptr, col_idx, values});
        }
      }
    }
  }
  writer.finish();
}

std::shared_ptr<const detail::Store> store_of(const std::filesystem::path& path) {
  return Matrix::open(path).share();
}

/// A file whose tile (i, j) holds values from 10 * i + j on, up to 5 more.
template <Value T = std::uint16_t>
void write_rising(const std::filesystem::path& path, WriteOptions options = {}) {
  options.tile = kTile;
  options.narrow = false;
  auto writer = MatrixWriter::create(path, 256, 256, value_type_of<T>(), options);
  std::vector<T> cells(64 * 64);
  for (std::uint16_t i = 0; i < 4; ++i) {
    for (std::uint16_t j = 0; j < 4; ++j) {
      for (std::size_t k = 0; k < cells.size(); ++k) {
        cells[k] = static_cast<T>(10 * i + j + 1 + k % 5);
      }
      writer.template put<T>({i * 64U, j * 64U}, {cells.data(), 64, 64});
    }
  }
  writer.finish();
}

/// Changes the cells of a file, and nothing of what it says of them.
void spoil_cells(const std::filesystem::path& path) {
  constexpr std::uint64_t kHeader = 64;  // and a few cells
  auto bytes = test::read_bytes(path);
  const auto object = open(path);
  for (const BlockInfo& block : test::base(object).blocks()) {
    for (std::uint64_t i = kHeader; i < block.bytes; ++i) bytes[block.offset + i] = std::byte{0x5a};
  }
  test::write_bytes(path, bytes);
}

/// Where the table of a file is.
detail::dbdf::Hint hint_of(const std::filesystem::path& path) {
  const auto file = detail::LocalFile::open(path.string());
  std::uint64_t body = 0;
  detail::dbdf::read_header(*file, body);
  const auto trailer = detail::dbdf::find_trailer(*file, body);
  REQUIRE(trailer);
  const auto hint = detail::dbdf::find_hint(*file, body, *trailer, detail::dbdf::kStatisticsTag);
  REQUIRE(hint);
  return *hint;
}

/// Makes the hashes of a changed table right again.
void sign(std::vector<std::byte>& bytes, const detail::dbdf::Hint& hint) {
  using namespace detail::dbdf;
  const std::uint64_t end =
      hint.offset + detail::round_up(hint.bytes + kHintTrailer, kLine) - kHintTrailer;
  std::byte* const trailer = bytes.data() + end;
  detail::store_le(trailer + hint_at::hash, detail::xxh3({bytes.data() + hint.offset, hint.bytes}));
  detail::store_le(trailer + hint_at::own_hash, detail::xxh3({trailer, hint_at::own_hash}, end));
}

}  // namespace

TEST_CASE_TEMPLATE("statistics: those that are written are those of the values", T, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, float, double) {
  Rng rng(9);
  const TempDir dir;
  for (const KindChoice kind :
       {KindChoice::automatic, KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
    for (const bool narrow : {true, false}) {
      WriteOptions options;
      options.kind = kind;
      options.narrow = narrow;
      options.overwrite = true;
      write_tiles<T>(dir / "m.dbdf", rng, options);
      const auto store = store_of(dir / "m.dbdf");
      const auto* const known = store->block_stats();
      REQUIRE(known != nullptr);
      REQUIRE(known->size() == store->index().size());
      for (std::uint64_t i = 0; i < known->size(); ++i) {
        const detail::Entry entry = store->confirmed_entry(i);
        CHECK((*known)[i].agrees(detail::scan_block(*store, entry), entry.stored));
        if (entry.kind != BlockKind::empty) CHECK((*known)[i].type() == entry.value_type);
      }
      CHECK(verify(dir / "m.dbdf", Level::payload).findings.empty());
    }
  }
}

TEST_CASE("statistics: a search touches no block that they rule out") {
  const TempDir dir;
  write_rising(dir / "m.dbdf");
  auto bytes = test::read_bytes(dir / "m.dbdf");
  const BlockInfo last = test::block_info(dir / "m.dbdf", {192, 192});  // 34 to 38
  for (std::uint64_t i = 0; i < last.bytes; ++i) bytes[last.offset + i] = std::byte{0xff};
  const Matrix m = Matrix::open(dir.write("damaged.dbdf", bytes));
  const Matrix intact = Matrix::open(dir / "m.dbdf");
  CHECK(count_where(m, Condition::below(34)) == count_where(intact, Condition::below(34)));
  CHECK(count_where(m, Condition::equal(33)) == count_where(intact, Condition::equal(33)));
  CHECK(test::required_error(error_of([&] { count_where(m, Condition::above(36)); })).code() ==
        Errc::corrupt);
  CHECK(matrix_stats(m).max == 38);

  const auto verdicts = explain_where(intact, Condition::above(37));
  CHECK(std::count_if(verdicts.begin(), verdicts.end(), [](const BlockVerdict& v) {
          return v.skipped == Skipped::statistics;
        }) == 15);
}

TEST_CASE("statistics: of rows and columns of tiles") {
  const TempDir dir;
  write_rising(dir / "m.dbdf");
  const Matrix m = Matrix::open(dir / "m.dbdf");
  const auto rows = tile_row_stats(m), cols = tile_column_stats(m);
  REQUIRE(rows.size() == 4);
  REQUIRE(cols.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rows[i].min == 10.0 * static_cast<double>(i) + 1);
    CHECK(rows[i].max == 10.0 * static_cast<double>(i) + 8);
    CHECK(rows[i].count == 64 * 256);
    CHECK(rows[i].nnz == 64 * 256);
    CHECK(cols[i].min == static_cast<double>(i) + 1);
    CHECK(cols[i].max == 30 + static_cast<double>(i) + 5);
  }
  const auto all = row_stats(m);
  double sum = 0;
  for (std::size_t r = 0; r < 64; ++r) sum += all[r].sum;
  CHECK(rows[0].sum == sum);

  const Matrix one = Matrix::open(dir.write(
      "gap.dbdf",
      test::Image::matrix(2, 2, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, 2, {1, 2}).bytes()));
  CHECK(test::required_error(error_of([&] { tile_row_stats(one, {Absent::zero}); })).code() ==
        Errc::invalid_argument);
}

TEST_CASE("statistics: of all cells without a grid, and of columns, read none that are told") {
  const TempDir dir;
  write_rising(dir / "m.dbdf");
  WriteOptions options;
  options.tile = TileShape{100, 256};
  auto writer = MatrixWriter::create(dir / "low.dbdf", 130, 256, ValueType::u16, options);
  const std::vector<std::uint16_t> cells(130 * 256, 50);
  writer.put_region<std::uint16_t>({0, 0}, {cells.data(), 130, 256});
  writer.finish();
  dataset::append(dir / "set", Matrix::open(dir / "m.dbdf"));
  dataset::append(dir / "set", Matrix::open(dir / "low.dbdf"));
  // Columns that share no tile.
  const std::vector<Column> columns{
      {"n", ValueType::i32}, {"x", ValueType::f64}, {"k", ValueType::i32}};
  auto frame = FrameWriter::create(dir / "f.dbdf", 8192, columns, {.tile = TileShape{4096, 1}});
  std::vector<std::int32_t> n(8192);
  std::vector<double> x(8192);
  for (std::size_t i = 0; i < n.size(); ++i) {
    n[i] = static_cast<std::int32_t>(i) - 100;
    x[i] = i % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(i) / 4;
  }
  for (std::uint32_t row = 0; row < 8192; row += 4096) {
    frame.put<std::int32_t>({row, 0}, {n.data() + row, 4096, 1});
    frame.put<double>({row, 1}, {x.data() + row, 4096, 1});
    frame.put<std::int32_t>({row, 2}, {n.data() + row, 4096, 1});
  }
  frame.finish();

  const Stats whole = matrix_stats(Matrix::open(dir / "set"));
  const std::vector<Stats> of_columns = column_stats(Frame::open(dir / "f.dbdf"));
  CHECK(whole.count == 386 * 256);
  CHECK(whole.min == 1);
  CHECK(whole.max == 50);
  REQUIRE(of_columns.size() == 3);
  CHECK(of_columns[0].min == -100);
  CHECK(of_columns[0].sum == 8192.0 * 8191 / 2 - 8192 * 100);
  CHECK(of_columns[1].nans == 1171);
  CHECK(of_columns[1].max == 8191.0 / 4);
  CHECK(of_columns[2].variance() == of_columns[0].variance());

  // The same of what has other cells now.
  spoil_cells(dir / "f.dbdf");
  for (const auto& file : std::filesystem::directory_iterator(dir / "set")) {
    if (file.path().extension() == ".dbdf") spoil_cells(file.path());
  }
  const Frame spoilt = Frame::open(dir / "f.dbdf");
  CHECK(spoilt.read_column<double>(1, {300, 301})[0] > 1e9);
  const Matrix set = Matrix::open(dir / "set");
  CHECK(matrix_stats(set).sum == whole.sum);
  CHECK(count_where(set, Condition::below(1000)) == whole.count);
  CHECK(count_where(set, Condition::above(40)) == 130 * 256);
  for (std::size_t col = 0; col < 3; ++col) {
    CHECK(column_stats(spoilt)[col].sum == of_columns[col].sum);
    CHECK(column_stats(spoilt)[col].max == of_columns[col].max);
  }
}

TEST_CASE("statistics: none in plain files, nor where they would be much beside the blocks") {
  const TempDir dir;
  WriteOptions plain;
  plain.plain = true;
  write_rising(dir / "plain.dbdf", plain);
  CHECK(store_of(dir / "plain.dbdf")->block_stats() == nullptr);
  auto writer = MatrixWriter::create(dir / "small.dbdf", 8, 8, ValueType::u8);
  writer.finish();
  CHECK(store_of(dir / "small.dbdf")->block_stats() == nullptr);
}

TEST_CASE("statistics: beside a file that has none") {
  const TempDir dir;
  WriteOptions plain;
  plain.plain = true;
  write_rising(dir / "m.dbdf", plain);
  REQUIRE(write_sidecar(dir / "m.dbdf", {}, {.statistics = true, .threads = 2}));
  const auto store = store_of(dir / "m.dbdf");
  CHECK(store->index().origin() == IndexOrigin::sidecar);
  REQUIRE(store->block_stats() != nullptr);
  CHECK(count_where(Matrix::open(dir / "m.dbdf"), Condition::equal(38)) == 819);
  CHECK(verify(dir / "m.dbdf", Level::payload).findings.empty());
  REQUIRE(write_sidecar(dir / "m.dbdf"));
  CHECK(store_of(dir / "m.dbdf")->block_stats() == nullptr);

  // A file with an index of its own gets them only when it has none.
  write_rising(dir / "own.dbdf");
  CHECK(!write_sidecar(dir / "own.dbdf", {}, {.statistics = true}));
  auto writer = MatrixWriter::create(dir / "small.dbdf", 8, 8, ValueType::u8);
  writer.finish();
  REQUIRE(write_sidecar(dir / "small.dbdf", {}, {.statistics = true}));
  const auto small = store_of(dir / "small.dbdf");
  CHECK(small->index().origin() == IndexOrigin::embedded);
  CHECK(small->block_stats() != nullptr);
}

TEST_CASE("statistics: a damaged table is not used") {
  const TempDir dir;
  write_rising(dir / "m.dbdf");
  const detail::dbdf::Hint hint = hint_of(dir / "m.dbdf");
  const auto bytes = test::read_bytes(dir / "m.dbdf");
  const Stats want = matrix_stats(Matrix::open(dir / "m.dbdf"));
  for (std::uint64_t at = 0; at < hint.bytes; at += test::one_of(7)) {
    auto damaged = bytes;
    damaged[hint.offset + at] ^= std::byte{0x40};
    const auto path = dir.write("damaged.dbdf", damaged);
    REQUIRE(store_of(path)->block_stats() == nullptr);
    if (at % 64 != 0) continue;
    const Matrix m = Matrix::open(path);
    CHECK(matrix_stats(m).sum == want.sum);
    CHECK(count_where(m, Condition::equal(38)) == 819);
    CHECK(!verify(path, Level::payload).findings.empty());
  }
}

TEST_CASE("statistics: verify finds those that are forged") {
  const TempDir dir;
  const auto require_found = [&](std::initializer_list<std::size_t> changes) {
    const detail::dbdf::Hint hint = hint_of(dir / "m.dbdf");
    for (const std::size_t at : changes) {
      CAPTURE(at);
      auto bytes = test::read_bytes(dir / "m.dbdf");
      bytes[hint.offset + 64 + 5 * 64 + at] ^= std::byte{1};
      sign(bytes, hint);
      const auto path = dir.write("forged.dbdf", bytes);
      REQUIRE(store_of(path)->block_stats() != nullptr);
      CHECK(verify(path, Level::structure).findings.empty());
      const auto findings = verify(path, Level::payload).findings;
      REQUIRE(findings.size() == 1);
      CHECK(findings[0].detail() == "the statistics of block (64, 64) are not those of its values");
      CHECK(findings[0].offset() == hint.offset + 64 + 5 * 64);
    }
  };
  write_rising(dir / "m.dbdf");
  require_found({0, 8, 16, 24, 32, 40, 48, 56});
  write_rising<double>(dir / "m.dbdf", {.overwrite = true});
  require_found({0, 8, 16, 24, 36, 52});  // the last bits of sums depend on the order of addition
}

// Seen by the undefined-behaviour sanitizer.
TEST_CASE("statistics: forged sums do not overflow") {
  const TempDir dir;
  write_rising(dir / "m.dbdf");
  const detail::dbdf::Hint hint = hint_of(dir / "m.dbdf");
  auto bytes = test::read_bytes(dir / "m.dbdf");
  for (std::size_t line = 64; line < hint.bytes; line += 64) {
    const auto sums = bytes.begin() + static_cast<std::ptrdiff_t>(hint.offset + line + 32);
    std::fill_n(sums, 32, std::byte{0x7f});
  }
  sign(bytes, hint);
  const Matrix m = Matrix::open(dir.write("forged.dbdf", bytes));
  CHECK(matrix_stats(m).max == 38);
  CHECK(tile_row_stats(m, {.threads = 2}).back().max == 38);
  CHECK(tile_column_stats(m).size() > 1);
}

TEST_CASE("statistics: of another index are not used") {
  const TempDir dir;
  write_rising(dir / "m.dbdf");
  auto bytes = test::read_bytes(dir / "m.dbdf");
  const detail::dbdf::Hint hint = hint_of(dir / "m.dbdf");
  bytes[hint.offset + 24] ^= std::byte{1};  // the hash of the index
  sign(bytes, hint);
  const auto path = dir.write("other.dbdf", bytes);
  CHECK(store_of(path)->block_stats() == nullptr);
  CHECK(matrix_stats(Matrix::open(path)).max == 38);
}
