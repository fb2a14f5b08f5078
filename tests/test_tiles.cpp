// Tiles as the caller's type, whatever they are stored as: compared with the reference reader.

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/reference.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;

namespace {

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The cells of a block by every way that a tile offers.
template <class T>
std::vector<std::vector<T>> ways(Tile<T>& tile) {
  std::vector<std::vector<T>> all(3);
  for (std::uint64_t r = 0; r < tile.rows(); ++r) {
    for (std::uint64_t c = 0; c < tile.cols(); ++c) all[0].push_back(tile(r, c));
    const auto row = tile.row(r);
    all[1].insert(all[1].end(), row.begin(), row.end());
  }
  const auto span = tile.span();
  all[2].assign(span.begin(), span.end());
  return all;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("tiles: blocks of every partition, kind and type are read as any type that fits",
                   T, std::uint8_t, std::int16_t, std::uint32_t, std::int64_t, float, double) {
  test::Rng rng(71);
  fuzz::MemoryFile file;
  for (const ValueType declared : kValueTypes) {
    for (const test::Partition& p : test::partitions(rng, 8)) {
      const Image image = test::random_matrix(rng, p, declared);
      const reference::Object object = reference::read(image.bytes());
      file.set(image.bytes());
      const Matrix m = Matrix::open(file.path());
      for (const BlockInfo& info : m.blocks()) {
        std::vector<T> wanted;
        bool fits = true;
        for (std::uint64_t r = info.pos.rx; r < info.pos.rx + info.rows; ++r) {
          for (std::uint64_t c = info.pos.cx; c < info.pos.cx + info.cols; ++c) {
            const auto bits = reference::convert(object.type_of(c), object.cell(r, c).bits,
                                                 static_cast<int>(value_type_of<T>()));
            fits = fits && bits;
            wanted.push_back(bits ? from_bits<T>(*bits) : T());
          }
        }
        CAPTURE(name(declared));
        CAPTURE(p.name);
        const bool is_view =
            info.kind == BlockKind::empty ||
            (info.kind == BlockKind::dense && info.value_type == value_type_of<T>());
        const auto error = test::error_of([&] {
          Tile<T> tile = m.block(info.pos).cells<T>();
          CHECK(tile.is_view() == is_view);
          CHECK(tile.rows() == info.rows);
          CHECK(tile.cols() == info.cols);
          for (const auto& way : ways(tile)) CHECK(same_bits(way, wanted));
        });
        REQUIRE(error.has_value() == !fits);
        if (error) CHECK(error->code() == Errc::type_mismatch);
        const auto copied = test::error_of([&] { m.block(info.pos).cells<T>(Copy::forbidden); });
        REQUIRE(copied.has_value() == !is_view);
        if (copied) CHECK(copied->code() == Errc::type_mismatch);
      }
    }
  }
}

namespace {

// 2 x 3 tiles of 2 x 2: dense of f64, dense of u8, CSR, COO, empty, dense of f64.
Image mixed() {
  Image image = Image::matrix(4, 6, ValueType::f64);
  image.dense<double>({0, 0}, 2, 2, {1, 2, 3, 4});
  image.dense<std::uint8_t>({0, 2}, 2, 2, {5, 6, 7, 8});
  image.csr<float>({0, 4}, 2, {{{1, 9.5F}}, {}});
  image.coo<std::int16_t>({2, 0}, 2, 2, {{1, 0, -7}});
  image.empty({2, 2}, 2, 2);
  image.dense<double>({2, 4}, 2, 2, {-0.0, 0.5, 1e300, 4});
  return image;
}

}  // namespace

TEST_CASE("tiles: an accessor reads tiles of every kind as the object's type, again and again") {
  fuzz::MemoryFile file;
  file.set(mixed().bytes());
  for (const bool guard : {false, true}) {
    for (const Check check : {Check::never, Check::first_touch, Check::always}) {
      OpenOptions options;
      options.guard = guard;
      options.check = check;
      const Matrix m = Matrix::open(file.path(), options);
      const auto tiles = m.tiles<double>();
      static_assert(std::is_trivially_copyable_v<decltype(tiles)>);
      CHECK(tiles.grid() == Grid{2, 3, {2, 2}});
      for (int pass = 0; pass < 3; ++pass) {
        for (std::uint64_t i = 0; i < tiles.rows(); ++i) {
          for (std::uint64_t j = 0; j < tiles.cols(); ++j) {
            Tile<double> tile = tiles(i, j);
            const bool stored_so = i == j / 2 && j != 1, empty = i == 1 && j == 1;
            CHECK(tile.is_view() == (stored_so || empty));
            const Region region{{2 * i, 2 * i + 2}, {2 * j, 2 * j + 2}};
            for (const auto& way : ways(tile)) CHECK(same_bits(way, m.read<double>(region)));
          }
        }
      }
    }
  }
}

TEST_CASE("tiles: a copy can be forbidden, and the error says which block is stored how") {
  const test::TempDir dir;
  const Matrix m = Matrix::open(dir.write("m.dbdf", mixed().bytes()));
  const auto tiles = m.tiles<double>(Copy::forbidden);
  CHECK(tiles(0, 0)(1, 1) == 4);
  const auto error = test::error_of([&] { tiles(0, 1); });
  REQUIRE(error);
  CHECK(error->code() == Errc::type_mismatch);
  CHECK(error->detail() ==
        "block (0, 2) is stored as dense of u8: reading it as f64 takes a copy, which was "
        "forbidden");
  CHECK(test::error_of([&] { tiles(1, 0); })->detail().find("coo of i16") != std::string::npos);
  const Tile<double> empty = tiles(1, 1);
  CHECK(empty.is_view());
  CHECK(std::vector<double>(empty.row(1).begin(), empty.row(1).end()) == std::vector<double>{0, 0});
  // Cells that are no aligned array are copied for a span, unless that is forbidden.
  Tile<double> tile = tiles(0, 0);
  if (!tile.aligned()) {
    CHECK(test::error_of([&] { tile.span(); })->code() == Errc::type_mismatch);
  }
  Tile<double> other = m.tiles<double>()(0, 0);
  CHECK(other.is_view());
  const bool aligned = other.aligned().has_value();
  CHECK(other.span()[3] == 4);
  CHECK(other.is_view() == aligned);
}

TEST_CASE("tiles: an empty one of more bytes than can be counted is not copied") {
  const test::TempDir dir;
  Image image = Image::matrix(1ULL << 31, 1ULL << 30, ValueType::f64);
  image.empty({0, 0}, 1U << 31, 1U << 30);
  const Matrix m = Matrix::open(dir.write("m.dbdf", image.bytes()));
  Tile<double> tile = m.tiles<double>()(0, 0);
  CHECK(tile((1U << 31) - 1, (1U << 30) - 1) == 0);
  CHECK_THROWS_AS(tile.span(), std::bad_alloc);
  CHECK(tile.is_view());
}

TEST_CASE("tiles: what is outside the grid, or without one, is refused") {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  const test::TempDir dir;
  const Matrix m = Matrix::open(dir.write("m.dbdf", mixed().bytes()));
  const auto tiles = m.tiles<float>();
  for (const auto& at : std::vector<std::array<std::uint64_t, 2>>{
           {2, 0}, {0, 3}, {kMax, 0}, {0, kMax}, {kMax / 3 + 1, 0}, {kMax, kMax}}) {
    const auto error = test::error_of([&] { tiles(at[0], at[1]); });
    REQUIRE(error);
    CHECK(error->code() == Errc::out_of_range);
  }
  CHECK(test::error_of([&] { tiles(9, 9); })->detail() == "tile (9, 9) is outside the 2 x 3 grid");
  // 1e300 is no value of f32.
  CHECK(test::error_of([&] { tiles(1, 2); })->code() == Errc::type_mismatch);
  Image uneven = Image::matrix(1, 4, ValueType::u8);
  uneven.empty({0, 0}, 1, 1).empty({0, 1}, 1, 3);
  const Matrix none = Matrix::open(dir.write("n.dbdf", uneven.bytes()));
  CHECK(test::error_of([&] { none.tiles<double>(); })->code() == Errc::invalid_argument);
}

namespace {

template <class O>
concept GivesBorrowed = requires(O&& object) {
  std::forward<O>(object).tile(0, 0);
}
|| requires(O&& object) { std::forward<O>(object).block(BlockPos{}); }
|| requires(O&& object) { std::forward<O>(object).blocks(); }
|| requires(O&& object) { std::forward<O>(object).template tiles<double>(); }
|| requires(O&& object) { std::forward<O>(object).find_cover(0, 0); };
static_assert(GivesBorrowed<Matrix&> && GivesBorrowed<const Frame&>);
static_assert(!GivesBorrowed<Matrix> && !GivesBorrowed<const Matrix> && !GivesBorrowed<Frame>,
              "what a temporary object lends would dangle");

}  // namespace
