// W4: regions that lie across tiles, copied into the caller's buffer.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/helper_process.h"
#include "harness/kernels.h"
#include "harness/random.h"
#include "peers/hdf5_matrix.h"
#include "workloads/python_tiles.h"
#include "workloads/tiles.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Regions = std::span<const Region>;

std::vector<Region> random_regions(const TileShapeOf& shape, std::size_t count, std::uint64_t rows,
                                   std::uint64_t cols) {
  Random random(4);
  std::vector<Region> regions(count);
  for (Region& r : regions) {
    const std::uint64_t row = random.below(shape.side - rows + 1);
    const std::uint64_t col = random.below(shape.side - cols + 1);
    r = {{row, row + rows}, {col, col + cols}};
  }
  return regions;
}

/// Cells of a region that are looked at within the time: enough to notice a region that was not
/// copied, too few to cost anything.
template <class At>
double sample_region(const Region& r, const At& at) {
  const std::uint64_t rows = r.rows.size(), cols = r.cols.size();
  return at(0, 0) + at(rows / 2, cols / 2) + at(rows - 1, cols - 1);
}

bool holds_region(const Region& r, const std::vector<double>& cells) {
  auto at = cells.begin();
  for (std::uint64_t row = r.rows.begin; row < r.rows.end; ++row) {
    for (std::uint64_t col = r.cols.begin; col < r.cols.end; ++col) {
      if (*at++ != cell(row, col)) return false;
    }
  }
  return true;
}

/// One memcpy per row of each tile that the region touches.
void copy_pieces(const RawTiles& raw, const TileShapeOf& shape, const Region& region, double* out) {
  const std::uint64_t tile = shape.tile, width = region.cols.size();
  for (std::uint64_t i = region.rows.begin / tile; i * tile < region.rows.end; ++i) {
    const Range rows = intersect(region.rows, {i * tile, (i + 1) * tile});
    for (std::uint64_t j = region.cols.begin / tile; j * tile < region.cols.end; ++j) {
      const Range cols = intersect(region.cols, {j * tile, (j + 1) * tile});
      const auto* cells = raw.tile(shape.number(i, j));
      for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
        std::memcpy(out + (row - region.rows.begin) * width + (cols.begin - region.cols.begin),
                    cells + ((row % tile) * tile + cols.begin % tile) * sizeof(double),
                    cols.size() * sizeof(double));
      }
    }
  }
}

class RegionSeries {
 public:
  RegionSeries(Regions regions, unsigned threads)
      : regions_(regions),
        threads_(threads),
        cells_(regions[0].rows.size() * regions[0].cols.size()),
        buffers_(std::make_shared<Buffers>(threads, std::vector<double>(cells_))) {
    for (const Region& r : regions) {
      expected_ += sample_region(r, [&r](std::uint64_t row, std::uint64_t col) -> double {
        return cell(r.rows.begin + row, r.cols.begin + col);
      });
    }
  }

  /// `copy(region, out)` fills a buffer; each thread has one buffer and its share of the regions.
  /// All contenders have the same buffers: where in memory they happen to lie makes up to a tenth.
  template <class Copy>
  Contender contender(std::string name, Role role, std::string how, Copy copy) const {
    const auto run = [copy, regions = regions_, threads = threads_, cells = cells_,
                      buffers = buffers_](Sample&) {
      return sum_in_threads(threads, [&](unsigned k) {
        double sum = 0;
        double* const out = (*buffers)[k].data();
        for (const Region& r : part(regions, k, threads)) {
          copy(r, std::span<double>(out, cells));
          sum += sample_region(r, [&](std::uint64_t row, std::uint64_t col) {
            return out[row * r.cols.size() + col];
          });
        }
        return sum;
      });
    };
    const auto clear = [buffers = buffers_] {
      for (auto& buffer : *buffers) std::fill(buffer.begin(), buffer.end(), 0.0);
    };
    const auto holds = [buffers = buffers_, regions = regions_, threads = threads_] {
      return holds_region(part(regions, 0, threads).back(), buffers->front());
    };
    return {std::move(name), role,
            std::move(how),  static_cast<double>(regions_.size() * cells_ * sizeof(double)),
            expected_,       run,
            clear,           holds};
  }

 private:
  using Buffers = std::vector<std::vector<double>>;  // one of each thread

  Regions regions_;
  unsigned threads_;
  std::size_t cells_;  // of a region
  std::shared_ptr<Buffers> buffers_;
  double expected_ = 0;
};

}  // namespace

void run_w4(Session& session) {
  const TileShapeOf shape = session.quick() ? TileShapeOf{512, 64} : TileShapeOf{16384, 256};
  const auto regions = random_regions(shape, session.sized<std::size_t>(2000, 20), 100,
                                      session.sized<std::uint64_t>(1000, 300));
  session.describe(fmt::format("{} random regions of {} x {} of {} x {} f64 in tiles of {} x {}",
                               regions.size(), regions[0].rows.size(), regions[0].cols.size(),
                               shape.side, shape.side, shape.tile, shape.tile));
  const TileFiles files = make_tile_files(session, shape);
  const auto pins = pin(files);
  const RawTiles raw(files.dapple, shape);
  const auto matrix = Matrix::open(files.dapple);

  for (const unsigned threads : {1U, 2U}) {
    const RegionSeries of(regions, threads);
    Series series{fmt::format("copy regions, {} thread{}", threads, threads == 1 ? "" : "s"),
                  kGigabytesPerSecond,
                  Cache::warm,
                  {{"limit", 1 / 0.95}, {"HDF5", 1}}};
    series.contenders.push_back(of.contender(
        "memcpy", Role::limit, "one memcpy per row of each tile",
        [&](const Region& r, std::span<double> out) { copy_pieces(raw, shape, r, out.data()); }));
    series.contenders.push_back(
        of.contender("dapple", Role::dapple, "matrix.read<double>(region, out)",
                     [&](const Region& r, std::span<double> out) { matrix.read<double>(r, out); }));
    if constexpr (kHasHdf5) {
      if (threads == 1) {
        for (const std::size_t cache : {kHdf5LargeCache, kHdf5DefaultCache}) {
          const bool large = cache == kHdf5LargeCache;
          const auto hdf5 = std::make_shared<Hdf5Matrix>(files.hdf5, ValueType::f64, cache);
          series.contenders.push_back(of.contender(
              large ? "HDF5, 4 GiB cache" : "HDF5, default cache", Role::peer,
              "H5Dread of the region",
              [hdf5](const Region& r, std::span<double> out) { hdf5->read(r, out.data()); }));
          move_to_helper(series.contenders.back());
        }
      }
    }
    if (threads == 1) {
      const Contender& limit = series.contenders.front();
      PythonTiles(session, files).add_regions(series, regions, limit.work, limit.expected);
    }
    session.measure(series);
  }
}

}  // namespace dapple::bench
