// Sparse blocks to enough cells that rows are made apart and written past the caches, and become
// zeros again in one of two ways (lib/dbdf/sparse.cpp, lib/object/scattered_rows.h).

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "dapple/dapple.h"
#include "lib/cells/stream_copy.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

/// 120,000 rows of 20 cells, of which many wait at once, or 1100 of 2185, which wait one by one.
constexpr TileShape kShapes[] = {{120000, 20}, {1100, 2185}};

// Rows with few entries mostly; some, and runs of them, with none or with nearly all.
std::vector<std::uint8_t> make_cells(TileShape shape) {
  test::Rng rng(shape.cols);
  std::vector<std::uint8_t> cells(std::size_t{shape.rows} * shape.cols);
  for (std::uint64_t row = 0; row < shape.rows; ++row) {
    const std::uint64_t kind = row / 700 % 3 == 2 ? 0 : rng.between(0, 9);
    const std::uint64_t entries = kind < 2 ? 0 : kind < 9 ? rng.between(1, 4) : shape.cols * 2;
    for (std::uint64_t k = 0; k < entries; ++k) {
      cells[row * shape.cols + rng.between(0, shape.cols - 1)] =
          static_cast<std::uint8_t>(rng.between(1, 255));
    }
  }
  return cells;
}

std::filesystem::path write_cells(const test::TempDir& folder, TileShape shape,
                                  const std::vector<std::uint8_t>& cells, KindChoice kind,
                                  ValueType type) {
  const std::filesystem::path path = folder / "m.dbdf";
  WriteOptions options;
  options.tile = shape;
  options.kind = kind;
  options.narrow = false;
  MatrixWriter writer = MatrixWriter::create(path, shape.rows, shape.cols, type, options);
  writer.put<std::uint8_t>({0, 0}, {cells.data(), shape.rows, shape.cols, shape.cols});
  writer.finish();
  return path;
}

// The block as a whole, and a part of it to rows that lie apart.
void check_read(const std::filesystem::path& path, TileShape shape,
                const std::vector<std::uint8_t>& cells) {
  constexpr double kUntouched = -1;
  const Matrix matrix = Matrix::open(path);
  std::vector<double> got(cells.size(), kUntouched);
  matrix.block({0, 0}).decode<double>(got);
  CHECK(std::equal(cells.begin(), cells.end(), got.begin(), got.end()));

  const Region part{{9, shape.rows - 1ULL}, {1, shape.cols - 1ULL}};
  REQUIRE(part.rows.size() * part.cols.size() * sizeof(double) >= detail::kStreamBytes);
  got.assign(cells.size(), kUntouched);
  matrix.read<double>(part, got, shape.cols);
  std::uint64_t wrong = 0;
  for (std::uint64_t row = 0; row < part.rows.size(); ++row) {
    for (std::uint64_t col = 0; col < shape.cols; ++col) {
      const double expected =
          col < part.cols.size() ? cells[(row + 9) * shape.cols + col + 1] : kUntouched;
      wrong += got[row * shape.cols + col] != expected ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

void check_kind(KindChoice kind, ValueType type) {
  for (const TileShape shape : kShapes) {
    CAPTURE(shape.cols);
    const test::TempDir folder;
    const std::vector<std::uint8_t> cells = make_cells(shape);
    check_read(write_cells(folder, shape, cells, kind, type), shape, cells);
  }
}

}  // namespace

TEST_CASE("large scatter: CSR of f64 and of u8") {
  check_kind(KindChoice::csr, ValueType::f64);
  check_kind(KindChoice::csr, ValueType::u8);
}

TEST_CASE("large scatter: COO of f64 and of u8") {
  check_kind(KindChoice::coo, ValueType::f64);
  check_kind(KindChoice::coo, ValueType::u8);
}

TEST_CASE("large scatter: COO in no order") {
  constexpr std::size_t kEntry = 16;
  for (const TileShape shape : kShapes) {
    CAPTURE(shape.cols);
    const test::TempDir folder;
    const std::vector<std::uint8_t> cells = make_cells(shape);
    const auto path = write_cells(folder, shape, cells, KindChoice::coo, ValueType::f64);
    const BlockInfo block = test::block_info(path, {0, 0});
    std::vector<std::byte> bytes = test::read_bytes(path);
    std::byte* const end = bytes.data() + block.offset + block.bytes;
    const std::uint64_t entries = block.stored;
    test::Rng rng(7);
    for (std::uint64_t i = 0; i < entries; i += 50) {
      // With one nearby mostly, within what waits, and sometimes with any.
      const std::uint64_t j = i % 1000 == 0 ? rng.between(0, entries - 1)
                                            : std::min(entries - 1, i + rng.between(1, 20));
      if (i != j) {
        std::swap_ranges(end - (i + 1) * kEntry, end - i * kEntry, end - (j + 1) * kEntry);
      }
    }
    test::write_bytes(path, bytes);
    check_read(path, shape, cells);
  }
}
