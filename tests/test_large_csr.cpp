// Sparse blocks so large that their arrays are written past the caches (lib/dbdf/csr_arrays.cpp),
// and the two parts that this is made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "lib/cells/stream_copy.h"
#include "lib/dbdf/split_entries.h"
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

template <std::size_t kSize>
void check_split_csr() {
  test::Rng rng(3);
  for (std::uint32_t count = 0; count < 20; ++count) {
    std::vector<std::byte> entries(count * (4 + kSize));
    for (std::byte& b : entries) b = static_cast<std::byte>(rng.between(0, 255));
    std::vector<std::uint32_t> cols(count);
    std::vector<std::byte> values(count * kSize);
    detail::dbdf::split_csr_entries<kSize>(entries.data(), count, cols.data(), values.data());
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::byte* const entry = entries.data() + i * (4 + kSize);
      CHECK(std::memcmp(&cols[i], entry, 4) == 0);
      CHECK(std::memcmp(&values[i * kSize], entry + 4, kSize) == 0);
    }
    // And put together again.
    std::vector<std::byte> joined(entries.size() + 1, std::byte{0xee});
    detail::dbdf::join_csr_entries<kSize>(cols.data(), values.data(), count, joined.data());
    CHECK(std::equal(entries.begin(), entries.end(), joined.begin()));
    CHECK(joined.back() == std::byte{0xee});
  }
}

template <std::size_t kSize, bool kWithCol>
void check_split_coo() {
  constexpr std::size_t kIndices = kWithCol ? 8 : 4;
  test::Rng rng(4);
  for (std::uint32_t count = 0; count < 20; ++count) {
    std::vector<std::byte> entries(count * (kIndices + kSize));
    for (std::byte& b : entries) b = static_cast<std::byte>(rng.between(0, 255));
    std::vector<std::uint32_t> rows(count), cols(count);
    std::vector<std::byte> values(count * kSize);
    detail::dbdf::split_coo_entries<kSize, kWithCol>(entries.data(), count, rows.data(),
                                                     cols.data(), values.data());
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::byte* const entry = entries.data() + i * (kIndices + kSize);
      CHECK(std::memcmp(&rows[i], entry, 4) == 0);
      CHECK((kWithCol ? std::memcmp(&cols[i], entry + 4, 4) == 0 : cols[i] == 0));
      CHECK(std::memcmp(&values[i * kSize], entry + kIndices, kSize) == 0);
    }
  }
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

TEST_CASE(
    "large CSR: any number of entries is taken apart and put together, and no more than those") {
  check_split_csr<1>();
  check_split_csr<2>();
  check_split_csr<4>();
  check_split_csr<8>();
}

TEST_CASE("large COO: any number of entries is taken apart, and no more than those") {
  check_split_coo<2, true>();
  check_split_coo<8, true>();
  check_split_coo<8, false>();
}

TEST_CASE("large CSR: bytes that gather come out in order, at any address, and no others") {
  constexpr std::size_t kMost = 400, kTotal = 5000;
  constexpr std::byte kOutside{0xee};
  test::Rng rng(5);
  for (std::size_t shift = 0; shift < 64; ++shift) {
    CAPTURE(shift);
    alignas(64) std::array<std::byte, kTotal + 200> memory;
    memory.fill(kOutside);
    detail::LineStage<kMost> stage(memory.data() + shift);
    // Halfway it begins anew, 20 bytes further on.
    std::size_t done = 0, gap = 0;
    while (done < kTotal) {
      const auto n =
          static_cast<std::size_t>(rng.between(0, std::min<std::uint64_t>(kMost, kTotal - done)));
      for (std::size_t i = 0; i < n; ++i)
        stage.room()[i] = static_cast<std::byte>((done + i) % 199);
      stage.added(n);
      done += n;
      if (gap == 0 && done > kTotal / 2) {
        gap = 20;
        stage.restart_at(memory.data() + shift + done + gap);
        const auto outside =
            std::count(memory.data() + shift + done, memory.data() + memory.size(), kOutside);
        CHECK(outside == static_cast<std::ptrdiff_t>(memory.size() - shift - done));
      }
    }
    stage.restart_at(memory.data());
    detail::finish_streams();
    std::size_t at = 0, wrong = 0;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const bool outside = memory[i] == kOutside;
      if (outside) continue;
      wrong += memory[i] != static_cast<std::byte>(at % 199) ? 1 : 0;
      ++at;
    }
    CHECK(at == kTotal);
    CHECK(wrong == 0);
    CHECK(std::all_of(memory.data(), memory.data() + shift, [](auto b) { return b == kOutside; }));
  }
}
