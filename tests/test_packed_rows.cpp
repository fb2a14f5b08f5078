// Rows of packed blocks, which are decoded without the others: every way to them gives what the
// plain file gives, bit for bit, and none of them keeps whole blocks.

#include <filesystem>
#include <string>
#include <vector>

#include "dapple/gather.h"
#include "dapple/open.h"
#include "dapple/product.h"
#include "dapple/rows.h"
#include "dapple/stats.h"
#include "dapple/where.h"
#include "lib/cache/block_cache.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/store.h"
#include "tests/check.h"
#include "tests/encoded.h"
#include "tests/samples.h"

using namespace dapple;
namespace fs = std::filesystem;
using detail::packed::Effort;

namespace {

template <class Sequence>
std::vector<std::byte> bytes_of(const Sequence& values) {
  return test::list(std::as_bytes(std::span(values.data(), values.size())));
}

template <class A, class B>
void check_equal(const A& a, const B& b) {
  CHECK(test::list(a.row_ptr) == test::list(b.row_ptr));
  CHECK(test::list(a.col_idx) == test::list(b.col_idx));
  CHECK(bytes_of(a.values) == bytes_of(b.values));
}

/// A file, and the same with its blocks packed.
struct Pair {
  test::TempDir dir;
  std::uint64_t packed_blocks = 0;
  Matrix plain, packed;

  Pair(const test::Image& image, Effort effort)
      : plain(Matrix::open(dir.write("plain.dbdf", image.bytes()))),
        packed(Matrix::open(dir.write(
            "packed.dbdf", test::with_packed_blocks(image.bytes(), packed_blocks, effort)))) {}
};

/// CSR tiles of `rows` x `cols`, a cell in five stored, some of them zeros.
template <Value T>
test::Image csr_tiles(std::uint32_t side, test::Rng& rng) {
  test::Image image = test::Image::matrix(2 * side, 2 * side, value_type_of<T>());
  for (std::uint64_t k = 0; k < 4; ++k) {
    std::vector<std::vector<std::pair<std::uint32_t, T>>> rows(side);
    for (std::uint32_t r = 0; r < side; ++r) {
      for (std::uint32_t c = 0; c < side && r % 9 != 4; ++c) {
        if (!rng.chance(20)) continue;
        // The last tile has values that need a closer look.
        const std::uint64_t small = k == 3 ? rng.below(4) : 1 + rng.below(4);
        rows[r].emplace_back(c, static_cast<T>(small));
      }
    }
    image.csr({k / 2 * side, k % 2 * side}, side, rows);
  }
  return image;
}

template <Value T>
void check_reads(const Pair& files, test::Rng& rng) {
  const std::uint64_t rows = files.plain.rows(), cols = files.plain.cols();
  for (int i = 0; i < 12; ++i) {
    const Region region =
        i == 0 ? Region{{0, rows}, {0, cols}} : Region{rng.range(rows), rng.range(cols)};
    check_equal(files.packed.read_csr<T>(region), files.plain.read_csr<T>(region));
    check_equal(files.packed.read_csr<T>(region, {.threads = 3}), files.plain.read_csr<T>(region));
  }
  std::vector<std::uint64_t> list(200);
  for (std::uint64_t& row : list) row = rng.below(rows);
  for (const bool some : {false, true}) {
    GatherOptions options;
    if (some) options.cols = rng.range(cols);
    Csr<T> a, b;
    gather_csr(files.packed, std::span<const std::uint64_t>(list), a, options);
    gather_csr(files.plain, std::span<const std::uint64_t>(list), b, options);
    check_equal(a, b);
  }
  std::vector<T> a(list.size() * cols), b(a.size());
  gather_rows(files.packed, std::span<const std::uint64_t>(list), std::span(a));
  gather_rows(files.plain, std::span<const std::uint64_t>(list), std::span(b));
  CHECK(bytes_of(a) == bytes_of(b));
  // A few rows of a block are decoded alone.
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t row = rng.below(rows - 5);
    const Region region{{row, row + 1 + rng.below(5)}, rng.range(cols)};
    CHECK(bytes_of(files.packed.read<T>(region)) == bytes_of(files.plain.read<T>(region)));
  }
}

