// Sparse blocks that are larger than the caches, as arrays.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "lib/cells/stream_copy.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

constexpr std::uint64_t kCsrRows = 4001, kCsrCols = 1100;

// Rows in turn without entries, with all columns, which is more than is gathered at once, with one,
// and with about two thirds.
template <class T>
std::vector<T> make_csr_cells() {
  std::vector<T> cells(kCsrRows * kCsrCols);
  for (std::uint64_t row = 0; row < kCsrRows; ++row) {
    for (std::uint64_t col = 0; col < kCsrCols; ++col) {
      const std::uint64_t kind = row % 16;
      const bool stored = kind > 2 ? (row * 5 + col * 7) % 3 > 0
                                   : kind == 1 || (kind == 2 && col == row % kCsrCols);
      if (stored) cells[row * kCsrCols + col] = static_cast<T>(1 + (row * 31 + col * 7) % 120);
    }
  }
  return cells;
}

template <class T>
std::filesystem::path write_cells(const test::TempDir& folder, const std::vector<T>& cells,
                                  KindChoice kind) {
  const std::filesystem::path path = folder / "m.dbdf";
  WriteOptions options;
  options.tile = {kCsrRows, kCsrCols};
  options.kind = kind;
  options.narrow = false;
  MatrixWriter writer = MatrixWriter::create(path, kCsrRows, kCsrCols, value_type_of<T>(), options);
  writer.put<T>({0, 0}, {cells.data(), kCsrRows, kCsrCols, kCsrCols});
  writer.finish();
  return path;
}

template <class T>
void check_arrays(const std::filesystem::path& path, const std::vector<T>& cells) {
  const Matrix matrix = Matrix::open(path);
  const Block block = matrix.block({0, 0});
  REQUIRE(block.payload().size() >= detail::kStreamBytes);
  const auto csr = block.to_csr<T>();
  std::uint64_t k = 0, wrong = 0;
  for (std::uint64_t row = 0; row < kCsrRows; ++row) {
    wrong += csr.row_ptr[row] != k ? 1 : 0;
    for (std::uint64_t col = 0; col < kCsrCols; ++col) {
      const T value = cells[row * kCsrCols + col];
      if (value == 0) continue;
      wrong += k >= csr.col_idx.size() || csr.col_idx[k] != col || csr.values[k] != value ? 1 : 0;
      ++k;
    }
  }
  CHECK(csr.row_ptr[kCsrRows] == k);
  CHECK(csr.col_idx.size() == k);
  CHECK(wrong == 0);
}

template <class T>
void check_kind(KindChoice kind) {
  const test::TempDir folder;
  const std::vector<T> cells = make_csr_cells<T>();
  check_arrays(write_cells(folder, cells, kind), cells);
}

}  // namespace

TEST_CASE("large CSR: arrays of f64 hold what was stored") { check_kind<double>(KindChoice::csr); }

TEST_CASE("large CSR: arrays of i32 hold what was stored") {
  check_kind<std::int32_t>(KindChoice::csr);
}

TEST_CASE("large COO: arrays of f64 hold what was stored") { check_kind<double>(KindChoice::coo); }

TEST_CASE("large COO: arrays of u16 hold what was stored") {
  check_kind<std::uint16_t>(KindChoice::coo);
}

TEST_CASE("large COO: that the very last entries are out of order makes no difference") {
  constexpr std::size_t kEntry = 16;
  const test::TempDir folder;
  const std::vector<double> cells = make_csr_cells<double>();
  const std::filesystem::path path = write_cells(folder, cells, KindChoice::coo);
  const BlockInfo block = test::block_info(path, {0, 0});
  std::vector<std::byte> bytes = test::read_bytes(path);
  std::byte* const end = bytes.data() + block.offset + block.bytes;
  std::swap_ranges(end - 2 * kEntry, end - kEntry, end - kEntry);
  test::write_bytes(path, bytes);
  check_arrays(path, cells);
}
