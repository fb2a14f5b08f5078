// The row counts of CSR blocks that a file stores (lib/dbdf/FORMAT.md, "Row directory").

#include <algorithm>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/row_directory.h"
#include "lib/io/hash.h"
#include "lib/io/local/local_file.h"
#include "lib/object/row_access.h"
#include "lib/rows/row_stream.h"
#include "tests/check.h"
#include "tests/support.h"

namespace {

using namespace dapple;
using test::error_of, test::Rng, test::TempDir;

/// Entries of each row of a block; every `skew`-th row may be full.
std::vector<Triplet<std::uint16_t>> random_row_entries(Rng& rng, TileShape shape, unsigned per_row,
                                                       unsigned skew) {
  std::vector<Triplet<std::uint16_t>> entries;
  for (std::uint32_t row = 0; row < shape.rows; ++row) {
    const bool full = skew != 0 && row % skew == 0;
    const std::uint64_t n = full ? shape.cols : rng.below(2 * per_row + 1);
    for (std::uint32_t col = 0; col < shape.cols; ++col) {
      if (rng.below(shape.cols) >= n) continue;
      entries.push_back({row, col, static_cast<std::uint16_t>(rng.below(65535) + 1)});
    }
  }
  return entries;
}

struct RowBlocks {
  std::uint64_t rows, cols;
  TileShape tile;
  unsigned per_row, skew;
};

void write_row_blocks(const std::filesystem::path& path, Rng& rng, const RowBlocks& shape,
                      WriteOptions options = {}) {
  options.tile = shape.tile;
  options.kind = KindChoice::csr;
  options.overwrite = true;
  auto writer =
      MatrixWriter::create(path, shape.rows, shape.cols, ValueType::u16, options, Storage::csr);
  for (std::uint64_t row = 0; row < shape.rows; row += shape.tile.rows) {
    for (std::uint64_t col = 0; col < shape.cols; col += shape.tile.cols) {
      const TileShape tile{
          static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.tile.rows, shape.rows - row)),
          static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.tile.cols, shape.cols - col))};
      const auto entries = random_row_entries(rng, tile, shape.per_row, shape.skew);
      writer.put<std::uint16_t>({row, col}, tile, entries);
    }
  }
  writer.finish();
}

std::shared_ptr<const detail::Store> opened_store(const std::filesystem::path& path,
                                                  OpenOptions options = {}) {
  return Matrix::open(path, options).share();
}

detail::dbdf::Hint directory_of(const std::filesystem::path& path) {
  const auto file = detail::LocalFile::open(path.string());
  std::uint64_t body = 0;
  detail::dbdf::read_header(*file, body);
  const auto trailer = detail::dbdf::find_trailer(*file, body);
  REQUIRE(trailer);
  const auto hint = detail::dbdf::find_hint(*file, body, *trailer, detail::dbdf::kRowsTag);
  REQUIRE(hint);
  return *hint;
}

/// Makes the hashes of the hint right again, and those of the counts of a file with one block.
void sign_directory(std::vector<std::byte>& bytes, const detail::dbdf::Hint& hint,
                    std::uint64_t block_hash) {
  using namespace detail::dbdf;
  std::byte* const record = bytes.data() + hint.offset + kLine;
  const auto start = detail::load_le<std::uint64_t>(record + 8);
  detail::store_le(record + 16, detail::xxh3({bytes.data() + hint.offset + start,
                                              static_cast<std::size_t>(hint.bytes - start)},
                                             block_hash));
  const std::uint64_t end =
      hint.offset + detail::round_up(hint.bytes + kHintTrailer, kLine) - kHintTrailer;
  std::byte* const trailer = bytes.data() + end;
  detail::store_le(trailer + hint_at::hash, detail::xxh3({bytes.data() + hint.offset, hint.bytes}));
  detail::store_le(trailer + hint_at::own_hash, detail::xxh3({trailer, hint_at::own_hash}, end));
}

