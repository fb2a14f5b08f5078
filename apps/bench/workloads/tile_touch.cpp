// W1 and W3, touch: one cell of a random tile. Independent touches may overlap in the processor;
// dependent ones, where each cell says which tile is next, may not.
#include <fmt/format.h>

#include <utility>

#include "harness/helper_process.h"
#include "harness/kernels.h"
#include "harness/random.h"
#include "peers/hdf5_matrix.h"
#include "peers/lmdb_store.h"
#include "workloads/python_tiles.h"
#include "workloads/tiles.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Touches = std::span<const Touch>;

/// Adds up the cells that `fetch` gives.
template <class Fetch>
double touch_all(Touches touches, const Fetch& fetch) {
  double sum = 0;
  for (const Touch& t : touches) sum += fetch(t);
  return sum;
}

/// The same, but the tile's row is moved by the value of the cell before. REQUIRES a grid of a
/// power of two.
template <class Fetch>
double touch_in_chain(Touches touches, std::uint64_t grid, const Fetch& fetch) {
  double sum = 0;
  std::uint64_t last = 0;
  for (Touch t : touches) {
    t.i = static_cast<std::uint16_t>((t.i + last) & (grid - 1));
    const double value = fetch(t);
    last = static_cast<std::uint64_t>(value);
    sum += value;
  }
  return sum;
}

/// Where a touched cell is in its tile's bytes.
std::size_t byte_of(const Touch& t, std::uint32_t tile) {
  return (std::size_t{t.row} * tile + t.col) * sizeof(double);
}

class TouchSeries {
 public:
  TouchSeries(const TileShapeOf& shape, const std::vector<Touch>& touches, bool chained)
      : shape_(shape), touches_(touches), chained_(chained) {}

  /// `count`: so many touches that a run is long enough to be timed and no longer.
  template <class Fetch>
  Contender contender(std::string name, Role role, std::string how, std::size_t count,
                      Fetch fetch) const {
    return prepared(std::move(name), role, std::move(how), count,
                    [fetch = std::move(fetch)](const auto& touch) { return touch(fetch); });
  }

  /// The same for one that makes something once for all touches: `start(touch)` makes it, and
  /// returns touch(fetch).
  template <class Start>
  Contender prepared(std::string name, Role role, std::string how, std::size_t count,
                     Start start) const {
    const auto run = [touches = first(count), chained = chained_, grid = shape_.grid(),
                      start = std::move(start)](Sample&) {
      return start([&](const auto& fetch) {
        return chained ? touch_in_chain(touches, grid, fetch) : touch_all(touches, fetch);
      });
    };
    return {std::move(name), role, std::move(how), static_cast<double>(first(count).size()),
            expected(count), run};
  }

  /// What a run over `count` touches must give.
  double expected(std::size_t count) const {
    const auto stored = [tile = shape_.tile](const Touch& t) -> double {
      return cell(std::uint64_t{t.i} * tile + t.row, std::uint64_t{t.j} * tile + t.col);
    };
    return chained_ ? touch_in_chain(first(count), shape_.grid(), stored)
                    : touch_all(first(count), stored);
  }

 private:
  Touches first(std::size_t count) const {
    return Touches(touches_).first(std::min(count, touches_.size()));
  }

  TileShapeOf shape_;
  const std::vector<Touch>& touches_;
  bool chained_;
};

constexpr std::size_t kFast = 2'000'000, kMiddling = 200'000, kSlow = 4'000;

/// Touches every page of both maps, so that none is touched for the first time within a run.
void compare_all(const RawTiles& raw, const Matrix& matrix, const TileShapeOf& shape) {
  const auto tiles = matrix.tiles<double>();
  for (std::uint64_t n = 0; n < shape.grid() * shape.grid(); ++n) {
    const auto tile = tiles(n / shape.grid(), n % shape.grid());
    for (std::uint64_t row = 0; row < shape.tile; ++row) {
      if (tile(row, 0) != load_double(raw.tile(n) + row * shape.tile * sizeof(double))) {
        throw std::runtime_error("expected the limit and dapple to see the same cells");
      }
    }
  }
}

void add_lmdb(Series& series, const TouchSeries& of, const TileFiles& files) {
  const auto store = std::make_shared<LmdbStore>(files.lmdb);
  const auto reader = std::make_shared<LmdbStore::Reader>(*store);
  series.contenders.push_back(of.contender(
      "LMDB", Role::peer, "mdb_get, value used in place", kMiddling,
      [store, reader, shape = files.shape](const Touch& t) {
        return load_double(reader->find(shape.number(t.i, t.j)) + byte_of(t, shape.tile));
      }));
}

void add_hdf5(Series& series, const TouchSeries& of, const TileFiles& files) {
  for (const std::size_t cache : {kHdf5LargeCache, kHdf5DefaultCache}) {
    const auto hdf5 = std::make_shared<Hdf5Matrix>(files.hdf5, ValueType::f64, cache);
    const bool large = cache == kHdf5LargeCache;
    series.contenders.push_back(of.contender(
        large ? "HDF5, 4 GiB cache" : "HDF5, default cache", Role::peer, "H5Dread of one cell",
        large ? kMiddling : kSlow, [hdf5, tile = std::uint64_t{files.shape.tile}](const Touch& t) {
          const std::uint64_t row = t.i * tile + t.row, col = t.j * tile + t.col;
          double value = 0;
          hdf5->read({{row, row + 1}, {col, col + 1}}, &value);
          return value;
        }));
    move_to_helper(series.contenders.back());
  }
}

}  // namespace

void touch_tiles(Session& session, const TileFiles& files) {
  const TileShapeOf shape = files.shape;
  const auto touches = random_touches(shape, session.sized(kFast, kSlow));
  const RawTiles raw(files.dapple, shape);
  const auto matrix = Matrix::open(files.dapple);
  compare_all(raw, matrix, shape);

  for (const bool chained : {false, true}) {
    const TouchSeries of(shape, touches, chained);
    Series series{chained ? "touch one cell, dependent loads" : "touch one cell, independent loads",
                  kNanoseconds,
                  Cache::warm,
                  {{"limit", 1.5}, {"LMDB", 1.0 / 8}, {"HDF5", 1.0 / 20}}};
    if (chained) series.goals = {{"limit", 1.5}};
    series.contenders.push_back(of.contender(
        "raw pointer", Role::limit, "address computed from the tile's number", kFast,
        [&](const Touch& t) {
          return load_double(raw.tile(shape.number(t.i, t.j)) + byte_of(t, shape.tile));
        }));
    series.contenders.push_back(of.prepared(
        "dapple", Role::dapple, "tiles = matrix.tiles<double>() once, then tiles(i, j)(row, col)",
        kFast, [&](const auto& touch) {
          const auto tiles = matrix.tiles<double>();
          return touch([&](const Touch& t) { return tiles(t.i, t.j)(t.row, t.col); });
        }));
    if constexpr (kHasLmdb) add_lmdb(series, of, files);
    if (!chained) {  // the others' own work is far longer than what the chain adds
      if constexpr (kHasHdf5) add_hdf5(series, of, files);
      PythonTiles(session, files)
          .add_touching(series, "touch", kSlow, static_cast<double>(kSlow), of.expected(kSlow));
    }
    session.measure(series);
  }
}

}  // namespace dapple::bench
