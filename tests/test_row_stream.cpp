// Rows streamed from blocks of every kind, type and partition, against the same cells read densely.
#include "lib/rows/row_stream.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "dapple/open.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"
#include "tests/check.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail;
using dapple::test::Image;
using dapple::test::Rng;
using dapple::test::TempDir;

namespace {

std::shared_ptr<const Store> store_of(const TempDir& folder, const Image& image) {
  const auto path = folder.write("rows.dbdf", image.bytes());
  return std::visit([](const BlockedObject& object) { return object.share(); }, open(path));
}

/// A region as rows, in the plainest way.
struct PlainRows {
  std::vector<std::uint64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx;
  std::vector<std::uint64_t> bits;
};

PlainRows plain_rows(const Store& store, const Region& region, ValueType type) {
  const std::size_t width = region.cols.size(), size = size_of(type);
  std::vector<std::byte> cells(region.rows.size() * width * size);
  store.read(region, {cells.data(), type, width * size, size}, {Absent::zero, 1});
  PlainRows rows;
  for (std::size_t i = 0; i < region.rows.size() * width; ++i) {
    const std::uint64_t bits = load_bits(type, cells.data() + i * size);
    if (bits != 0) {
      rows.col_idx.push_back(static_cast<std::uint32_t>(i % width));
      rows.bits.push_back(bits);
    }
    if (i % width == width - 1) rows.row_ptr.push_back(rows.bits.size());
  }
  return rows;
}

/// The bands of a stream, one after the other.
PlainRows streamed_rows(const Store& store, const Region& region, ValueType type, Absent absent,
                        unsigned threads = 1) {
  RowStream stream(store, region, type, absent);
  PlainRows rows;
  stream.for_each<std::uint32_t>(
      threads, [&](BandArrays<std::uint32_t>& band, unsigned, Turn& turn) {
        turn.take([&] {
          const std::uint64_t base = rows.row_ptr.back();
          REQUIRE(rows.row_ptr.size() <= band.rows.begin + 1);
          rows.row_ptr.resize(band.rows.begin + 1, base);
          for (std::uint64_t i = 1; i <= band.rows.size(); ++i) {
            rows.row_ptr.push_back(base + band.row_ptr[i]);
          }
          for (std::uint64_t k = 0; k < band.entries(); ++k) {
            rows.col_idx.push_back(band.col_idx[k]);
            rows.bits.push_back(load_bits(type, band.values.data() + k * size_of(type)));
          }
        });
      });
  rows.row_ptr.resize(region.rows.size() + 1, rows.row_ptr.back());
  return rows;
}

void check_same(const PlainRows& got, const PlainRows& wanted) {
  REQUIRE(got.row_ptr == wanted.row_ptr);
  REQUIRE(got.col_idx == wanted.col_idx);
  REQUIRE(got.bits == wanted.bits);
}

Range some_range(Rng& rng, std::uint64_t size) {
  const std::uint64_t begin = rng.below(size);
  return {begin, rng.between(begin + 1, size)};
}

}  // namespace

TEST_CASE("row stream: any region of any partition gives the cells that are not zero") {
  Rng rng(11);
  const TempDir folder;
  for (int round = 0; round < 8; ++round) {
    for (const test::Partition& partition : test::partitions(rng, 24)) {
      CAPTURE(partition.name);
      const ValueType type = kValueTypes[rng.below(kValueTypes.size())];
      const auto store = store_of(folder, test::random_matrix(rng, partition, type));
      for (int k = 0; k < 8; ++k) {
        const Region region{some_range(rng, partition.rows), some_range(rng, partition.cols)};
        const PlainRows wanted = plain_rows(*store, region, type);
        check_same(streamed_rows(*store, region, type, Absent::zero), wanted);
        check_same(streamed_rows(*store, region, type, Absent::zero, 3), wanted);
      }
    }
  }
}

TEST_CASE("row stream: values are given as another type that holds them") {
  Rng rng(12);
  const TempDir folder;
  for (const TileShape tile : {TileShape{7, 5}, TileShape{40, 90}, TileShape{1, 90}}) {
    const auto partition = test::regular(40, 90, tile);
    const auto store = store_of(folder, test::random_matrix(rng, partition, ValueType::i16));
    for (const ValueType type : {ValueType::i16, ValueType::i64, ValueType::f64}) {
      const Region all{{0, 40}, {0, 90}};
      check_same(streamed_rows(*store, all, type, Absent::error), plain_rows(*store, all, type));
    }
  }
}

TEST_CASE("row stream: dense rows of any width and filling") {
  Rng rng(13);
  const TempDir folder;
  for (const std::uint32_t width : {1U, 63U, 64U, 65U, 128U, 200U}) {
    for (const unsigned filled : {0U, 1U, 30U, 100U}) {
      std::vector<double> cells(3 * width);
      for (double& cell : cells) cell = rng.chance(filled) ? -0.0 : 0.0;
      Image image = Image::matrix(3, width, ValueType::f64);
      image.dense<double>({0, 0}, 3, width, cells);
      const auto store = store_of(folder, image);
      const Region all{{0, 3}, {0, width}};
      check_same(streamed_rows(*store, all, ValueType::f64, Absent::error),
                 plain_rows(*store, all, ValueType::f64));
    }
  }
}

