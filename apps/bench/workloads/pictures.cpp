// W19: pictures of what tiles hold, and the pyramid of them that a browser zooms in.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <vector>

#include "counts.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "keeper.h"
#include "scan.h"
#include "workloads/sparse.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// `side` x `side` tiles of 64 x 64 cells, with 0 to 11 values each.
Path make_small_tiles(Session& session, std::uint32_t side) {
  return session.file(fmt::format("pictured-{}.dbdf", side), [&](const Path& to) {
    constexpr std::uint32_t kEdge = 64;
    WriteOptions options;
    options.tile = TileShape{kEdge, kEdge};
    const std::uint64_t cells = std::uint64_t{side} * kEdge;
    auto writer = MatrixWriter::create(to, cells, cells, ValueType::f32, options);
    Random random(19);
    std::vector<Triplet<float>> entries;
    for (std::uint64_t i = 0; i < side; ++i) {
      for (std::uint64_t j = 0; j < side; ++j) {
        entries.resize(random.below(12));
        for (std::uint32_t k = 0; k < entries.size(); ++k) {
          entries[k] = {k * 5, static_cast<std::uint32_t>(random.below(kEdge)), 1};
        }
        writer.put<float>({i * kEdge, j * kEdge}, TileShape{kEdge, kEdge}, entries);
      }
    }
    writer.finish();
  });
}

/// f32 cells in tiles of 256 x 256.
Path make_dense(Session& session, std::uint32_t side) {
  return session.file(fmt::format("pictured-dense-{}.dbdf", side), [&](const Path& to) {
    auto writer = MatrixWriter::create(to, side, side, ValueType::f32);
    const TileShape tile = writer.tile();
    std::vector<float> cells(std::size_t{tile.rows} * tile.cols);
    for (std::uint32_t row = 0; row < side; row += tile.rows) {
      for (std::uint32_t col = 0; col < side; col += tile.cols) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
          cells[k] = static_cast<float>(cell(row + k / tile.cols, col + k % tile.cols)) / 8 + 0.03F;
        }
        writer.put<float>({row, col}, {cells.data(), tile.rows, tile.cols});
      }
    }
    writer.finish();
  });
}

/// The picture that `dapple show --from-stats` draws on a terminal of 100 x 40 characters.
void measure_coarse(Session& session) {
  const auto side = session.sized<std::uint32_t>(1000, 20);
  const Path path = make_small_tiles(session, side);
  const Pin pin(path);
  const double expected = static_cast<double>(Matrix::open(path).counts().stored);
  Series series{fmt::format("picture of {} tiles, from statistics", side * side),
                kMilliseconds,
                Cache::warm,
                {{"", 50}}};
  series.contenders.push_back(
      {"dapple", Role::dapple, "open the file, draw_counts", 1, expected, [path](Sample&) {
         const Matrix matrix = Matrix::open(path);
         picture::Raster raster(picture::Axis::fit({0, matrix.rows()}, 80),
                                picture::Axis::fit({0, matrix.cols()}, 80));
         picture::draw_counts(picture::BlocksIn(matrix), raster);
         return raster.total().nonzero;
       }});
  session.measure(series);
}

/// Every zoom of the pyramid that `dapple view -o FILE.dpp` keeps. Tests compare its pictures with
/// the cells; here it must be the same each time.
void measure_pyramid(Session& session, const char* name, const Path& path, bool cold) {
  const auto pin = cold ? std::nullopt : std::optional<Pin>(path);
  const auto kept = [path] {
    const picture::Object object(Matrix::open(path));
    const viewer::Resources resources(object, object, "", {.threads = 1});
    const unsigned zooms = viewer::zooms_to_keep(resources, std::uint64_t{256} << 20);
    return static_cast<double>(viewer::keep(resources, {}, zooms, {}).size());
  };
  const double size = kept();
  Series series{fmt::format("pyramid of {}, {}", name, cold ? "cold" : "warm"),
                kMilliseconds,
                cold ? Cache::any : Cache::warm,
                {}};
  if (cold) series.goals = {{"limit", 1.2}};
  series.contenders.push_back(
      {"one scan", Role::limit, "open, row_stats", 1, size, [path, size](Sample&) {
         const Matrix matrix = Matrix::open(path);
         return row_stats(matrix).size() == matrix.rows() ? size : 0;
       }});
  series.contenders.push_back({"dapple", Role::dapple, "open, viewer::keep, one thread", 1, size,
                               [kept](Sample&) { return kept(); }});
  if (cold) {
    for (Contender& contender : series.contenders) contender.prepare = [path] { evict(path); };
  }
  session.measure(series);
}

/// The pictures of the tile in the middle of that zoom where they take longest, of a file that was
/// just opened.
void measure_zoom(Session& session, const char* name, const Path& path) {
  const Pin pin(path);
  const auto step = [&path, name](unsigned zoom) {
    const picture::Object object(Matrix::open(path));
    const viewer::Resources resources(object, object, name, {});
    viewer::Resource tile{viewer::Resource::Kind::tiles};
    tile.zoom = zoom;
    tile.x = resources.pyramid().across(zoom) / 2;
    tile.y = resources.pyramid().down(zoom) / 2;
    return static_cast<double>(resources.find(tile).value_or("").size());
  };
  const Matrix matrix = Matrix::open(path);
  const unsigned deepest = viewer::Pyramid(matrix.rows(), matrix.cols()).deepest();
  unsigned slowest = 0;
  double longest = 0;
  for (unsigned zoom = 0; zoom <= deepest; ++zoom) {
    const auto start = std::chrono::steady_clock::now();
    step(zoom);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() > longest) {
      longest = took.count();
      slowest = zoom;
    }
  }
  Series series{
      fmt::format("slowest step of zooming, {}", name), kMilliseconds, Cache::warm, {{"", 100}}};
  series.contenders.push_back({"dapple", Role::dapple,
                               fmt::format("pictures of a tile of zoom {}", slowest), 1,
                               step(slowest), [step, slowest](Sample&) { return step(slowest); }});
  session.measure(series);
}

}  // namespace

void run_w19(Session& session) {
  const SparseShape shape =
      session.quick() ? SparseShape{2000, 400, 10} : SparseShape{100'000, 20'000, 500};
  const Path dense = make_dense(session, session.sized<std::uint32_t>(8192, 512));
  const Path sparse = make_narrow_file(session, shape, Cut::default_tiles);
  measure_coarse(session);
  for (const bool cold : {true, false}) {
    measure_pyramid(session, "dense f32", dense, cold);
    measure_pyramid(session, "CSR of u8", sparse, cold);
  }
  measure_zoom(session, "dense f32", dense);
  measure_zoom(session, "CSR of u8", sparse);
}

}  // namespace dapple::bench