/// Rows of every kind of list, and single rows, are those of a read from the first row on, which
/// needs no directory.
void check_random_rows(const Matrix& m, Rng& rng) {
  std::vector<std::uint64_t> rows(100);
  for (auto& row : rows) row = rng.below(m.rows());
  const auto all = m.read<std::uint16_t>({{0, m.rows()}, {0, m.cols()}});
  Csr<std::uint16_t> found;
  gather_csr(m, rows, found);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::span cells(all.data() + rows[k] * m.cols(), m.cols());
    const Region row{{rows[k], rows[k] + 1}, {0, m.cols()}};
    REQUIRE(std::ranges::equal(m.read<std::uint16_t>(row), cells));
    const std::size_t col = k % m.cols();
    const Region cell{row.rows, {col, col + 1}};
    REQUIRE(m.read<std::uint16_t>(cell) == std::vector{cells[col]});
    const auto csr = m.read_csr<std::uint16_t>(row);
    std::uint64_t at = found.row_ptr[k];
    REQUIRE(csr.values.size() == found.row_ptr[k + 1] - at);
    REQUIRE(std::equal(csr.values.begin(), csr.values.end(), found.values.begin() + at));
    for (std::uint64_t c = 0; c < m.cols(); ++c) {
      if (cells[c] == 0) continue;
      REQUIRE(at < found.row_ptr[k + 1]);
      REQUIRE(found.col_idx[at] == c);
      REQUIRE(found.values[at++] == cells[c]);
    }
    REQUIRE(at == found.row_ptr[k + 1]);
  }
}

constexpr RowBlocks kOneRowBlock{400, 300, {400, 300}, 30, 0};

}  // namespace

TEST_CASE("row directory: counts are those of a walk, whatever the rows are like") {
  Rng rng(41);
  const TempDir dir;
  const RowBlocks shapes[] = {
      {400, 300, {400, 300}, 30, 0},    // a byte a row
      {400, 600, {400, 600}, 20, 50},   // two bytes a row
      {5000, 40, {5000, 40}, 2, 0},     // several rows a count
      {9001, 20, {9001, 20}, 1, 1000},  // and a last group that is shorter
      {700, 900, {256, 256}, 40, 0},    // several blocks, some too small
  };
  for (const RowBlocks& shape : shapes) {
    CAPTURE(shape.rows);
    CAPTURE(shape.cols);
    write_row_blocks(dir / "m.dbdf", rng, shape);
    const auto store = opened_store(dir / "m.dbdf");
    REQUIRE(store->row_counts() != nullptr);
    std::size_t listed = 0;
    for (std::uint64_t number = 0; number < store->index().size(); ++number) {
      const detail::Entry entry = store->confirmed_entry(number);
      const auto counts = store->row_counts()->find(number, entry);
      CHECK(counts.has_value() == (entry.bytes >= 16 << 10));
      if (!counts) continue;
      ++listed;
      CHECK(counts->bytes.size() + 24 <= entry.bytes / 32);
      const auto stored = detail::RowDirectory::from(*counts, entry, 1 << 20);
      REQUIRE(stored);
      const detail::RowDirectory walked(detail::BlockRows(*store, entry), 1 << 20);
      for (std::uint64_t row = 0; row < entry.rows; ++row) {
        detail::RowCursor a = stored->cursor(row), b = walked.cursor(row);
        REQUIRE(a.row <= row);
        REQUIRE(row - a.row < 8);
        store->driver().skip_rows(*store, entry, row, a);
        store->driver().skip_rows(*store, entry, row, b);
        REQUIRE(a.entries == b.entries);
      }
    }
    CHECK(listed > 0);
    CHECK(verify(dir / "m.dbdf", Level::payload).findings.empty());
    check_random_rows(Matrix::open(dir / "m.dbdf"), rng);
  }
}

