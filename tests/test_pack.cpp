// Writing packed files: cells, statistics and meanings are those of the plain file, and writing it
// again without packing gives every byte back.

#include <filesystem>
#include <string>
#include <vector>

#include "dapple/convert.h"
#include "dapple/open.h"
#include "dapple/packing.h"
#include "dapple/stats.h"
#include "dapple/verify.h"
#include "lib/cache/block_cache.h"
#include "lib/dbdf/header.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
namespace fs = std::filesystem;

namespace {

constexpr Packing kPackings[] = {Packing::fast, Packing::small};

WriteOptions options_of(Packing pack, KindChoice kind = KindChoice::automatic) {
  WriteOptions options;
  options.tile = TileShape{150, 90};
  options.kind = kind;
  options.pack = pack;
  return options;
}

/// Counts in one half, prices in the other, and minus zeros; tiles of every kind.
std::vector<double> some_cells(std::uint64_t rows, std::uint64_t cols) {
  test::Rng rng(11);
  std::vector<double> cells(rows * cols);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool prices = i % cols >= cols / 2;
    if (prices && rng.chance(90)) cells[i] = static_cast<double>(rng.below(90000)) / 100;
    if (!prices && rng.chance(15)) cells[i] = static_cast<double>(rng.below(5));
    if (rng.chance(1)) cells[i] = -0.0;
  }
  return cells;
}

void write_matrix(const fs::path& path, const WriteOptions& options, std::uint64_t rows = 400) {
  constexpr std::uint64_t cols = 240;
  const std::vector<double> cells = some_cells(rows, cols);
  auto writer = MatrixWriter::create(path, rows, cols, ValueType::f64, options);
  const TileShape tile = writer.tile();
  for (std::uint64_t r = 0; r < rows; r += tile.rows) {
    for (std::uint64_t c = 0; c < cols; c += tile.cols) {
      writer.put<double>(
          {r, c}, {cells.data() + r * cols + c,
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.rows, rows - r)),
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(tile.cols, cols - c)), cols});
    }
  }
  writer.finish();
}

std::uint64_t packed_blocks(const fs::path& path) {
  std::uint64_t n = 0;
  const Matrix matrix = Matrix::open(path);
  for (const BlockInfo& block : matrix.blocks()) {
    std::uint64_t plain = 0;
    REQUIRE(detail::dbdf::block_size(block.kind, block.rows, block.cols, block.value_type,
                                     block.stored, plain));
    n += block.bytes != plain ? 1U : 0U;
  }
  return n;
}

std::vector<std::byte> bytes_of(const std::vector<double>& values) {
  return test::list(std::as_bytes(std::span(values)));
}

}  // namespace

