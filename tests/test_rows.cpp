// Rows as a range (dapple/rows.h), against the cells that a read gives.
#include "dapple/rows.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>
#include <vector>

#include "dapple/matrix.h"
#include "tests/check.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;
using test::Rng;
using test::TempDir;

static_assert(std::ranges::input_range<RowRange<float>>);
static_assert(std::ranges::random_access_range<RowView<float>>);

namespace {

/// Every cell that the rows give, in a dense table; and that they come in order.
template <class Rows>
std::vector<double> cells_of(Rows&& rows, const Region& region) {
  std::vector<double> cells(region.rows.size() * region.cols.size());
  std::uint64_t number = 0;
  for (const auto row : rows) {
    REQUIRE(row.number() == number++);
    REQUIRE(row.cols().size() == row.size());
    REQUIRE(std::is_sorted(row.cols().begin(), row.cols().end()));
    std::size_t i = 0;
    for (const auto [col, value] : row) {
      REQUIRE(row[i].col == col);
      REQUIRE(row.values()[i++] == value);
      REQUIRE(value != 0);
      cells[row.number() * region.cols.size() + col] = static_cast<double>(value);
    }
    REQUIRE(i == row.size());
  }
  REQUIRE(number == region.rows.size());
  return cells;
}

}  // namespace

TEST_CASE("rows: any region of any partition has the rows that its cells make") {
  Rng rng(21);
  const TempDir folder;
  for (int round = 0; round < 4; ++round) {
    for (const test::Partition& partition : test::partitions(rng, 24)) {
      CAPTURE(partition.name);
      const Matrix m = Matrix::open(
          folder.write("m.dbdf", test::random_matrix(rng, partition, ValueType::i16).bytes()));
      for (unsigned threads = 1; threads < 4; ++threads) {
        const Region region{rng.range(partition.rows), rng.range(partition.cols)};
        const ReadOptions options{Absent::zero, threads};
        const auto wanted = m.read<double>(region, options);
        REQUIRE(cells_of(stream_rows<double>(m, region, options), region) == wanted);
        REQUIRE(cells_of(stream_rows<std::int64_t>(m, region, options), region) == wanted);
      }
      for (const BlockInfo& info : m.blocks()) {
        const Region cells = info.cells();
        const auto wanted = m.read<double>(cells);
        const auto got = cells_of(m.block(info.pos).rows<float>(), {cells.rows, cells.cols});
        REQUIRE(got == wanted);
      }
    }
  }
}

TEST_CASE("rows: of a whole matrix, which may be gone meanwhile") {
  const TempDir folder;
  Image image = Image::matrix(3, 4, ValueType::f32, 2);
  image.csr<std::uint8_t>({0, 0}, 4, {{{1, 7}, {3, 0}}, {}, {{0, 9}}});
  auto rows = stream_rows<float>(Matrix::open(folder.write("m.dbdf", image.bytes())));
  auto row = rows.begin();
  CHECK((*row).size() == 1);
  CHECK((*row)[0] == RowEntry<float, std::uint64_t>{1, 7});
  ++row;
  CHECK((*row).empty());
  CHECK((*row).begin() == (*row).end());
  ++row;
  CHECK((*row).values()[0] == 9);
  CHECK(row != rows.end());
  ++row;
  CHECK(row == rows.end());
}

TEST_CASE("rows: an error is thrown when its band is reached") {
  const TempDir folder;
  Image image = Image::matrix(4, 4, ValueType::f64, 2);
  image.csr<double>({0, 0}, 4, {{{1, 7}}, {}});
  image.csr<double>({2, 0}, 4, {{{1, 0.5}}, {{0, 9}}});
  const Matrix m = Matrix::open(folder.write("m.dbdf", image.bytes()));
  auto rows = stream_rows<int>(m);
  auto row = rows.begin();
  CHECK((*row).values()[0] == 7);
  ++row;
  const auto error = test::error_of([&] { ++row; });
  REQUIRE(error);
  CHECK(error->code() == Errc::type_mismatch);
  // No row that follows is given as one without values.
  CHECK(test::required_error(test::error_of([&] { ++row; })).code() == Errc::type_mismatch);
  CHECK(test::required_error(test::error_of([&] {
          stream_rows<int>(m, {{0, 5}, {0, 4}});
        })).code() == Errc::out_of_range);
}

TEST_CASE("rows: empty ones are passed over, however many there are") {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;
  constexpr std::uint32_t kMost = ~std::uint32_t{0};
  const TempDir dir;
  const auto sizes_of = [&](const Image& image) {
    const Matrix m = Matrix::open(dir.write("m.dbdf", image.bytes()));
    std::vector<std::pair<std::uint64_t, std::size_t>> found;
    for (const auto row : stream_rows<float>(m, {.absent = Absent::zero}).skip_empty()) {
      found.emplace_back(row.number(), row.size());
    }
    return found;
  };
  Image image = Image::matrix(kHuge, 3, ValueType::f32, 2);
  CHECK(sizes_of(image).empty());
  image.coo<float>({0, 0}, kMost, 3, {{7, 1, 2}, {7, 2, 3}, {kMost - 1, 0, 4}});
  image.coo<float>({kHuge - 5, 1}, 5, 1, {{4, 0, 9}});
  CHECK(sizes_of(image) ==
        std::vector<std::pair<std::uint64_t, std::size_t>>{{7, 2}, {kMost - 1, 1}, {kHuge - 1, 1}});
}