TEST_CASE("row directory: none in plain files, nor of small blocks or where hashes are checked") {
  Rng rng(42);
  const TempDir dir;
  WriteOptions plain;
  plain.plain = true;
  write_row_blocks(dir / "plain.dbdf", rng, kOneRowBlock, plain);
  CHECK(opened_store(dir / "plain.dbdf")->row_counts() == nullptr);
  write_row_blocks(dir / "small.dbdf", rng, {400, 300, {64, 64}, 10, 0});
  CHECK(opened_store(dir / "small.dbdf")->row_counts() == nullptr);
  write_row_blocks(dir / "m.dbdf", rng, kOneRowBlock);
  for (const Check check : {Check::never, Check::first_touch, Check::always}) {
    const auto store = opened_store(dir / "m.dbdf", {.check = check});
    CHECK(store->row_access().load(0)->stored_directory == (check == Check::never));
  }
}

TEST_CASE("row directory: a first row is found without a look at the rows before it") {
  Rng rng(43);
  const TempDir dir;
  write_row_blocks(dir / "m.dbdf", rng, kOneRowBlock);
  const Matrix intact = Matrix::open(dir / "m.dbdf");
  const BlockInfo block = test::block_info(dir / "m.dbdf", {0, 0});
  auto bytes = test::read_bytes(dir / "m.dbdf");
  // The first row's count; the block's header stays.
  bytes[block.offset + 18] = std::byte{0xff};
  bytes[block.offset + 21] = std::byte{0xff};
  const Matrix m = Matrix::open(dir.write("damaged.dbdf", bytes));
  const std::vector<std::uint64_t> last{399}, first{0};
  Csr<std::uint16_t> want, found;
  gather_csr(intact, last, want);
  gather_csr(m, last, found);
  CHECK(found.col_idx == want.col_idx);
  CHECK(found.values == want.values);
  CHECK(test::required_error(error_of([&] { gather_csr(m, first, found); })).code() ==
        Errc::corrupt);
}

TEST_CASE("row directory: a damaged one is not used") {
  Rng rng(44);
  const TempDir dir;
  write_row_blocks(dir / "m.dbdf", rng, kOneRowBlock);
  const detail::dbdf::Hint hint = directory_of(dir / "m.dbdf");
  const auto bytes = test::read_bytes(dir / "m.dbdf");
  for (std::uint64_t at = 0; at < hint.bytes; ++at) {
    if (at >= 24 && at < 64) continue;  // nothing is there yet
    auto damaged = bytes;
    damaged[hint.offset + at] ^= std::byte{0x41};
    const auto path = dir.write("damaged.dbdf", damaged);
    const auto store = opened_store(path);
    if (at >= 8) REQUIRE(!store->row_access().load(0)->stored_directory);
    check_random_rows(Matrix::open(path), rng);
    if (at % 16 == 0) CHECK(!verify(path, Level::payload).findings.empty());
  }
}

