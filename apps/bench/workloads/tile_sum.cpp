// W2 and W3, sum: all cells of random tiles, by one thread and by two.
#include <fmt/format.h>

#include <utility>

#include "harness/helper_process.h"
#include "harness/kernels.h"
#include "peers/hdf5_matrix.h"
#include "peers/lmdb_store.h"
#include "workloads/python_tiles.h"
#include "workloads/tiles.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Touches = std::span<const Touch>;

class SumSeries {
 public:
  SumSeries(const TileShapeOf& shape, Touches tiles, const std::vector<double>& sums,
            unsigned threads)
      : shape_(shape), tiles_(tiles), sums_(sums), threads_(threads) {}

  /// `sum(tiles)` adds up all cells of some tiles; it is called by each thread with its share.
  template <class Sum>
  Contender contender(std::string name, Role role, std::string how, Sum sum) const {
    double expected = 0;
    for (const Touch& t : tiles_) expected += sums_[shape_.number(t.i, t.j)];
    const auto run = [tiles = tiles_, threads = threads_, sum = std::move(sum)](Sample&) {
      return sum_in_threads(threads, [&](unsigned k) { return sum(part(tiles, k, threads)); });
    };
    return {std::move(name), role,
            std::move(how),  static_cast<double>(tiles_.size() * shape_.tile_bytes()),
            expected,        run};
  }

 private:
  TileShapeOf shape_;
  Touches tiles_;
  const std::vector<double>& sums_;
  unsigned threads_;
};

void add_lmdb(Series& series, const SumSeries& of, const TileFiles& files) {
  const auto store = std::make_shared<LmdbStore>(files.lmdb);
  series.contenders.push_back(
      of.contender("LMDB", Role::peer, "mdb_get, value summed in place; a transaction a thread",
                   [store, shape = files.shape](Touches some) {
                     const LmdbStore::Reader reader(*store);
                     double sum = 0;
                     for (const Touch& t : some) {
                       sum += sum_doubles(reader.find(shape.number(t.i, t.j)), shape.tile_cells());
                     }
                     return sum;
                   }));
}

void add_hdf5(Series& series, const SumSeries& of, const TileFiles& files) {
  for (const std::size_t cache : {kHdf5LargeCache, kHdf5DefaultCache}) {
    const auto hdf5 = std::make_shared<Hdf5Matrix>(files.hdf5, ValueType::f64, cache);
    series.contenders.push_back(of.contender(
        cache == kHdf5LargeCache ? "HDF5, 4 GiB cache" : "HDF5, default cache", Role::peer,
        "H5Dread of the chunk into one buffer", [hdf5, shape = files.shape](Touches some) {
          std::vector<double> buffer(shape.tile_cells());
          double sum = 0;
          for (const Touch& t : some) {
            const std::uint64_t row = std::uint64_t{t.i} * shape.tile;
            const std::uint64_t col = std::uint64_t{t.j} * shape.tile;
            hdf5->read({{row, row + shape.tile}, {col, col + shape.tile}}, buffer.data());
            sum += sum_doubles(buffer);
          }
          return sum;
        }));
    move_to_helper(series.contenders.back());
  }
}

}  // namespace

void sum_tiles(Session& session, const TileFiles& files, double least_of_limit) {
  const TileShapeOf shape = files.shape;
  // Small tiles are slower to go through; 2 GiB or 512 MiB of cells take some 100 ms.
  const std::size_t bytes = std::size_t{1} << (session.quick() ? 20 : shape.tile < 64 ? 29 : 31);
  const auto tiles = random_touches(shape, bytes / shape.tile_bytes());
  const auto sums = tile_sums(shape);
  const RawTiles raw(files.dapple, shape);
  const auto matrix = Matrix::open(files.dapple);

  for (const unsigned threads : {1U, 2U}) {
    const SumSeries of(shape, tiles, sums, threads);
    Series series{fmt::format("sum all cells, {} thread{}", threads, threads == 1 ? "" : "s"),
                  kGigabytesPerSecond,
                  Cache::warm,
                  {{"limit", 1 / least_of_limit}}};
    series.contenders.push_back(of.contender(
        "raw sum", Role::limit, "address computed from the tile's number", [&](Touches some) {
          double sum = 0;
          for (const Touch& t : some) {
            sum += sum_doubles(raw.tile(shape.number(t.i, t.j)), shape.tile_cells());
          }
          return sum;
        }));
    series.contenders.push_back(
        of.contender("dapple", Role::dapple, "tiles = matrix.tiles<double>(), summed in place",
                     [&](Touches some) {
                       double sum = 0;
                       const auto typed = matrix.tiles<double>();
                       for (const Touch& t : some) {
                         const auto tile = typed(t.i, t.j);
                         sum += sum_doubles(tile.row(0).bytes().data(), tile.rows() * tile.cols());
                       }
                       return sum;
                     }));
    if constexpr (kHasLmdb) add_lmdb(series, of, files);
    if (threads == 1) {
      if constexpr (kHasHdf5) add_hdf5(series, of, files);
      const Contender& limit = series.contenders.front();
      if (tiles.size() <= PythonTiles::kMostTouches) {
        PythonTiles(session, files)
            .add_touching(series, "sum_tiles", tiles.size(), limit.work, limit.expected);
      }
    }
    session.measure(series);
  }
  session.remark("HDF5 and Python take part with one thread: neither is made for more");
}

}  // namespace dapple::bench
