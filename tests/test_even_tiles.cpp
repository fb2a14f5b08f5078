// Tiles that lie evenly in their file are found by their number once they were touched: the first
// look and every later one must see the same cells, also where the file is even only in part.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;

namespace {

// Tiles of 1 x 2 cells, enough to be looked at as even ones.
constexpr std::uint64_t kDown = 144, kAcross = 64, kTiles = kDown * kAcross;

BlockPos pos_of(std::uint64_t k) { return {k / kAcross, k % kAcross * 2}; }
std::array<std::int32_t, 2> cells_of(std::uint64_t k) {
  const auto first = static_cast<std::int32_t>(2 * k);
  return {first, first + 1};
}

// What is in a file in place of some of its dense tiles of i32.
enum class Odd { none, narrow, sparse, empty };

struct OddTile {
  std::uint64_t number;
  Odd kind;
};

Odd kind_of(const std::vector<OddTile>& odd, std::uint64_t k) {
  const auto found =
      std::find_if(odd.begin(), odd.end(), [&](const OddTile& o) { return o.number == k; });
  return found == odd.end() ? Odd::none : found->kind;
}

test::Image image_of(const std::vector<OddTile>& odd) {
  test::Image image = test::Image::matrix(kDown, 2 * kAcross, ValueType::i32);
  for (std::uint64_t k = 0; k < kTiles; ++k) {
    const auto [a, b] = cells_of(k);
    switch (kind_of(odd, k)) {
      case Odd::none:
        image.dense<std::int32_t>(pos_of(k), 1, 2, {a, b});
        break;
      case Odd::narrow:
        image.dense<std::uint16_t>(pos_of(k), 1, 2,
                                   {static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)});
        break;
      case Odd::sparse:
        image.csr<std::int32_t>(pos_of(k), 2, {{{0, a}, {1, b}}});
        break;
      case Odd::empty:
        image.empty(pos_of(k), 1, 2);
        break;
    }
  }
  return image;
}

template <class T>
bool shows(const Block& tile, std::uint64_t k) {
  const auto view = tile.dense_view<T>();
  const auto [a, b] = cells_of(k);
  return view.rows() == 1 && view.cols() == 2 && view(0, 0) == static_cast<T>(a) &&
         view(0, 1) == static_cast<T>(b);
}

bool is_right(const Matrix& m, std::uint64_t k, Odd kind) {
  const Block tile = m.tile(k / kAcross, k % kAcross);
  if (tile.info().pos != pos_of(k)) return false;
  switch (kind) {
    case Odd::none:
      return shows<std::int32_t>(tile, k) &&
             (k % 64 != 0 || test::error_of([&] { tile.dense_view<float>(); }));
    case Odd::narrow:
      return shows<std::uint16_t>(tile, k) &&
             test::error_of([&] { tile.dense_view<std::int32_t>(); });
    case Odd::sparse:
      return tile.csr_view<std::int32_t>().nnz() == 2 &&
             test::error_of([&] { tile.dense_view<std::int32_t>(); });
    case Odd::empty:
      return tile.info().kind == BlockKind::empty &&
             test::error_of([&] { tile.dense_view<std::int32_t>(); });
  }
  return false;
}

// Number of the first tile that is not as it was stored, looked at in this order; kTiles: none.
std::uint64_t first_wrong(const Matrix& m, const std::vector<OddTile>& odd,
                          const std::vector<std::uint64_t>& order) {
  for (const std::uint64_t k : order) {
    if (!is_right(m, k, kind_of(odd, k))) return k;
  }
  return kTiles;
}

std::vector<std::uint64_t> shuffled(std::uint64_t seed) {
  test::Rng rng(seed);
  std::vector<std::uint64_t> order(kTiles);
  for (std::uint64_t k = 0; k < kTiles; ++k) order[k] = k;
  for (std::uint64_t k = kTiles; k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
  return order;
}

}  // namespace

TEST_CASE("even tiles: each look at a tile sees its cells, wherever the file is not even") {
  const std::vector<std::vector<OddTile>> all = {
      {},
      {{5000, Odd::sparse}},
      {{300, Odd::narrow}, {301, Odd::empty}, {kTiles - 1, Odd::sparse}},
      {{0, Odd::narrow}},
      {{0, Odd::narrow}, {1, Odd::narrow}},
      {{1, Odd::empty}},
  };
  for (const auto& odd : all) {
    const test::TempDir dir;
    const auto path = dir.write("m", image_of(odd).bytes());
    for (const bool indexed : {false, true}) {
      CAPTURE(odd.size());
      CAPTURE(indexed);
      if (indexed) write_sidecar(path);
      for (const Check check : {Check::never, Check::first_touch, Check::always}) {
        OpenOptions options;
        options.check = check;
        const Matrix m = Matrix::open(path, options);
        REQUIRE(m.grid() == Grid{kDown, kAcross, {1, 2}});
        CHECK(first_wrong(m, odd, shuffled(1)) == kTiles);
        CHECK(first_wrong(m, odd, shuffled(2)) == kTiles);
      }
    }
  }
}

