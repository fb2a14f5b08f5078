// How much of a file is fetched. The counts hold in the mode without maps (tests/modes); the
// answers in every one.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "dapple/stats.h"
#include "dapple/where.h"
#include "dapple/writer.h"
#include "lib/object/store.h"
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
