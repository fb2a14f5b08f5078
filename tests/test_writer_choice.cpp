// Which kind and value type a block takes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/partition.h"
#include "tests/reference.h"
#include "tests/support.h"

using namespace dapple;
using test::Rng;
using test::TempDir;
using test::writer;

namespace {

// The fewest bytes for cells of type T, found by trying everything: value types that give back
// every bit, in the order declared type, then codes; kinds in the order dense, CSR, COO.
struct Choice {
  BlockKind kind = BlockKind::empty;
  ValueType type = ValueType::u8;
  friend bool operator==(const Choice&, const Choice&) = default;
};

template <Value T>
Choice best_choice(const std::vector<T>& cells, std::uint64_t rows, std::uint64_t cols) {
  const auto declared = static_cast<int>(value_type_of<T>());
  std::uint64_t stored = 0, best_size = ~std::uint64_t{0};
  std::array<bool, 11> holds{};
  holds.fill(true);
  for (const T& cell : cells) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &cell, sizeof(T));
    stored += bits != 0;
    for (int type = 1; type <= 10; ++type) {
      const auto narrow = reference::convert(declared, bits, type);
      if (declared < 9 && type >= 9) holds[static_cast<std::size_t>(type)] = false;
      holds[static_cast<std::size_t>(type)] &=
          narrow && reference::convert(type, *narrow, declared) == bits;
    }
    // A signalling NaN keeps its type: processors would silence it on the way.
    if constexpr (std::is_same_v<T, double>) {
      if (std::isnan(cell) && ((bits >> 51) & 1) == 0) holds[9] = false;
    }
  }
  if (stored == 0) return {};
  std::vector<int> types{declared};
  for (int type = 1; type <= 10; ++type) types.push_back(type);
  int type = declared;
  for (const int t : types) {
    if (holds[static_cast<std::size_t>(t)] && reference::size_of(t) < reference::size_of(type)) {
      type = t;
    }
  }
  Choice best;
  const std::uint64_t size = reference::size_of(type);
  const std::uint64_t sizes[] = {10 + rows * cols * size, 18 + 4 * rows + stored * (4 + size),
                                 14 + stored * ((cols == 1 ? 4 : 8) + size)};
  for (int kind = 1; kind <= 3; ++kind) {
    if (sizes[kind - 1] >= best_size) continue;
    best_size = sizes[kind - 1];
    best = {static_cast<BlockKind>(kind), static_cast<ValueType>(type)};
  }
  return best;
}

template <Value T>
T corner_value(Rng& rng) {
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    const T values[] = {T(-0.0),
                        Limits::quiet_NaN(),
                        Limits::signaling_NaN(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::denorm_min(),
                        Limits::max(),
                        T(0.5),
                        T(1) / T(3),
                        T(16777216),
                        T(16777217),
                        T(4294967295.0),
                        T(4294967296.0),
                        T(-2147483648.0),
                        T(1e300),
                        T(1e30F),
                        T(-1),
                        T(255),
                        T(-129),
                        T(65536)};
    return values[rng.below(std::size(values))];
  } else {
    const int bits = static_cast<int>(rng.below(8 * sizeof(T)));
    const auto power = static_cast<std::uint64_t>(1) << bits;
    return static_cast<T>(rng.chance(50) ? power - rng.below(2) : 0 - power - rng.below(2));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("writer: a block takes the fewest bytes that give back every bit", T,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, float, double) {
  Rng rng(41);
  const TempDir dir;
  WriteOptions options;
  options.plain = true;
  options.overwrite = true;
  options.sync = false;
  for (int round = 0; round < 150; ++round) {
    const auto rows = static_cast<std::uint32_t>(rng.between(1, 12));
    const auto cols = static_cast<std::uint32_t>(rng.between(1, 12));
    std::vector<T> cells(std::size_t{rows} * cols);
    const auto density = static_cast<unsigned>(rng.below(101));
    const bool corners = rng.chance(50);
    for (T& cell : cells) {
      if (rng.chance(density)) cell = static_cast<T>(rng.below(200));
      if (corners && rng.chance(density / 8)) cell = corner_value<T>(rng);
    }
    auto w = writer<T>(dir / "m", rows, cols, options);
    std::vector<Triplet<T>> entries;
    for (std::uint32_t i = 0; i < cells.size(); ++i) {
      entries.push_back({i / cols, i % cols, cells[i]});
    }
    test::shuffle(entries, rng);
    if (round % 2 == 0) w.template put<T>({0, 0}, {cells.data(), rows, cols});
    if (round % 2 == 1)
      w.template put<T>({0, 0}, {rows, cols}, std::span<const Triplet<T>>(entries));
    w.finish();
    const Matrix m = Matrix::open(dir / "m");
    const BlockInfo info = *m.blocks().begin();
    const Choice got{info.kind, info.value_type}, want = best_choice(cells, rows, cols);
    CAPTURE(round);
    CAPTURE(name(want.kind));
    CAPTURE(name(want.type));
    CAPTURE(name(got.kind));
    CAPTURE(name(got.type));
    CHECK(got == want);
    const auto back = m.read<T>({{0, rows}, {0, cols}});
    CHECK(std::memcmp(back.data(), cells.data(), cells.size() * sizeof(T)) == 0);
    CHECK(test::difference(dir / "m") == "");
  }
}

TEST_CASE("writer: cells behind those that settle a tile's value type still count") {
  const TempDir dir;
  constexpr std::uint32_t kSide = 256;
  std::vector<double> cells(std::size_t{kSide} * kSide);
  const auto written = [&](const std::string& name) {
    auto w = writer<double>(dir / name, kSide, kSide);
    w.put<double>({0, 0}, {cells.data(), kSide, kSide});
    w.finish();
    CHECK(test::difference(dir / name) == "");
    const Matrix m = Matrix::open(dir / name);
    CHECK(m.read<double>({{0, kSide}, {0, kSide}}) == cells);
    return (*m.blocks().begin());
  };
  cells[1] = 0.1;  // nothing smaller gives this back, and few cells follow it
  cells[50'000] = 1e300;
  cells[60'000] = 7;
  CHECK(written("sparse").kind != BlockKind::dense);
  CHECK(written("sparse2").stored == 3);
  std::fill(cells.begin() + 5000, cells.end(), 3);
  CHECK(written("dense").kind == BlockKind::dense);
  cells.assign(cells.size(), 3);
  CHECK(written("narrow").value_type == ValueType::u8);
  cells.back() = 0.1;
  CHECK(written("wide").value_type == ValueType::f64);
}

TEST_CASE("writer: default tiles of sparse cells have cells, however many are stored") {
  for (const double stored : {0.0, 1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(stored);
    const TileShape tile = default_sparse_tile(10, 10, stored, ValueType::f64);
    CHECK(tile.rows >= 1);
    CHECK(tile.cols >= 1);
  }
}

TEST_CASE("writer: a huge matrix of few cells has few tiles, whose sides are both long") {
  for (const std::uint64_t side : {std::uint64_t{1} << 33, std::uint64_t{1} << 40}) {
    const TileShape tile = default_sparse_tile(side, side, 1, ValueType::f64);
    CHECK(tile.rows == std::numeric_limits<std::uint32_t>::max());
    CHECK(tile.cols == tile.rows);
  }
}