TEST_CASE("row directory: a forged one leads to an error, and verify finds it") {
  Rng rng(45);
  const TempDir dir;
  write_row_blocks(dir / "m.dbdf", rng, kOneRowBlock);
  const detail::dbdf::Hint hint = directory_of(dir / "m.dbdf");
  const std::uint64_t block_hash = opened_store(dir / "m.dbdf")->confirmed_entry(0).hash;
  const auto bytes = test::read_bytes(dir / "m.dbdf");
  const std::size_t counts = hint.offset + 64 + 24;
  const Matrix intact = Matrix::open(dir / "m.dbdf", {.check = Check::first_touch});
  for (const std::size_t from : {std::size_t{0}, std::size_t{7}, std::size_t{200}}) {
    std::size_t row = from;
    while (bytes[counts + row + 1] == std::byte{0}) ++row;
    auto forged = bytes;
    // One entry more in a row, one less in the next.
    forged[counts + row] = std::byte(std::to_integer<unsigned>(forged[counts + row]) + 1);
    forged[counts + row + 1] = std::byte(std::to_integer<unsigned>(forged[counts + row + 1]) - 1);
    sign_directory(forged, hint, block_hash);
    const auto path = dir.write("forged.dbdf", forged);
    REQUIRE(opened_store(path)->row_access().load(0)->stored_directory);
    const Matrix m = Matrix::open(path);
    std::vector<double> cells(m.cols());
    Csr<std::uint16_t> csr;
    for (const std::uint64_t wrong : {row, row + 1}) {
      const std::vector<std::uint64_t> list{wrong};
      const auto error = test::required_error(error_of([&] { gather_csr(m, list, csr); }));
      CHECK(error.code() == Errc::corrupt);
      CHECK(error.detail() ==
            "the row directory of block (0, 0) is not that of its rows; repair the file to renew "
            "it");
      CHECK(test::required_error(error_of([&] { gather_rows<double>(m, list, cells); })).detail() ==
            error.detail());
      // A read walks, then.
      const Region one{{wrong, wrong + 1}, {0, m.cols()}};
      CHECK(m.read<double>(one) == intact.read<double>(one));
    }
    // The others are where they were.
    gather_csr(m, std::vector<std::uint64_t>{row + 2, 399}, csr);
    const Matrix checked = Matrix::open(path, {.check = Check::first_touch});
    check_random_rows(checked, rng);
    CHECK(verify(path, Level::structure).findings.empty());
    const auto findings = verify(path, Level::payload).findings;
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].detail() == "the row directory of block (0, 0) is not that of its rows");
  }
  // Counts that do not add up are not used.
  auto forged = bytes;
  forged[counts] = std::byte(std::to_integer<unsigned>(forged[counts]) + 1);
  sign_directory(forged, hint, block_hash);
  const auto path = dir.write("forged.dbdf", forged);
  CHECK(!opened_store(path)->row_access().load(0)->stored_directory);
  check_random_rows(Matrix::open(path), rng);
  const Region all{{0, intact.rows()}, {0, intact.cols()}};
  CHECK(Matrix::open(path).read_csr<std::uint16_t>(all).values ==
        intact.read_csr<std::uint16_t>(all).values);
}

TEST_CASE("row directory: rows in order that are not where a forged one has them are an error") {
  Rng rng(48);
  const TempDir dir;
  constexpr std::uint64_t kRows = 4000;  // some bands
  write_row_blocks(dir / "m.dbdf", rng, {kRows, 300, {kRows, 300}, 30, 0});
  const detail::dbdf::Hint hint = directory_of(dir / "m.dbdf");
  const std::uint64_t block_hash = opened_store(dir / "m.dbdf")->confirmed_entry(0).hash;
  auto bytes = test::read_bytes(dir / "m.dbdf");
  const auto counts = std::span(bytes).subspan(hint.offset + 64 + 24, kRows);
  std::reverse(counts.begin(), counts.end());
  sign_directory(bytes, hint, block_hash);
  const auto path = dir.write("forged.dbdf", bytes);
  const Matrix m = Matrix::open(path), intact = Matrix::open(dir / "m.dbdf");
  const Region all{{0, kRows}, {0, 300}};
  for (const unsigned threads : {1, 2}) {
    if (opened_store(path)->blocks().fetches()) {  // blocks in memory are walked over
      CHECK(m.read_csr<std::uint16_t>(all, {.threads = threads}).values ==
            intact.read_csr<std::uint16_t>(all).values);
      continue;
    }
    const auto error = error_of([&] { m.read_csr<std::uint16_t>(all, {.threads = threads}); });
    CHECK(test::required_error(error).code() == Errc::corrupt);
  }
}