TEST_CASE("even tiles: what is no tile is refused, before the first touch and after each") {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  // The numbers of some of these, i * kAcross + j, wrap around to those of tiles.
  const std::vector<std::array<std::uint64_t, 2>> none = {{kDown, 0},
                                                          {0, kAcross},
                                                          {kDown - 1, kAcross},
                                                          {kDown, kMax},
                                                          {kMax, 0},
                                                          {kMax, kAcross - 1},
                                                          {0, kMax},
                                                          {kMax / kAcross + 1, 0},
                                                          {kMax, kAcross},
                                                          {kMax / kAcross + 3, 5},
                                                          {kMax, kMax},
                                                          {1, kMax - kAcross + 1}};
  const test::TempDir dir;
  const std::vector<std::vector<OddTile>> all = {{}, {{0, Odd::narrow}, {1, Odd::narrow}}};
  for (const auto& odd : all) {
    const auto path = dir.write("m", image_of(odd).bytes());
    const Matrix m = Matrix::open(path);
    const auto all_refused = [&] {
      return std::all_of(none.begin(), none.end(), [&](const auto& at) {
        const auto error = test::error_of([&] { m.tile(at[0], at[1]); });
        return error && error->code() == Errc::out_of_range;
      });
    };
    CHECK(all_refused());
    REQUIRE(is_right(m, 7, Odd::none));
    CHECK(all_refused());
    REQUIRE(first_wrong(m, odd, shuffled(3)) == kTiles);
    CHECK(all_refused());
  }
}

TEST_CASE("even tiles: a loop that began before the first touch sees what any other sees") {
  const test::TempDir dir;
  std::int64_t wanted = 0;
  for (std::uint64_t k = 0; k < kTiles; ++k) wanted += cells_of(k)[1];
  const auto second_cell = [](const Block& tile, bool narrow) -> std::int64_t {
    return narrow ? tile.dense_view<std::uint16_t>()(0, 1) : tile.dense_view<std::int32_t>()(0, 1);
  };
  // The second is even nowhere.
  const std::vector<std::vector<OddTile>> all = {{}, {{0, Odd::narrow}, {1, Odd::narrow}}};
  for (const auto& odd : all) {
    const auto path = dir.write("m", image_of(odd).bytes());
    const Matrix by_tile = Matrix::open(path), by_block = Matrix::open(path);
    for (int pass = 0; pass < 3; ++pass) {
      std::int64_t tiles = 0, blocks = 0;
      for (std::uint64_t i = 0; i < kDown; ++i) {
        for (std::uint64_t j = 0; j < kAcross; ++j) {
          const bool narrow = i * kAcross + j < odd.size();
          tiles += second_cell(by_tile.tile(i, j), narrow);
          blocks += second_cell(by_block.block({i, 2 * j}), narrow);
        }
      }
      CHECK(tiles == wanted);
      CHECK(blocks == wanted);
    }
  }
}

TEST_CASE(
    "even tiles: an index that lies about one of the last three, or another, changes no cell") {
  constexpr std::size_t kHead = 64, kEntry = 64, kOffset = 16;
  const test::TempDir dir;
  const auto path = dir.path() / "m";
  {
    WriteOptions options;
    options.tile = {1, 2};
    options.narrow = false;
    options.kind = KindChoice::dense;
    auto writer = MatrixWriter::create(path, kDown, 2 * kAcross, ValueType::i32, options);
    for (std::uint64_t k = 0; k < kTiles; ++k) {
      const auto cells = cells_of(k);
      writer.put<std::int32_t>(pos_of(k), {cells.data(), 1, 2});
    }
    writer.finish();
  }
  const std::vector<std::byte> sound = test::read_bytes(path);
  std::uint64_t index_bytes = 0;  // the trailer, the last line, says it
  std::memcpy(&index_bytes, &sound[sound.size() - 64 + 8], sizeof index_bytes);
  const std::size_t index = sound.size() - index_bytes;
  REQUIRE(std::memcmp(&sound[index], "DPL-INDX", 8) == 0);
  for (const std::uint64_t lying :
       {std::uint64_t{0}, std::uint64_t{777}, kTiles - 3, kTiles - 2, kTiles - 1}) {
    CAPTURE(lying);
    std::vector<std::byte> bytes = sound;
    // It points to the tile beside the one that it is of.
    const std::size_t at = index + kHead + lying * kEntry + kOffset;
    const std::size_t beside = lying == kTiles - 1 ? at - kEntry : at + kEntry;
    std::copy_n(&sound[beside], sizeof(std::uint64_t), &bytes[at]);
    test::write_bytes(path, bytes);
    const Matrix m = Matrix::open(path);
    for (const std::uint64_t seed : {3, 4}) {
      std::uint64_t refused = kTiles, wrong = kTiles;
      for (const std::uint64_t k : shuffled(seed)) {
        const auto error = test::error_of([&] {
          if (!is_right(m, k, Odd::none)) wrong = k;
        });
        if (error) refused = k;
      }
      CHECK(refused == lying);
      CHECK(wrong == kTiles);
    }
  }
}
