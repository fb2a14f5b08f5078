// W11: cells in memory become a file. The file is new in each run, as it is in life, so that the
// limit pays for fresh pages of the page cache too. Syncing is measured apart.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "dapple/dapple.h"
#include "harness/kernels.h"
#include "harness/random.h"
#include "harness/raw_file.h"
#include "peers/hdf5_matrix.h"
#include "peers/lmdb_store.h"
#include "workloads/cells_file.h"
#include "workloads/sparse.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// Cells in memory, tile after tile.
struct Tiles {
  std::uint32_t tile = 256;
  std::uint64_t down, across;
  std::vector<double> cells;

  Tiles(std::uint64_t tiles_down, std::uint64_t tiles_across)
      : down(tiles_down), across(tiles_across), cells(down * across * tile * tile) {}
  std::uint64_t count() const { return down * across; }
  std::size_t tile_cells() const { return std::size_t{tile} * tile; }
  std::span<const double> at(std::uint64_t number) const {
    return std::span(cells).subspan(number * tile_cells(), tile_cells());
  }
  BlockPos pos(std::uint64_t number) const {
    return {number / across * tile, number % across * tile};
  }
  double bytes() const { return static_cast<double>(cells.size() * sizeof(double)); }
  double sum() const { return sum_doubles(cells); }
};

/// Calls put(tile number) for all tiles, in so many threads, each with its share.
void put_all(const Tiles& tiles, unsigned threads, const std::function<void(std::uint64_t)>& put) {
  sum_in_threads(threads, [&](unsigned k) {
    for (std::uint64_t n = tiles.count() * k / threads; n < tiles.count() * (k + 1) / threads;
         ++n) {
      put(n);
    }
    return 0.0;
  });
}

void write_raw(const Path& path, const Tiles& tiles, unsigned threads, bool sync) {
  const RawFile file(path, RawFile::For::writing);
  const std::size_t step = tiles.tile_cells() * sizeof(double);
  put_all(tiles, threads,
          [&](std::uint64_t n) { file.write_at(n * step, std::as_bytes(tiles.at(n))); });
  if (sync) file.sync();
}

void write_dapple(const Path& path, const Tiles& tiles, unsigned threads, bool sync,
                  KindChoice kind) {
  WriteOptions options;
  options.tile = {tiles.tile, tiles.tile};
  options.kind = kind;
  options.narrow = kind == KindChoice::automatic;
  options.sync = sync;
  auto writer = MatrixWriter::create(path, tiles.down * tiles.tile, tiles.across * tiles.tile,
                                     ValueType::f64, options);
  put_all(tiles, threads, [&](std::uint64_t n) {
    writer.put<double>(tiles.pos(n), {tiles.at(n).data(), tiles.tile, tiles.tile});
  });
  writer.finish();
}

double sum_file(const Path& path) {
  const auto matrix = Matrix::open(path);
  std::vector<double> strip(256 * matrix.cols());
  double sum = 0;
  for (std::uint64_t row = 0; row < matrix.rows(); row += 256) {
    matrix.read<double>({{row, row + 256}, {0, matrix.cols()}}, strip);
    sum += sum_doubles(strip);
  }
  return sum;
}

struct Case {
  std::string name;
  KindChoice kind;
  unsigned threads;
  bool sync;
  bool peers;
  std::vector<Goal> goals;
};

void add_peers(Series& series, const Tiles& tiles, const Path& path) {
  if constexpr (kHasLmdb) {
    series.contenders.push_back(
        file_writer("LMDB", Role::peer, "MDB_APPEND in one transaction, no sync", tiles.bytes(),
                    path, [&tiles, path] {
                      LmdbMaker maker(path, 2 * tiles.cells.size() * sizeof(double) + (64 << 20),
                                      LmdbMaker::Sync::no);
                      for (std::uint64_t n = 0; n < tiles.count(); ++n) {
                        maker.append(n, std::as_bytes(tiles.at(n)));
                      }
                      maker.finish();
                    }));
  }
  if constexpr (kHasHdf5) {
    series.contenders.push_back(file_writer(
        "HDF5", Role::peer, "H5Dwrite_chunk per tile, no sync", tiles.bytes(), path,
        [&tiles, path] {
          Hdf5Maker maker(
              path, {tiles.down * tiles.tile, tiles.across * tiles.tile, {tiles.tile, tiles.tile}});
          for (std::uint64_t n = 0; n < tiles.count(); ++n) {
            maker.put(tiles.pos(n).rx, tiles.pos(n).cx, tiles.at(n).data());
          }
          maker.finish();
        }));
  }
}

