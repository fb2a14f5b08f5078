// How much of a file is fetched. The counts hold in the mode without maps (tests/modes); the
// answers in every one.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "dapple/gather.h"
#include "dapple/stats.h"
#include "dapple/where.h"
#include "dapple/where_rows.h"
#include "dapple/writer.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/modes/ranged_file.h"
#include "tests/support.h"

using namespace dapple;

namespace {

constexpr std::uint32_t kSide = 4096;  // 64 MiB of f32, in 121 tiles of 384 x 384

std::filesystem::path large_matrix(const test::TempDir& dir) {
  const auto path = dir / "m.dbdf";
  auto writer = MatrixWriter::create(path, kSide, kSide, ValueType::f32,
                                     {.tile = TileShape{384, 384}, .narrow = false});
  std::vector<float> cells(std::size_t{384} * kSide);
  for (std::uint32_t row = 0; row < kSide; row += 384) {
    const std::uint32_t rows = std::min(384u, kSide - row);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i] = static_cast<float>(i % 1000) + static_cast<float>(row) + 0.25f;
    }
    for (std::uint32_t col = 0; col < kSide; col += 384) {
      const std::uint32_t cols = std::min(384u, kSide - col);
      writer.put<float>({row, col}, {cells.data() + col, rows, cols, kSide});
    }
  }
  writer.finish();
  return path;
}

/// What was fetched since this was made.
struct Fetched {
  const test::RangedFile* file;  // null where files have maps
  std::uint64_t fetches, requests, bytes;

  explicit Fetched(const Matrix& matrix)
      : file(dynamic_cast<const test::RangedFile*>(&matrix.store().file())),
        fetches(file != nullptr ? file->fetches_made() : 0),
        requests(file != nullptr ? file->requests() : 0),
        bytes(file != nullptr ? file->bytes_fetched() : 0) {}
  void require(std::uint64_t most_fetches, std::uint64_t most_requests,
               std::uint64_t most_bytes) const {
    if (file == nullptr) return;
    CHECK(file->fetches_made() - fetches <= most_fetches);
    CHECK(file->requests() - requests <= most_requests);
    CHECK(file->bytes_fetched() - bytes <= most_bytes);
  }
};

}  // namespace

TEST_CASE("requests: opening and what statistics answer fetch kilobytes of a large file") {
  const test::TempDir dir;
  const auto path = large_matrix(dir);
  const Matrix matrix = Matrix::open(path);
  if (const Fetched all(matrix); all.file != nullptr) {
    CHECK(all.requests <= 2);
    CHECK(all.bytes <= 16 << 10);
  }
  {
    const Fetched fetched(matrix);
    CHECK(matrix_stats(matrix).max == 999.25 + 3840);
    fetched.require(4, 4, 48 << 10);
  }
  const Fetched fetched(matrix);
  CHECK(count_where(matrix, Condition::above(1e6)) == 0);
  fetched.require(3, 3, 32 << 10);
}

TEST_CASE("requests: a region is fetched at once, a tile again from memory") {
  const test::TempDir dir;
  const Matrix matrix = Matrix::open(large_matrix(dir));
  constexpr std::uint64_t kTile = 384 * 384 * 4;
  {
    const Fetched fetched(matrix);
    const auto cells = matrix.read<float>({{400, 1500}, {400, 1500}});  // of nine tiles
    CHECK(cells[0] == static_cast<float>((16 * kSide + 400) % 1000) + 384.25f);
    fetched.require(3, 8, 10 * kTile);
  }
  const Fetched fetched(matrix);
  CHECK(matrix.read<float>({{700, 701}, {700, 701}})[0] ==
        static_cast<float>((316 * kSide + 700) % 1000) + 384.25f);
  fetched.require(0, 0, 0);
}