TEST_CASE("row stream: a block of 2^32 rows with three entries takes three short bands") {
  const TempDir folder;
  constexpr std::uint32_t kRows = ~std::uint32_t{0};
  Image image = Image::matrix(kRows, 9, ValueType::f64, 2);
  image.coo<double>({0, 0}, kRows, 9, {{kRows - 1, 8, 3}, {5, 1, 1}, {70'000, 2, 2}});
  const auto store = store_of(folder, image);
  RowStream stream(*store, {{0, kRows}, {0, 9}}, ValueType::f64, Absent::error);
  std::uint64_t rows = 0, entries = 0;
  stream.for_each<std::uint64_t>(1, [&](BandArrays<std::uint64_t>& band, unsigned, Turn&) {
    rows += band.rows.size();
    entries += band.entries();
  });
  CHECK(entries == 3);
  CHECK(rows < 1000);
}

TEST_CASE("row stream: columns of a frame that declare several types come as words") {
  const TempDir folder;
  Image image =
      Image::frame(2, {{"a", ValueType::i8}, {"b", ValueType::f64}, {"c", ValueType::i8}});
  image.csr<std::int8_t>({0, 0}, 3, {{{0, -1}, {1, 2}}, {{2, 3}, {1, 0}}});
  const auto store = store_of(folder, image);
  RowStream stream(*store, {0, 2}, {{{1, 3}, 4}, {{0, 1}, 9}}, std::nullopt, Absent::error);
  std::vector<std::uint64_t> ends, cols, bits;
  stream.for_each<std::uint64_t>(1, [&](BandArrays<std::uint64_t>& band, unsigned, Turn&) {
    REQUIRE(band.entries() == 3);
    ends.assign(band.row_ptr.begin(), band.row_ptr.end());
    for (std::size_t k = 0; k < 3; ++k) {
      cols.push_back(band.col_idx[k]);
      bits.push_back(load_bits(ValueType::u64, band.values.data() + k * 8));
    }
  });
  CHECK(ends == std::vector<std::uint64_t>{0, 2, 3});
  CHECK(cols == std::vector<std::uint64_t>{4, 9, 5});
  CHECK(bits == std::vector<std::uint64_t>{std::bit_cast<std::uint64_t>(2.0), 0xff, 3});
}

TEST_CASE("row stream: errors are those of a read, and that of the first band is thrown") {
  const TempDir folder;
  Image image = Image::matrix(2, 3, ValueType::i16, 2);
  image.csr<std::int16_t>({0, 0}, 3, {{{1, 5}}, {{0, 1}, {0, 2}}});
  const auto twice = store_of(folder, image);
  const auto error_in = [&](const Store& store, ValueType type) {
    return test::required_error(test::error_of([&] {
      streamed_rows(store, {{0, 2}, {0, 3}}, type, Absent::error, 2);
    }));
  };
  CHECK(error_in(*twice, ValueType::i16).code() == Errc::corrupt);
  CHECK(error_in(*twice, ValueType::i16).detail().find("cell (1, 0)") != std::string::npos);

  Image wide = Image::matrix(2, 3, ValueType::i16, 2);
  wide.csr<std::int16_t>({0, 0}, 3, {{{1, 500}}, {}});
  CHECK(error_in(*store_of(folder, wide), ValueType::u8).code() == Errc::type_mismatch);

  Image gap = Image::matrix(2, 3, ValueType::i16, 2);
  gap.csr<std::int16_t>({0, 0}, 2, {{{1, 5}}, {}});
  CHECK(error_in(*store_of(folder, gap), ValueType::i16).code() == Errc::absent);
}

TEST_CASE("row stream: the error of an earlier band wins, whatever thread finds which") {
  const TempDir folder;
  constexpr std::uint32_t kRows = 4000, kCols = 100;
  std::vector<std::vector<std::pair<std::uint32_t, std::int16_t>>> rows(kRows);
  for (auto& row : rows) {
    for (std::uint32_t c = 0; c < kCols; ++c) row.push_back({c, std::int16_t{1}});
  }
  rows[900][3].second = 300;
  for (std::uint32_t r = 2000; r < kRows; ++r) rows[r][0].first = kCols;
  Image image = Image::matrix(kRows, kCols, ValueType::i16, 2);
  image.csr<std::int16_t>({0, 0}, kCols, rows);
  const auto store = store_of(folder, image);
  for (int round = 0; round < 20; ++round) {
    const auto error = test::error_of([&] {
      streamed_rows(*store, {{0, kRows}, {0, kCols}}, ValueType::u8, Absent::error, 2);
    });
    REQUIRE(error);
    REQUIRE(error->code() == Errc::type_mismatch);
  }
}
