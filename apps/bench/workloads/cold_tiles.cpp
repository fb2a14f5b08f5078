// W9: random tiles of a file that is on storage and not in memory.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "dapple/dapple.h"
#include "harness/kernels.h"
#include "harness/page_cache.h"
#include "harness/random.h"
#include "harness/raw_file.h"
#include "harness/usage.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// Tiles of f64, `across` in a row.
struct Layout {
  TileShape tile;
  std::uint64_t down, across;

  std::size_t tile_cells() const { return std::size_t{tile.rows} * tile.cols; }
  std::size_t tile_bytes() const { return tile_cells() * sizeof(double); }
  std::string size() const { return fmt::format("{} KiB", tile_bytes() / 1024); }
};

/// All cells of a tile have one value.
double tile_value(std::uint64_t number) { return cell(number, 9); }

Path make(const Session& session, const Layout& layout) {
  return session.file(
      fmt::format("cold-{}-{}.dbdf", layout.tile_bytes(), layout.down * layout.across),
      [&](const Path& path) {
        WriteOptions options;
        options.tile = layout.tile;
        options.kind = KindChoice::dense;
        options.narrow = false;
        auto writer =
            MatrixWriter::create(path, layout.down * layout.tile.rows,
                                 layout.across * layout.tile.cols, ValueType::f64, options);
        std::vector<double> cells(layout.tile_cells());
        for (std::uint64_t k = 0; k < layout.down * layout.across; ++k) {
          std::fill(cells.begin(), cells.end(), tile_value(k));
          writer.put<double>(
              {k / layout.across * layout.tile.rows, k % layout.across * layout.tile.cols},
              {cells.data(), layout.tile.rows, layout.tile.cols});
        }
        writer.finish();
      });
}

/// Different tiles in random order.
std::vector<std::uint64_t> random_tiles(const Layout& layout, std::size_t count) {
  Random random(9);
  std::vector<std::uint64_t> tiles;
  while (tiles.size() < count) {
    const std::uint64_t k = random.below(layout.down * layout.across);
    if (std::find(tiles.begin(), tiles.end(), k) == tiles.end()) tiles.push_back(k);
  }
  return tiles;
}

class ColdSeries {
 public:
  ColdSeries(Path path, const Layout& layout, std::vector<std::uint64_t> tiles)
      : path_(std::move(path)), layout_(layout), tiles_(std::move(tiles)) {}

  /// `open(path)` gives what `sum(opened, tile number)` reads from. Neither opening nor closing is
  /// timed; closing is needed, because what is mapped is not evicted.
  template <class Open, class Sum>
  Contender contender(std::string name, Role role, std::string how, Open open, Sum sum) const {
    double expected = 0;
    for (const std::uint64_t k : tiles_) {
      expected += tile_value(k) * static_cast<double>(layout_.tile_cells());
    }
    const auto bytes = static_cast<double>(tiles_.size() * layout_.tile_bytes());
    const auto run = [this, open, sum, bytes](Sample& sample) {
      using Clock = std::chrono::steady_clock;
      const auto opened = open(path_);
      const std::uint64_t before = bytes_read_from_storage();
      const auto start = Clock::now();
      double total = 0;
      for (const std::uint64_t k : tiles_) total += sum(opened, k);
      sample.set(std::chrono::duration<double>(Clock::now() - start).count());
      sample.note("bytes read per byte",
                  static_cast<double>(bytes_read_from_storage() - before) / bytes);
      return total;
    };
    return {std::move(name),
            role,
            std::move(how),
            static_cast<double>(tiles_.size()),
            expected,
            run,
            [path = path_] { evict(path); }};
  }

 private:
  Path path_;
  Layout layout_;
  std::vector<std::uint64_t> tiles_;
};

/// A file, and where the cells of each tile are in it.
struct RawOpened {
  RawFile file;
  std::shared_ptr<const std::vector<std::uint64_t>> offsets;
};

std::shared_ptr<const std::vector<std::uint64_t>> cell_offsets(const Path& path) {
  std::vector<std::uint64_t> offsets;
  const auto matrix = Matrix::open(path);
  for (const BlockInfo& info : matrix.blocks()) offsets.push_back(info.offset + 10);
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(offsets));
}

void measure_cold(Session& session, const Layout& layout) {
  const Path path = make(session, layout);
  const ColdSeries of(path, layout, random_tiles(layout, session.sized<std::size_t>(200, 10)));
  const auto offsets = cell_offsets(path);
  const auto buffer = std::make_shared<std::vector<double>>(layout.tile_cells());
  const auto open_matrix = [](const Path& p) { return Matrix::open(p); };

  Series series{fmt::format("cold tiles of {}", layout.size()),
                kMicroseconds,
                Cache::any,
                {{"limit", 1.1}, {"limit", 1.05, "bytes read per byte"}}};
  series.contenders.push_back(of.contender(
      "pread", Role::limit, "a pread per tile",
      [offsets](const Path& p) {
        return RawOpened{RawFile(p), offsets};
      },
      [buffer](const RawOpened& opened, std::uint64_t k) {
        opened.file.read_at((*opened.offsets)[k], std::as_writable_bytes(std::span(*buffer)));
        return sum_doubles(*buffer);
      }));
  series.contenders.push_back(of.contender(
      "dapple, views", Role::dapple, "matrix.tile(i, j).dense_view<double>(), summed in place",
      open_matrix, [layout](const Matrix& matrix, std::uint64_t k) {
        const auto view = matrix.tile(k / layout.across, k % layout.across).dense_view<double>();
        return sum_doubles(view.row_bytes(0), layout.tile_cells());
      }));
  series.contenders.push_back(of.contender(
      "dapple, read", Role::dapple, "matrix.read<double>(tile, out)", open_matrix,
      [layout, buffer](const Matrix& matrix, std::uint64_t k) {
        const std::uint64_t row = k / layout.across * layout.tile.rows;
        const std::uint64_t col = k % layout.across * layout.tile.cols;
        matrix.read<double>({{row, row + layout.tile.rows}, {col, col + layout.tile.cols}},
                            std::span(*buffer));
        return sum_doubles(*buffer);
      }));
  series.contenders.push_back(of.contender(
      "plain map", Role::aside, "mmap of the file, without advice",
      [offsets](const Path& p) { return std::pair(std::make_shared<RawMap>(p), offsets); },
      [layout](const auto& opened, std::uint64_t k) {
        return sum_doubles(opened.first->data() + (*opened.second)[k], layout.tile_cells());
      }));
  session.measure(series);
}

}  // namespace

void run_w9(Session& session) {
  session.describe("dense f64, 200 random tiles a run; cold for this machine: its host may cache");
  if (session.quick()) {
    measure_cold(session, {{16, 32}, 64, 8});
    return;
  }
  measure_cold(session, {{16, 32}, 4096, 16});
  measure_cold(session, {{64, 128}, 1024, 8});
  measure_cold(session, {{256, 256}, 128, 8});
  measure_cold(session, {{256, 512}, 64, 8});
}

}  // namespace dapple::bench