TEST_CASE("requests: what is read once comes straight into place, and no more of it") {
  const test::TempDir dir;
  const Matrix matrix = Matrix::open(large_matrix(dir));
  const Region region{{100, 3900}, {7, 4090}};
  const std::size_t stride = region.cols.size() + 3;
  std::vector<float> cells(region.rows.size() * stride, -1);
  for (int run = 0; run < 2; ++run) {
    const Fetched fetched(matrix);
    matrix.read<float>(region, cells, stride, {.keep = false});
    // At first the index, too. The first and last rows of eleven tiles are left out.
    fetched.require(2 - run, 24, (3800ull * 4096 * 4) + (1 << 20));
    std::uint64_t wrong = 0;
    for (std::uint64_t r = 0; r < region.rows.size(); ++r) {
      const std::uint64_t row = region.rows.begin + r, band = row / 384 * 384;
      for (std::uint64_t c = 0; c < stride; ++c) {
        const std::uint64_t at = (row - band) * kSide + region.cols.begin + c;
        const float cell = static_cast<float>(at % 1000) + static_cast<float>(band) + 0.25f;
        wrong += cells[r * stride + c] != (c < region.cols.size() ? cell : -1);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("requests: blocks of any kind are read the same whether they are kept or not") {
  constexpr std::uint64_t kRows = 700, kCols = 900;
  const test::TempDir dir;
  test::Rng rng(7);
  std::vector<double> all(kRows * kCols);
  for (std::uint64_t r = 0; r < kRows; ++r) {
    for (std::uint64_t c = 0; c < kCols; ++c) {
      const std::uint64_t kind = (r / 100 + c / 150) % 4;  // of what its tile becomes
      double& cell = all[r * kCols + c];
      if (kind == 0) cell = static_cast<double>(rng.bits() >> 12) / 1024 + 0.1;
      if (kind == 1 && rng.below(50) == 0) cell = static_cast<double>(rng.below(9));
      if (kind == 2) cell = static_cast<double>(rng.below(200));
    }
  }
  for (const Packing pack : {Packing::none, Packing::fast}) {
    auto writer =
        MatrixWriter::create(dir / "m.dbdf", kRows, kCols, ValueType::f64,
                             {.tile = TileShape{100, 150}, .pack = pack, .overwrite = true});
    writer.put_region<double>({0, 0}, {all.data(), kRows, kCols});
    writer.finish();
    const Matrix matrix = Matrix::open(dir / "m.dbdf");
    for (int run = 0; run < 60; ++run) {
      const Region region{rng.range(kRows), rng.range(kCols)};
      const auto kept = matrix.read<double>(region);
      std::vector<double> once(kept.size());
      matrix.read<double>(region, once, 0, {.keep = false});
      REQUIRE(std::equal(once.begin(), once.end(), kept.begin()));
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < once.size(); ++i) {
        const std::uint64_t r = region.rows.begin + i / region.cols.size();
        wrong += once[i] != all[r * kCols + region.cols.begin + i % region.cols.size()];
      }
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("requests: what is compared with its hash is fetched once") {
  const test::TempDir dir;
  const Matrix matrix = Matrix::open(large_matrix(dir), {.check = Check::first_touch});
  const Fetched fetched(matrix);
  const auto cells = matrix.read<float>({{0, 1000}, {0, kSide}});
  CHECK(cells[999 * kSide + 5] == static_cast<float>(((999 - 768) * kSide + 5) % 1000) + 768.25f);
  fetched.require(3, 6, 20 << 20);  // of 33 tiles
}

TEST_CASE("requests: a header that is not that of its entry is seen though nothing is kept") {
  const test::TempDir dir;
  auto writer = MatrixWriter::create(dir / "m.dbdf", 400, 100, ValueType::f64,
                                     {.tile = TileShape{100, 100}, .narrow = false});
  const std::vector<double> cells(40'000, 0.5);
  writer.put_region<double>({0, 0}, {cells.data(), 400, 100});
  writer.finish();
  const auto block = test::block_info(dir / "m.dbdf", {200, 0});
  auto bytes = test::read_bytes(dir / "m.dbdf");
  for (const std::uint64_t at : {block.offset - 16, block.offset, block.offset + 9}) {
    auto changed = bytes;
    changed[at] ^= std::byte{1};
    test::write_bytes(dir / "c.dbdf", changed);
    const Matrix matrix = Matrix::open(dir / "c.dbdf");
    std::vector<double> found(40'000);
    const auto error = test::error_of([&] {
      matrix.read<double>({{0, 400}, {0, 100}}, found, 0, {.keep = false});
    });
    CHECK(test::required_error(error).code() == Errc::corrupt);
  }
}

TEST_CASE("requests: a search asks for many blocks at once") {
  const test::TempDir dir;
  const Matrix matrix = Matrix::open(large_matrix(dir));
  std::uint64_t wanted = 0;
  for (std::uint32_t row = 0; row < kSide; row += 384) {
    const std::uint64_t cells = std::uint64_t{std::min(384u, kSide - row)} * kSide;
    for (std::uint64_t i = 0; i < cells; ++i) wanted += i % 1000 + row >= 500;
  }
  const Fetched fetched(matrix);
  CHECK(count_where(matrix, Condition::above(500)) == wanted);
  fetched.require(10, 12, 24 << 20);  // of two bands of eleven tiles
}

TEST_CASE("requests: rows of sparse blocks are asked for many blocks at once") {
  constexpr std::uint32_t kRows = 2048, kTile = 256;
  const test::TempDir dir;
  auto writer = MatrixWriter::create(dir / "s.dbdf", kRows, kSide, ValueType::f32,
                                     {.tile = TileShape{kTile, kTile}, .narrow = false});
  std::vector<float> cells(std::size_t{kTile} * kTile);
  for (std::uint32_t row = 0; row < kRows; row += kTile) {
    for (std::uint32_t col = 0; col < kSide; col += kTile) {
      for (std::uint32_t i = 0; i < cells.size(); ++i) {
        const std::uint32_t r = row + i / kTile, c = col + i % kTile;
        cells[i] = (7 * r + 3 * c) % 5 == 0 ? static_cast<float>(r + c) + 0.5f : 0.0f;
      }
      writer.put<float>({row, col}, {cells.data(), kTile, kTile});
    }
  }
  writer.finish();
  const Matrix matrix = Matrix::open(dir / "s.dbdf");
  REQUIRE(matrix.counts().csr == (kRows / kTile) * (kSide / kTile));
  REQUIRE(matrix.store().file().size() > 12 << 20);
  const Fetched fetched(matrix);
  const auto csr = matrix.read_csr<float>({{0, kRows}, {0, kSide}});
  fetched.require(12, 300, 16 << 20);  // headers, then two batches of blocks
  std::uint64_t at = 0;
  for (std::uint32_t r = 0; r < kRows; ++r) {
    for (std::uint32_t c = 0; c < kSide; ++c) {
      if ((7 * r + 3 * c) % 5 != 0) continue;
      REQUIRE(csr.col_idx[at] == c);
      REQUIRE(csr.values[at++] == static_cast<float>(r + c) + 0.5f);
    }
  }
  CHECK(csr.row_ptr[kRows] == at);
}

namespace {

/// A matrix of u32 in tiles of whole rows, of about `mebibytes`; cell (r, c) is kSide * r + c.
std::filesystem::path band_matrix(const test::TempDir& dir, std::uint32_t mebibytes) {
  constexpr std::uint32_t kTileRows = 16;  // of a tile: 256 KiB
  const auto path = dir / "bands.dbdf";
  auto writer = MatrixWriter::create(path, 4 * mebibytes * kTileRows, kSide, ValueType::u32,
                                     {.tile = TileShape{kTileRows, kSide}, .narrow = false});
  std::vector<std::uint32_t> cells(std::size_t{kTileRows} * kSide);
  for (std::uint32_t row = 0; row < 4 * mebibytes * kTileRows; row += kTileRows) {
    std::iota(cells.begin(), cells.end(), row * kSide);
    writer.put<std::uint32_t>({row, 0}, {cells.data(), kTileRows, kSide});
  }
  writer.finish();
  return path;
}

}  // namespace

TEST_CASE("requests: more than waits in memory is fetched once, and rows at random together") {
  const test::TempDir dir;
  constexpr std::uint32_t kMebibytes = 100;
  const Matrix matrix = Matrix::open(band_matrix(dir, kMebibytes));
  {
    const Fetched fetched(matrix);
    const auto cells = matrix.read<std::uint32_t>({{0, matrix.rows()}, {0, kSide}});
    CHECK(cells.back() == matrix.rows() * kSide - 1);
    CHECK(cells[cells.size() / 2] == cells.size() / 2);
    fetched.require(16, 20, std::uint64_t{kMebibytes + 2} << 20);
  }
  const Matrix again = Matrix::open(dir / "bands.dbdf");
  std::vector<std::uint64_t> rows;
  for (std::uint64_t row = 5; row < again.rows(); row += 100) rows.push_back(row);
  std::vector<std::uint32_t> found(rows.size() * kSide);
  const Fetched fetched(again);
  gather_rows<std::uint32_t>(again, rows, found);
  fetched.require(8, 80, 40 << 20);  // of 64 tiles
  for (std::size_t k = 0; k < rows.size(); ++k) {
    REQUIRE(found[k * kSide + 7] == rows[k] * kSide + 7);
  }
}

TEST_CASE("requests: of small sparse blocks each byte is fetched once") {
  constexpr std::uint32_t kRows = 4096, kTile = 8;
  const test::TempDir dir;
  auto writer = MatrixWriter::create(dir / "s.dbdf", kRows, kSide, ValueType::f32,
                                     {.tile = TileShape{kTile, kSide}, .narrow = false});
  std::vector<float> cells(std::size_t{kTile} * kSide);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = i % 2 == 0 ? static_cast<float>(i) + 0.5f : 0.0f;
  }
  for (std::uint32_t row = 0; row < kRows; row += kTile) {
    writer.put<float>({row, 0}, {cells.data(), kTile, kSide});
  }
  writer.finish();
  const Matrix matrix = Matrix::open(dir / "s.dbdf");
  const std::uint64_t size = matrix.store().file().size();
  REQUIRE(size > 64 << 20);
  const Fetched fetched(matrix);
  const auto csr = matrix.read_csr<float>({{0, kRows}, {0, kSide}});
  fetched.require(16, 16, size + (2 << 20));
  CHECK(csr.values.size() == std::uint64_t{kRows} * kSide / 2);
  CHECK(csr.values[csr.values.size() - 1] == static_cast<float>(cells.size() - 2) + 0.5f);
}

TEST_CASE("requests: columns, rows and conditions of a frame are asked for together") {
  constexpr std::uint64_t kRows = 400'000, kTile = 20'000;
  const test::TempDir dir;
  const std::vector<Column> columns = {
      {"a", ValueType::u64}, {"b", ValueType::f64}, {"c", ValueType::u32}, {"d", ValueType::f64}};
  auto writer = FrameWriter::create(dir / "f.dbdf", kRows, columns,
                                    {.tile = TileShape{kTile, 1}, .narrow = false});
  std::vector<double> halves(kTile);
  std::vector<std::uint64_t> numbers(kTile);
  std::vector<std::uint32_t> words(kTile);
  for (std::uint64_t row = 0; row < kRows; row += kTile) {
    for (std::uint64_t i = 0; i < kTile; ++i) {
      numbers[i] = row + i;
      words[i] = static_cast<std::uint32_t>(row + i);
      halves[i] = static_cast<double>(row + i) + 0.5;
    }
    writer.put<std::uint64_t>({row, 0}, {numbers.data(), kTile, 1});
    writer.put<double>({row, 1}, {halves.data(), kTile, 1});
    writer.put<std::uint32_t>({row, 2}, {words.data(), kTile, 1});
    writer.put<double>({row, 3}, {halves.data(), kTile, 1});
  }
  writer.finish();
  const auto fetched_of = [](const Frame& frame) {
    return dynamic_cast<const test::RangedFile*>(&frame.store().file());
  };
  {
    const Frame frame = Frame::open(dir / "f.dbdf");
    std::vector<std::uint64_t> a(10);
    std::vector<double> b(10), d(10);
    std::vector<std::uint32_t> c(10);
    const std::vector<ColumnBuffer> buffers = {
        {0, ValueType::u64, reinterpret_cast<std::byte*>(a.data()), 8},
        {1, ValueType::f64, reinterpret_cast<std::byte*>(b.data()), 8},
        {2, ValueType::u32, reinterpret_cast<std::byte*>(c.data()), 4},
        {3, ValueType::f64, reinterpret_cast<std::byte*>(d.data()), 8}};
    const auto* const file = fetched_of(frame);
    const std::uint64_t before = file != nullptr ? file->fetches_made() : 0;
    frame.read_rows({200'000, 200'010}, buffers);
    CHECK(a[9] == 200'009);
    CHECK(d[9] == 200'009.5);
    if (file != nullptr) CHECK(file->fetches_made() - before <= 2);  // of the index, too
    std::vector<std::uint64_t> rows;
    for (std::uint64_t row = 0; row < kRows; row += kRows / 10) rows.push_back(row + 3);
    gather_rows(frame, rows, buffers);
    CHECK(c[9] == rows[9]);
    CHECK(b[9] == static_cast<double>(rows[9]) + 0.5);
    if (file != nullptr) CHECK(file->fetches_made() - before <= 4);
  }
  const Frame frame = Frame::open(dir / "f.dbdf");
  const auto* const file = fetched_of(frame);
  const std::uint64_t before = file != nullptr ? file->fetches_made() : 0;
  CHECK(count_where(frame, Expression::parse("b > 100 and d < 399999"), {.threads = 1}) ==
        399'999 - 100);
  if (file != nullptr) CHECK(file->fetches_made() - before <= 3);
}

TEST_CASE("requests: entries all over a large index are fetched at once") {
  constexpr std::uint32_t kTile = 8, kTiles = 256;  // an index of 4 MiB
  const test::TempDir dir;
  auto writer = MatrixWriter::create(dir / "t.dbdf", kTile * kTiles, kTile * kTiles, ValueType::u8,
                                     {.tile = TileShape{kTile, kTile}, .narrow = false});
  std::vector<std::uint8_t> cells(std::size_t{kTile} * kTile);
  for (std::uint32_t row = 0; row < kTiles; ++row) {
    for (std::uint32_t col = 0; col < kTiles; ++col) {
      std::fill(cells.begin(), cells.end(), static_cast<std::uint8_t>(row + 1));
      writer.put<std::uint8_t>({row * kTile, col * kTile}, {cells.data(), kTile, kTile});
    }
  }
  writer.finish();
  const Matrix matrix = Matrix::open(dir / "t.dbdf");
  const Fetched fetched(matrix);
  const auto column = matrix.read<std::uint8_t>({{0, kTile * kTiles}, {99, 100}});
  fetched.require(4, 520, 14 << 20);
  for (std::uint32_t row = 0; row < kTile * kTiles; ++row) {
    REQUIRE(column[row] == static_cast<std::uint8_t>(row / kTile + 1));
  }
}