void check_sums(const Pair& files, test::Rng& rng) {
  const std::uint64_t rows = files.plain.rows(), cols = files.plain.cols();
  for (const std::size_t k : {1, 3}) {
    std::vector<double> x(std::max(rows, cols) * k), a(rows * k), b(a), c(cols * k), d(c);
    for (double& value : x) value = static_cast<double>(rng.below(100)) - 50;
    multiply(files.packed, std::span(x).first(cols * k), a, k);
    multiply(files.plain, std::span(x).first(cols * k), b, k);
    CHECK(bytes_of(a) == bytes_of(b));
    multiply_transposed(files.packed, std::span(x).first(rows * k), c, k);
    multiply_transposed(files.plain, std::span(x).first(rows * k), d, k);
    CHECK(bytes_of(c) == bytes_of(d));
  }
  const auto same = [](const std::vector<Stats>& p, const std::vector<Stats>& q) {
    REQUIRE(p.size() == q.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      CHECK(p[i].count == q[i].count);
      CHECK(p[i].nnz == q[i].nnz);
      CHECK(bytes_of(std::vector{p[i].min, p[i].max, p[i].sum, p[i].squared_distances}) ==
            bytes_of(std::vector{q[i].min, q[i].max, q[i].sum, q[i].squared_distances}));
    }
  };
  same(column_stats(files.packed), column_stats(files.plain));
  same(row_stats(files.packed), row_stats(files.plain));
  const Condition condition = Condition::above(1.5);
  CHECK(count_where(files.packed, condition) == count_where(files.plain, condition));
  CHECK(rows_where(files.packed, condition) == rows_where(files.plain, condition));
}

}  // namespace

TEST_CASE_TEMPLATE("packed rows: of CSR tiles of every type, as they are and widened", T,
                   std::int8_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                   std::uint32_t, std::uint64_t, float, double) {
  for (const Effort effort : {Effort::fast, Effort::small}) {
    test::Rng rng(sizeof(T));
    const Pair files(csr_tiles<T>(190, rng), effort);
    CHECK(files.packed_blocks == 4);
    check_reads<T>(files, rng);
    if constexpr (holds_all(ValueType::f64, value_type_of<T>())) {
      check_reads<double>(files, rng);
    }
    check_sums(files, rng);
  }
}

TEST_CASE(
    "packed rows: of any blocks, in any partition, with minus zeros, NaNs and rows in "
    "disorder") {
  test::Rng rng(21);
  std::uint64_t packed = 0;
  for (const test::Partition& partition : test::partitions(rng, 120)) {
    const auto image = test::random_matrix(rng, partition, ValueType::f64);
    const Pair files(image, rng.chance(50) ? Effort::fast : Effort::small);
    packed += files.packed_blocks;
    const std::uint64_t rows = files.plain.rows(), cols = files.plain.cols();
    for (int i = 0; i < 10; ++i) {
      const Region region{rng.range(rows), rng.range(cols)};
      const ReadOptions options{.absent = Absent::zero};
      check_equal(files.packed.read_csr<double>(region, options),
                  files.plain.read_csr<double>(region, options));
    }
  }
  CHECK(packed > 20);
}

TEST_CASE("packed rows: nothing reads whole blocks into memory that is kept") {
  test::Rng rng(2);
  const Pair files(csr_tiles<float>(190, rng), Effort::fast);
  const std::uint64_t before = detail::block_cache().bytes();
  check_reads<float>(files, rng);
  check_sums(files, rng);
  const detail::Store& store = files.packed.store();
  for (const BlockInfo& block : files.packed.blocks()) {
    CHECK(detail::block_cache().find({store.blocks().number(), block.offset}).value == nullptr);
  }
  // What was fetched is kept as it is stored, and so are the plain blocks.
  if (!store.blocks().fetches()) CHECK(detail::block_cache().bytes() == before);
}

TEST_CASE("packed rows: a value that does not fit names its cell, and a damaged block its byte") {
  test::Rng rng(3);
  const Pair files(csr_tiles<double>(190, rng), Effort::fast);
  CHECK(files.packed.read_csr<std::uint8_t>({{0, 9}, {0, 9}}).values ==
        files.plain.read_csr<std::uint8_t>({{0, 9}, {0, 9}}).values);
  auto bytes = test::read_bytes(files.dir / "packed.dbdf");
  const BlockInfo block = files.packed.block({0, 0}).info();
  std::uint64_t refused = 0;
  for (std::uint64_t at = block.offset + 26; at < block.offset + block.bytes; at += 7) {
    const std::byte was = std::exchange(bytes[at], bytes[at] ^ std::byte{0x80});
    const fs::path path = files.dir.write("damaged.dbdf", bytes);
    bytes[at] = was;
    const auto attempt = [&](const auto& read) {
      try {
        read(Matrix::open(path));
      } catch (const Error& error) {
        CHECK(error.code() == Errc::corrupt);
        CHECK(error.offset().value_or(0) >= block.offset);
        CHECK(error.offset().value_or(0) <= block.offset + block.bytes);
        ++refused;
      }
    };
    attempt([](const Matrix& m) { m.read_csr<double>({{0, 190}, {0, 190}}); });
    attempt([](const Matrix& m) {
      const std::vector<std::uint64_t> rows = {0, 100, 189};
      Csr<double> out;
      gather_csr(m, std::span<const std::uint64_t>(rows), out);
    });
    attempt([](const Matrix& m) { column_stats(m); });
  }
  CHECK(refused > 20);
}