TEST_CASE("row directory: a forged one that has rows end above where they begin is an error") {
  const TempDir dir;
  constexpr std::uint32_t kRows = 16384, kEach = 3;  // three bands of 5461 rows, counted by two
  std::vector<Triplet<std::uint8_t>> entries;
  for (std::uint32_t row = 0; row < kRows; ++row) {
    for (std::uint32_t k = 0; k < kEach; ++k) {
      entries.push_back({row, 7 * k + row % 5, std::uint8_t{1}});
    }
  }
  WriteOptions options;
  options.tile = TileShape{kRows, 100};
  options.kind = KindChoice::csr;
  auto writer = MatrixWriter::create(dir / "m.dbdf", kRows, 100, ValueType::u8, options);
  writer.put<std::uint8_t>({0, 0}, {kRows, 100}, entries);
  writer.finish();
  const auto store = opened_store(dir / "m.dbdf");
  REQUIRE(store->row_counts()->find(0, store->confirmed_entry(0))->shift == 1);
  const detail::dbdf::Hint hint = directory_of(dir / "m.dbdf");
  const std::uint64_t block_hash = store->confirmed_entry(0).hash;
  auto bytes = test::read_bytes(dir / "m.dbdf");
  // The sum stays. The first band ends in the middle of what the first wrong count is of.
  const auto counts = std::span(bytes).subspan(hint.offset + 64 + 24, kRows / 2);
  for (std::size_t i = 2730; i < 5461; ++i) counts[i] = std::byte{0};
  for (std::size_t i = 5461; i < 8192; ++i) counts[i] = std::byte{4 * kEach};
  sign_directory(bytes, hint, block_hash);
  const auto path = dir.write("forged.dbdf", bytes);
  const auto forged = opened_store(path);
  if (forged->blocks().fetches()) return;  // blocks in memory are walked over
  const Matrix m = Matrix::open(path);
  const Region all{{0, kRows}, {0, 100}};
  const auto whole = error_of([&] { m.read_csr<std::uint8_t>(all); });
  CHECK(test::required_error(whole).code() == Errc::corrupt);
  // Before any memory is taken for what would be 2^64 - 3 entries.
  detail::RowStream stream(*forged, all, ValueType::u8, Absent::error);
  detail::RowBand band;
  REQUIRE(stream.next(band));
  CHECK(test::required_error(error_of([&] { stream.next(band); })).code() == Errc::corrupt);
  Csr<std::uint8_t> columns;
  const std::vector<std::uint64_t> few{7, 9};
  const auto error = error_of([&] { gather_columns(m, few, columns); });
  CHECK(test::required_error(error).code() == Errc::corrupt);
}

TEST_CASE("row directory: appending keeps the counts of the blocks that stay") {
  Rng rng(46);
  const TempDir dir;
  write_row_blocks(dir / "m.dbdf", rng, {800, 300, {400, 300}, 30, 0});
  write_row_blocks(dir / "more.dbdf", rng, kOneRowBlock);
  append(dir / "m.dbdf", open(dir / "more.dbdf"), {});
  const auto store = opened_store(dir / "m.dbdf");
  REQUIRE(store->index().size() == 3);
  for (std::uint64_t number = 0; number < 3; ++number) {
    CHECK(store->row_access().load(number)->stored_directory);
  }
  CHECK(verify(dir / "m.dbdf", Level::payload).findings.empty());
  check_random_rows(Matrix::open(dir / "m.dbdf"), rng);
}

TEST_CASE("row directory: little memory makes the kept positions coarser") {
  Rng rng(47);
  const TempDir dir;
  write_row_blocks(dir / "m.dbdf", rng, {9001, 20, {9001, 20}, 4, 0});
  const auto store = opened_store(dir / "m.dbdf");
  const detail::Entry entry = store->confirmed_entry(0);
  const auto counts = store->row_counts()->find(0, entry);
  REQUIRE(counts);
  const auto few = detail::RowDirectory::from(*counts, entry, 1000);
  const detail::RowDirectory walked(detail::BlockRows(*store, entry), 1000);
  REQUIRE(few);
  CHECK(few->bytes() <= 1000);
  CHECK(walked.bytes() <= 1000);
  for (std::uint64_t row = 0; row < entry.rows; ++row) {
    detail::RowCursor a = few->cursor(row), b{};
    REQUIRE(walked.cursor(row).entries == a.entries);
    store->driver().skip_rows(*store, entry, a.row, b);
    REQUIRE(a.entries == b.entries);
  }
}