void measure_write(Session& session, const Tiles& tiles, const Case& c) {
  const Path path = session.folder().scratch("written");
  Series series{c.name, kGigabytesPerSecond, Cache::any, c.goals};
  series.contenders.push_back(file_writer(
      c.sync ? "pwrite and fsync" : "pwrite", Role::limit, "a pwrite per tile to a new file",
      tiles.bytes(), path, [&, path] { write_raw(path, tiles, c.threads, c.sync); }));
  series.contenders.push_back(file_writer(
      "dapple", Role::dapple, "MatrixWriter::put per tile, finish", tiles.bytes(), path,
      [&, path] { write_dapple(path, tiles, c.threads, c.sync, c.kind); },
      [path, sum = tiles.sum()] { return sum_file(path) == sum; }));
  if (c.peers) add_peers(series, tiles, path);
  session.measure(series);
  std::filesystem::remove(path);
}

void measure_sparse(Session& session) {
  const SparseShape shape =
      session.quick() ? SparseShape{1000, 100, 10} : SparseShape{20'000, 2000, 100};
  const SparseArrays arrays = make_arrays(shape);
  const Path path = session.folder().scratch("written");
  WriteOptions options;
  options.narrow = false;
  options.sync = false;
  write_sparse(path, shape, arrays, options);

  Series series{"write sparse, 1 thread (GB of file)",
                kGigabytesPerSecond,
                Cache::any,
                {{"limit", 1 / 0.8}, {"", 1}}};
  series.contenders.push_back(raw_writer(path, path, Per::byte));
  series.contenders.push_back(file_writer(
      "dapple", Role::dapple, "MatrixWriter::put of three arrays", series.contenders[0].work, path,
      [&, path] { write_sparse(path, shape, arrays, options); },
      [&, path] {
        const auto matrix = Matrix::open(path);
        const auto stored = matrix.block({0, 0}).to_csr<double>();
        return std::equal(arrays.values.begin(), arrays.values.end(), stored.values.begin(),
                          stored.values.end());
      }));
  session.measure(series);
  std::filesystem::remove(path);
}

}  // namespace

void run_w11(Session& session) {
  Tiles tiles(session.sized<std::uint64_t>(16, 2), session.sized<std::uint64_t>(32, 2));
  session.describe(fmt::format("{} x {} f64 in memory, tiles of {} x {}", tiles.down * tiles.tile,
                               tiles.across * tiles.tile, tiles.tile, tiles.tile));
  const std::vector<Goal> fast = {{"limit", 1 / 0.8}};
  const std::vector<Goal> gigabyte = {{"", 1}};

  // Halves up to 2^26 fit no type but f64, and their sums are exact.
  for (std::size_t k = 0; k < tiles.cells.size(); ++k) {
    tiles.cells[k] = static_cast<double>(mix(k) % (1 << 26)) + 0.5;
  }
  measure_write(session, tiles, {"write dense, 1 thread", KindChoice::dense, 1, false, true, fast});
  measure_write(session, tiles,
                {"write dense, 2 threads", KindChoice::dense, 2, false, false, fast});
  measure_write(session, tiles,
                {"choose representation: nothing smaller, 1 thread", KindChoice::automatic, 1,
                 false, false, gigabyte});
  measure_write(session, tiles,
                {"choose representation: nothing smaller, 2 threads",
                 KindChoice::automatic,
                 2,
                 false,
                 false,
                 {{"", 2}}});

  for (std::size_t k = 0; k < tiles.cells.size(); ++k) tiles.cells[k] = cell(k, 11);
  measure_write(session, tiles,
                {"choose representation: fits u8, 1 thread", KindChoice::automatic, 1, false, false,
                 gigabyte});
  for (std::size_t k = 0; k < tiles.cells.size(); ++k) {
    if (k % 50 != 0) tiles.cells[k] = 0;
  }
  measure_write(session, tiles,
                {"choose representation: 2 % filled, 1 thread", KindChoice::automatic, 1, false,
                 false, gigabyte});
  measure_sparse(session);
  measure_write(session, tiles, {"write dense and sync", KindChoice::dense, 1, true, false, fast});
  session.remark(
      "2 GB/s is asked of two threads, 1 GB/s of one, where the representation is chosen");
}

}  // namespace dapple::bench
