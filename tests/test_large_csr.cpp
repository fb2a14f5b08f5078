// Sparse blocks so large that their arrays are written past the caches (lib/dbdf/csr_arrays.cpp),
// and the two parts that this is made of.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "dapple/dapple.h"
#include "lib/dbdf/split_entries.h"
#include "lib/object/stream_copy.h"
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
void check_csr() {
  const test::TempDir folder;
  const std::vector<T> cells = make_csr_cells<T>();
  WriteOptions options;
  options.tile = {kCsrRows, kCsrCols};
  options.kind = KindChoice::csr;
  options.narrow = false;
  MatrixWriter writer =
      MatrixWriter::create(folder / "m.dbdf", kCsrRows, kCsrCols, value_type_of<T>(), options);
  writer.put<T>({0, 0}, {cells.data(), kCsrRows, kCsrCols, kCsrCols});
  writer.finish();
  const auto csr = Matrix::open(folder / "m.dbdf").block({0, 0}).to_csr<T>();
  REQUIRE(csr.col_idx.size() * (4 + sizeof(T)) >= detail::kStreamBytes);
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

template <std::size_t kSize>
void check_split() {
  test::Rng rng(3);
  for (std::uint32_t count = 0; count < 20; ++count) {
    std::vector<std::byte> entries(count * (4 + kSize));
    for (std::byte& b : entries) b = static_cast<std::byte>(rng.between(0, 255));
    std::vector<std::uint32_t> cols(count);
    std::vector<std::byte> values(count * kSize);
    detail::dbdf::split_entries<kSize>(entries.data(), count, cols.data(), values.data());
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::byte* const entry = entries.data() + i * (4 + kSize);
      CHECK(std::memcmp(&cols[i], entry, 4) == 0);
      CHECK(std::memcmp(&values[i * kSize], entry + 4, kSize) == 0);
    }
  }
}

}  // namespace

TEST_CASE("large CSR: arrays of f64 hold what was stored") { check_csr<double>(); }

TEST_CASE("large CSR: arrays of i32 hold what was stored") { check_csr<std::int32_t>(); }

TEST_CASE("large CSR: any number of entries is taken apart, and no more than those") {
  check_split<1>();
  check_split<2>();
  check_split<4>();
  check_split<8>();
}

TEST_CASE("large CSR: bytes that gather come out in order, at any address, and no others") {
  constexpr std::size_t kEnough = 128, kTotal = 1500;
  constexpr std::byte kOutside{0xee};
  test::Rng rng(5);
  for (std::size_t shift = 0; shift < 64; ++shift) {
    CAPTURE(shift);
    alignas(64) std::array<std::byte, kTotal + 200> memory;
    memory.fill(kOutside);
    detail::LineStage<kEnough> stage(memory.data() + shift);
    // Halfway it begins anew, 20 bytes further on.
    std::size_t done = 0, gap = 0;
    while (done < kTotal) {
      const auto n =
          static_cast<std::size_t>(rng.between(0, std::min<std::uint64_t>(kEnough, kTotal - done)));
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
