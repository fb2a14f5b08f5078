// W2 and W3, sum: all cells of random tiles, by one thread and by two.
#include <fmt/format.h>

#include <utility>

#include "harness/helper_process.h"
#include "harness/kernels.h"
#include "peers/hdf5_matrix.h"
#include "peers/lmdb_store.h"
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

}  // namespace

void sum_tiles(Session& session, const TileFiles& files, double least_of_limit) {
  const TileShapeOf shape = files.shape;
  const std::size_t count = session.sized(std::size_t{1} << 31, std::size_t{1} << 20) /
                            shape.tile_bytes() / (shape.tile < 64 ? 4 : 1);
  const auto tiles = random_touches(shape, count);
  const auto sums = tile_sums(shape);
  const RawTiles raw(files.dapple, shape);
  const auto matrix = Matrix::open(files.dapple);
  const std::size_t cells = shape.tile_cells();

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
            sum += sum_doubles(raw.tile(shape.number(t.i, t.j)), cells);
          }
          return sum;
        }));
    series.contenders.push_back(
        of.contender("dapple", Role::dapple, "matrix.tile(i, j).dense<double>(), summed in place",
                     [&](Touches some) {
                       double sum = 0;
                       for (const Touch& t : some) {
                         const auto view = matrix.tile(t.i, t.j).dense<double>();
                         sum += sum_doubles(view.row_bytes(0), view.rows() * view.cols());
                       }
                       return sum;
                     }));
    if constexpr (kHasLmdb) {
      const auto store = std::make_shared<LmdbStore>(files.lmdb);
      series.contenders.push_back(
          of.contender("LMDB", Role::peer, "mdb_get, value summed in place; a transaction a thread",
                       [store, shape, cells](Touches some) {
                         const LmdbStore::Reader reader(*store);
                         double sum = 0;
                         for (const Touch& t : some) {
                           sum += sum_doubles(reader.find(shape.number(t.i, t.j)), cells);
                         }
                         return sum;
                       }));
    }
    if constexpr (kHasHdf5) {
      if (threads > 1) {
        session.remark("HDF5 takes part with one thread: Debian's library is not made for more");
      } else {
        for (const std::size_t cache : {kHdf5LargeCache, kHdf5DefaultCache}) {
          const auto hdf5 = std::make_shared<Hdf5Matrix>(files.hdf5, ValueType::f64, cache);
          series.contenders.push_back(of.contender(
              cache == kHdf5LargeCache ? "HDF5, 4 GiB cache" : "HDF5, default cache", Role::peer,
              "H5Dread of the chunk into one buffer", [hdf5, shape](Touches some) {
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
    }
    session.measure(series);
  }
}

}  // namespace dapple::bench
