// Rows gathered from blocks of every kind, type and partition, against the same cells read densely.
#include "lib/compute/row_gatherer.h"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <vector>

#include "dapple/open.h"
#include "lib/cells/convert_cells.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::detail;
using dapple::test::Image;
using dapple::test::Rng;
using dapple::test::TempDir;

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

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

void check_same(const CsrRows& got, const PlainRows& wanted, ValueType type) {
  REQUIRE(std::equal(got.row_ptr.begin(), got.row_ptr.end(), wanted.row_ptr.begin(),
                     wanted.row_ptr.end()));
  REQUIRE(std::equal(got.col_idx.begin(), got.col_idx.end(), wanted.col_idx.begin(),
                     wanted.col_idx.end()));
  for (std::size_t k = 0; k < wanted.bits.size(); ++k) {
    REQUIRE(load_bits(type, got.values.data() + k * size_of(type)) == wanted.bits[k]);
  }
}

Range random_range(Rng& rng, std::uint64_t size) {
  const std::uint64_t begin = rng.below(size);
  return {begin, rng.between(begin + 1, size)};
}

}  // namespace

TEST_CASE("rows: any region of any partition gives the cells that are not zero, or says no") {
  Rng rng(11);
  const TempDir folder;
  std::size_t gathered = 0;
  for (int round = 0; round < 8; ++round) {
    for (const test::Partition& partition : test::partitions(rng, 24)) {
      CAPTURE(partition.name);
      const ValueType type = kValueTypes[rng.below(kValueTypes.size())];
      const auto store = store_of(folder, test::random_matrix(rng, partition, type));
      RowGatherer gatherer;  // one for all, so that what it keeps is met again
      for (int k = 0; k < 8; ++k) {
        const Region region{random_range(rng, partition.rows), random_range(rng, partition.cols)};
        if (!gatherer.gather(*store, region, type, Absent::zero, kNoLimit)) continue;
        check_same(gatherer.rows(), plain_rows(*store, region, type), type);
        ++gathered;
      }
    }
  }
  CHECK(gathered > 300);  // of 704
}

TEST_CASE("rows: regular tilings are never refused, band by band and as another type") {
  Rng rng(12);
  const TempDir folder;
  for (const TileShape tile : {TileShape{7, 5}, TileShape{40, 90}, TileShape{1, 90}}) {
    const auto partition = test::regular(40, 90, tile);
    const auto store = store_of(folder, test::random_matrix(rng, partition, ValueType::i16));
    for (const ValueType type : {ValueType::i16, ValueType::f64}) {
      RowGatherer gatherer;
      for (std::uint64_t row = 0; row < 40;) {
        const Region band{{row, std::min<std::uint64_t>(40, row + rng.between(1, 9))}, {0, 90}};
        REQUIRE(gatherer.gather(*store, band, type, Absent::error, kNoLimit));
        check_same(gatherer.rows(), plain_rows(*store, band, type), type);
        row = band.rows.end;
      }
    }
  }
}

TEST_CASE("rows: dense rows of any width and filling") {
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
      RowGatherer gatherer;
      REQUIRE(gatherer.gather(*store, all, ValueType::f64, Absent::error, kNoLimit));
      check_same(gatherer.rows(), plain_rows(*store, all, ValueType::f64), ValueType::f64);
    }
  }
}

TEST_CASE("rows: more entries than wanted are a no, exactly as many are not") {
  const TempDir folder;
  Image image = Image::matrix(2, 9, ValueType::i32, 2);
  image.csr<std::int32_t>({0, 0}, 4, {{{0, 1}, {3, 2}}, {{1, 3}}});
  image.csr<std::int32_t>({0, 4}, 5, {{{4, 4}}, {}});
  const auto store = store_of(folder, image);
  RowGatherer gatherer;
  const Region all{{0, 2}, {0, 9}}, left{{0, 2}, {0, 4}};
  CHECK(gatherer.gather(*store, all, ValueType::i32, Absent::error, 4));
  CHECK_FALSE(gatherer.gather(*store, all, ValueType::i32, Absent::error, 3));
  CHECK(gatherer.gather(*store, left, ValueType::i32, Absent::error, 3));
  CHECK_FALSE(gatherer.gather(*store, left, ValueType::i32, Absent::error, 2));
}

TEST_CASE("rows: errors are those of a read") {
  const TempDir folder;
  Image image = Image::matrix(2, 3, ValueType::i16, 2);
  image.csr<std::int16_t>({0, 0}, 3, {{{1, 5}}, {{0, 1}, {0, 2}}});
  const auto twice = store_of(folder, image);
  RowGatherer gatherer;
  const auto gather = [&](const Store& store, ValueType type) {
    const auto error = test::error_of([&] {
      gatherer.gather(store, {{0, 2}, {0, 3}}, type, Absent::error, kNoLimit);
    });
    return std::string(error ? error->what() : "no error");
  };
  CHECK(gather(*twice, ValueType::i16).find("got cell (1, 0) of it twice") != std::string::npos);

  Image wide = Image::matrix(2, 3, ValueType::i16, 2);
  wide.csr<std::int16_t>({0, 0}, 3, {{{1, 500}}, {}});
  CHECK(gather(*store_of(folder, wide), ValueType::u8).find("type_mismatch") != std::string::npos);

  Image gap = Image::matrix(2, 3, ValueType::i16, 2);
  gap.csr<std::int16_t>({0, 0}, 2, {{{1, 5}}, {}});
  CHECK(gather(*store_of(folder, gap), ValueType::i16).find("(R7)") != std::string::npos);
}