TEST_CASE("pack: a matrix is smaller, has the same cells, and comes back byte for byte") {
  for (const KindChoice kind :
       {KindChoice::automatic, KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
    const test::TempDir dir;
    write_matrix(dir / "plain.dbdf", options_of(Packing::none, kind));
    const Region all{{0, 400}, {0, 240}};
    const auto cells = bytes_of(Matrix::open(dir / "plain.dbdf").read<double>(all));
    CHECK(cells == bytes_of(some_cells(400, 240)));
    CHECK(packed_blocks(dir / "plain.dbdf") == 0);
    ConvertOptions again;
    again.write = options_of(Packing::none, kind);
    again.write.overwrite = true;
    convert(open(dir / "plain.dbdf"), {}, dir / "again.dbdf", again);
    for (const Packing pack : kPackings) {
      const fs::path packed = dir / (pack == Packing::fast ? "fast.dbdf" : "small.dbdf");
      write_matrix(packed, options_of(pack, kind));
      CHECK(packed_blocks(packed) == 9);
      CHECK(fs::file_size(packed) < fs::file_size(dir / "plain.dbdf") * 2 / 3);
      const Matrix m = Matrix::open(packed);
      CHECK(bytes_of(m.read<double>(all)) == cells);
      CHECK(matrix_stats(m).sum == matrix_stats(Matrix::open(dir / "plain.dbdf")).sum);
      CHECK(verify(packed, Level::payload).findings.empty());
      convert(open(packed), {}, dir / "back.dbdf", again);
      CHECK(test::read_bytes(dir / "back.dbdf") == test::read_bytes(dir / "again.dbdf"));
    }
  }
}

TEST_CASE("pack: blocks of more than a mebibyte, of rows and of a part of the caller's array") {
  const test::TempDir dir;
  constexpr std::uint64_t rows = 1200;
  const auto cells = bytes_of(some_cells(rows, 240));
  for (const KindChoice kind : {KindChoice::dense, KindChoice::csr, KindChoice::coo}) {
    WriteOptions options = options_of(Packing::none, kind);
    options.tile = TileShape{rows, 120};
    options.overwrite = true;
    write_matrix(dir / "plain.dbdf", options, rows);
    CHECK(fs::file_size(dir / "plain.dbdf") > std::uint64_t{1} << 20);
    options.pack = Packing::small;
    write_matrix(dir / "packed.dbdf", options, rows);
    CHECK(packed_blocks(dir / "packed.dbdf") == 2);
    CHECK(verify(dir / "packed.dbdf", Level::payload).findings.empty());
    const Matrix m = Matrix::open(dir / "packed.dbdf");
    CHECK(bytes_of(m.read<double>({{0, rows}, {0, 240}})) == cells);
    ConvertOptions again;
    again.write = options;
    again.write.pack = Packing::none;
    convert(open(dir / "packed.dbdf"), {}, dir / "back.dbdf", again);
    convert(open(dir / "plain.dbdf"), {}, dir / "again.dbdf", again);
    CHECK(test::read_bytes(dir / "back.dbdf") == test::read_bytes(dir / "again.dbdf"));
  }
}

TEST_CASE("pack: what does not shrink stays plain, and is used in place") {
  const test::TempDir dir;
  test::Rng rng(1);
  std::vector<std::uint64_t> cells(100 * 100);
  for (std::uint64_t& cell : cells) cell = rng.bits();
  WriteOptions options;
  options.pack = Packing::small;
  options.tile = TileShape{100, 100};
  auto writer = MatrixWriter::create(dir / "m.dbdf", 100, 200, ValueType::u64, options);
  writer.put<std::uint64_t>({0, 0}, {cells.data(), 100, 100});
  writer.put_empty({0, 100}, {100, 100});
  writer.finish();
  CHECK(packed_blocks(dir / "m.dbdf") == 0);
  const Matrix m = Matrix::open(dir / "m.dbdf");
  CHECK(m.block({0, 0}).cells<std::uint64_t>(Copy::forbidden).is_view());
  CHECK(m.read<std::uint64_t>({{0, 100}, {0, 100}}) == cells);
}

TEST_CASE("pack: rows are appended to packed files, packed or not") {
  const test::TempDir dir;
  write_matrix(dir / "more.dbdf", options_of(Packing::none));
  const auto cells = bytes_of(some_cells(400, 240));
  for (const Packing pack : {Packing::none, Packing::fast}) {
    const fs::path path = dir / (pack == Packing::none ? "a.dbdf" : "b.dbdf");
    write_matrix(path, options_of(Packing::small));
    ConvertOptions options;
    options.write.pack = pack;
    append(path, open(dir / "more.dbdf"), options);
    const Matrix m = Matrix::open(path);
    REQUIRE(m.rows() == 800);
    CHECK(bytes_of(m.read<double>({{0, 400}, {0, 240}})) == cells);
    CHECK(bytes_of(m.read<double>({{400, 800}, {0, 240}})) == cells);
    CHECK(packed_blocks(path) > 0);
    // The last strip, which was a part of one, is written again with the rows.
    CHECK((packed_blocks(path) == 6) == (pack == Packing::none));
    CHECK(verify(path, Level::payload).findings.empty());
  }
}

TEST_CASE("pack: repair keeps packed blocks, packs plain ones, or makes them plain") {
  const test::TempDir dir;
  write_matrix(dir / "plain.dbdf", options_of(Packing::none));
  write_matrix(dir / "packed.dbdf", options_of(Packing::fast));
  const auto cells = bytes_of(some_cells(400, 240));
  const auto repaired = [&](const char* from, Packing pack, bool plain) {
    WriteOptions options;
    options.pack = pack;
    options.plain = plain;
    options.overwrite = true;
    CHECK(repair(dir / from, dir / "out.dbdf", options).lost.empty());
    CHECK(bytes_of(Matrix::open(dir / "out.dbdf").read<double>({{0, 400}, {0, 240}})) == cells);
    return packed_blocks(dir / "out.dbdf");
  };
  CHECK(repaired("packed.dbdf", Packing::none, false) == 9);
  CHECK(repaired("packed.dbdf", Packing::none, true) == 0);
  CHECK(repaired("plain.dbdf", Packing::fast, false) == 9);
}

TEST_CASE("pack: frames keep their words, and several threads write the same file") {
  const test::TempDir dir;
  std::string csv = "city,size,price\n";
  test::Rng rng(4);
  for (int i = 0; i < 5000; ++i) {
    csv += (rng.chance(50) ? "Graz," : "Linz,") + std::to_string(rng.below(1000)) + "," +
           std::to_string(static_cast<double>(rng.below(9999)) / 100) + "\n";
  }
  test::write_text(dir / "t.csv", csv);
  ConvertOptions options;
  options.write.pack = Packing::fast;
  options.write.tile = TileShape{1000, 3};
  convert(open(dir / "t.csv"), {}, dir / "one.dbdf", options);
  options.threads = 4;
  convert(open(dir / "t.csv"), {}, dir / "four.dbdf", options);
  CHECK(test::read_bytes(dir / "one.dbdf") == test::read_bytes(dir / "four.dbdf"));
  convert(open(dir / "one.dbdf"), {}, dir / "back.csv", {});
  convert(open(dir / "t.csv"), {}, dir / "once.csv", {});
  CHECK(test::read_text(dir / "back.csv") == test::read_text(dir / "once.csv"));
}

TEST_CASE("pack: a plain file with packed blocks is refused") {
  const test::TempDir dir;
  WriteOptions options = options_of(Packing::fast);
  options.plain = true;
  CHECK_THROWS_AS(write_matrix(dir / "m.dbdf", options), Error);
  CHECK(dir.names().empty());
}

TEST_CASE("pack: much that is read at once is decoded some rows at a time, and not kept") {
  constexpr std::uint64_t kRows = 2100, kCols = 1100;
  const test::TempDir dir;
  std::vector<std::int32_t> cells(kRows * kCols);
  test::Rng rng(9);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = static_cast<std::int32_t>(i / 7 + rng.below(i % kCols < 300 ? 3 : 100'000));
  }
  for (const Packing pack : {Packing::fast, Packing::small}) {
    // Tiles of fewer than eight rows are decoded whole, as are those of rows that are large.
    for (const TileShape tile : {TileShape{300, 170}, TileShape{5, 1100}, TileShape{2100, 1}}) {
      WriteOptions options = options_of(pack);
      options.tile = tile;
      options.narrow = options.sync = false;
      options.overwrite = true;
      auto writer = MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::i32, options);
      writer.put_region<std::int32_t>({0, 0}, {cells.data(), kRows, kCols, kCols});
      writer.finish();
      const Matrix m = Matrix::open(dir / "m.dbdf");
      REQUIRE(fs::file_size(dir / "m.dbdf") < cells.size() * 3);
      const std::uint64_t kept = detail::block_cache().bytes();
      const Region region{{3, kRows}, {2, kCols - 1}};
      const auto wide = m.read<std::int64_t>(region);
      bool same = true;
      for (std::uint64_t r = 3; r < kRows; ++r) {
        for (std::uint64_t c = 2; c < kCols - 1; ++c) {
          same = same && wide[(r - 3) * (kCols - 3) + c - 2] == cells[r * kCols + c];
        }
      }
      CHECK(same);
      if (tile.rows >= 8 && !m.share()->blocks().fetches()) {
        CHECK(detail::block_cache().bytes() == kept);
      }
    }
  }
}

TEST_CASE("pack: a small object is measured, and a large one estimated from a sample") {
  const test::TempDir dir;
  write_matrix(dir / "m.dbdf", options_of(Packing::none));
  const auto size_as = [&](const std::variant<Matrix, Frame>& object, Packing pack) {
    ConvertOptions options;
    options.write.pack = pack;
    options.write.overwrite = true;
    convert(object, {}, dir / "out.dbdf", options);
    return fs::file_size(dir / "out.dbdf");
  };
  const auto small = open(dir / "m.dbdf");
  const PackingEstimate found = estimate_packing(small);
  CHECK(!found.sampled);
  CHECK(found.plain == size_as(small, Packing::none));
  CHECK(found.fast == size_as(small, Packing::fast));
  CHECK(found.small == size_as(small, Packing::small));
  // 36 MB of cells, of which rows further down have more bits.
  std::vector<double> cells(3000 * 1500);
  test::Rng rng(8);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = static_cast<double>(rng.below(2 + i / 1000)) / 4;
  }
  auto writer = MatrixWriter::create(dir / "l.dbdf", 3000, 1500, ValueType::f64,
                                     {.tile = TileShape{3000, 1500}, .narrow = false});
  writer.put<double>({0, 0}, {cells.data(), 3000, 1500, 1500});
  writer.finish();
  const auto large = open(dir / "l.dbdf");
  const PackingEstimate guess = estimate_packing(large);
  CHECK(guess.sampled);
  const auto near = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) < 1.1 * static_cast<double>(b) &&
           static_cast<double>(b) < 1.1 * static_cast<double>(a);
  };
  CHECK(near(guess.plain, size_as(large, Packing::none)));
  CHECK(near(guess.fast, size_as(large, Packing::fast)));
  CHECK(near(guess.small, size_as(large, Packing::small)));
  // What is stored decides, not what the header says of the storage.
  MatrixWriter::create(dir / "e.dbdf", 1U << 30, 1U << 30, ValueType::f64,
                       {.tile = TileShape{1U << 31, 1U << 31}})
      .finish();
  const auto empty = open(dir / "e.dbdf");
  CHECK(estimate_packing(empty).plain == size_as(empty, Packing::none));
  CHECK(dir.names() == std::vector<std::string>{"e.dbdf", "l.dbdf", "m.dbdf", "out.dbdf"});
}
