// Dense tiles: one cell, all cells, regions across tiles, and tiles that are not in memory.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench.h"
#include "dapple/dapple.h"
#include "random.h"
#include "raw_file.h"

namespace dapple::bench {

namespace {

namespace fs = std::filesystem;

double load_double(const std::byte* p) noexcept {
  double value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// The sum of `n` doubles at any address. Never inlined, because compilers make more of it in one
/// place than in another.
[[gnu::noinline]] double sum_doubles(const std::byte* p, std::size_t n) noexcept {
  constexpr std::size_t kLanes = 16;
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    std::array<double, kLanes> values;
    std::memcpy(values.data(), p + i * sizeof(double), sizeof values);
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += load_double(p + i * sizeof(double));
  for (const double lane : lanes) sum += lane;
  return sum;
}

struct Shape {
  std::uint64_t side;  // rows and columns of the matrix
  std::uint32_t tile;  // rows and columns of a tile

  std::uint64_t grid() const { return side / tile; }
  std::size_t tile_cells() const { return std::size_t{tile} * tile; }
};

fs::path make_tiles(const Data& data, const Shape& shape) {
  const std::string name =
      "tiles-" + std::to_string(shape.side) + "-" + std::to_string(shape.tile) + ".dbdf";
  return data.file(name, [&](const fs::path& path) {
    auto writer = MatrixWriter::create(
        path, shape.side, shape.side, ValueType::f64,
        {.tile = TileShape{shape.tile, shape.tile}, .kind = KindChoice::dense, .narrow = false});
    std::vector<double> cells(shape.tile_cells());
    for (std::uint64_t row = 0; row < shape.side; row += shape.tile) {
      for (std::uint64_t col = 0; col < shape.side; col += shape.tile) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
          cells[k] = cell(row + k / shape.tile, col + k % shape.tile);
        }
        writer.put<double>({row, col}, {cells.data(), shape.tile, shape.tile});
      }
    }
    writer.finish();
  });
}

/// A file of tiles at equal distances, as dapple sees it, and mapped once more for the limit.
struct Tiles {
  Tiles(const Data& data, const Shape& size)
      : shape(size), path(make_tiles(data, size)), matrix(Matrix::open(path)), map(path) {
    std::vector<std::uint64_t> payloads;
    for (const BlockInfo& info : matrix.blocks()) {
      payloads.push_back(info.offset + info.bytes - shape.tile_cells() * sizeof(double));
    }
    first = payloads[0];
    step = payloads[1] - first;
    for (std::size_t k = 0; k < payloads.size(); ++k) {
      if (payloads[k] != first + k * step) throw std::runtime_error("tiles at unequal distances");
    }
  }

  const std::byte* tile(std::uint64_t i, std::uint64_t j) const {
    return map.data() + first + (i * shape.grid() + j) * step;
  }

  Shape shape;
  fs::path path;
  Matrix matrix;
  RawMap map;
  std::uint64_t first = 0, step = 0;
};

struct Touch {
  std::uint16_t i, j, row, col;
};

std::vector<Touch> random_touches(const Shape& shape, std::size_t count) {
  Random random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint16_t>(random.below(n)); };
  std::vector<Touch> touches(count);
  for (Touch& t : touches) {
    t = {below(shape.grid()), below(shape.grid()), below(shape.tile), below(shape.tile)};
  }
  return touches;
}

/// Adds up the cells that `fetch` gives. In a chain, the value of each cell moves the next tile's
/// row, so that no load can start before the one above it is done.
template <class Fetch>
double touch_all(std::span<const Touch> touches, std::uint64_t chained_in, const Fetch& fetch) {
  double sum = 0;
  std::uint64_t last = 0;
  for (Touch t : touches) {
    if (chained_in != 0) t.i = static_cast<std::uint16_t>((t.i + last) & (chained_in - 1));
    const double value = fetch(t);
    last = static_cast<std::uint64_t>(value);
    sum += value;
  }
  return sum;
}

template <bool Chained>
Ready touch_tiles(const Data& data) {
  const auto tiles = std::make_shared<Tiles>(
      data, Shape{data.sized<std::uint64_t>(8192, 512), data.sized(256U, 64U)});
  const Shape shape = tiles->shape;
  const auto touches = random_touches(shape, data.sized<std::size_t>(1'000'000, 4000));
  const std::uint64_t chain = Chained ? shape.grid() : 0;
  const auto stored = [shape](const Touch& t) -> double {
    return cell(std::uint64_t{t.i} * shape.tile + t.row, std::uint64_t{t.j} * shape.tile + t.col);
  };
  return {.work = static_cast<double>(touches.size()),
          .expected = touch_all(touches, chain, stored),
          .run =
              [=] {
                const auto typed = tiles->matrix.tiles<double>();
                return touch_all(touches, chain,
                                 [&](const Touch& t) { return typed(t.i, t.j)(t.row, t.col); });
              },
          .limit =
              [=] {
                return touch_all(touches, chain, [&](const Touch& t) {
                  return load_double(tiles->tile(t.i, t.j) +
                                     (std::size_t{t.row} * shape.tile + t.col) * sizeof(double));
                });
              }};
}

template <std::uint32_t Tile>
Ready sum_tiles(const Data& data) {
  const auto tiles =
      std::make_shared<Tiles>(data, Shape{data.sized<std::uint64_t>(8192, 512), Tile});
  const Shape shape = tiles->shape;
  const auto some = random_touches(
      shape, data.sized<std::size_t>(1 << 29, 1 << 20) / (shape.tile_cells() * sizeof(double)));
  double expected = 0;
  for (const Touch& t : some) {
    expected += sum_doubles(tiles->tile(t.i, t.j), shape.tile_cells());
  }
  return {.work = static_cast<double>(some.size() * shape.tile_cells() * sizeof(double)),
          .expected = expected,
          .run =
              [=] {
                const auto typed = tiles->matrix.tiles<double>();
                double sum = 0;
                for (const Touch& t : some) {
                  const auto tile = typed(t.i, t.j);
                  sum += sum_doubles(tile.row(0).bytes().data(), tile.rows() * tile.cols());
                }
                return sum;
              },
          .limit =
              [=] {
                double sum = 0;
                for (const Touch& t : some) {
                  sum += sum_doubles(tiles->tile(t.i, t.j), shape.tile_cells());
                }
                return sum;
              }};
}

/// One memcpy for each row of each tile that the region touches.
void copy_pieces(const Tiles& tiles, const Region& region, double* out) {
  const std::uint64_t tile = tiles.shape.tile, width = region.cols.size();
  for (std::uint64_t i = region.rows.begin / tile; i * tile < region.rows.end; ++i) {
    const Range rows = intersect(region.rows, {i * tile, (i + 1) * tile});
    for (std::uint64_t j = region.cols.begin / tile; j * tile < region.cols.end; ++j) {
      const Range cols = intersect(region.cols, {j * tile, (j + 1) * tile});
      for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
        std::memcpy(out + (row - region.rows.begin) * width + (cols.begin - region.cols.begin),
                    tiles.tile(i, j) + ((row % tile) * tile + cols.begin % tile) * sizeof(double),
                    cols.size() * sizeof(double));
      }
    }
  }
}

Ready copy_regions(const Data& data) {
  const auto tiles = std::make_shared<Tiles>(
      data, Shape{data.sized<std::uint64_t>(8192, 512), data.sized(256U, 64U)});
  const std::uint64_t rows = 100, cols = data.sized<std::uint64_t>(1000, 300);
  std::vector<Region> regions(data.sized<std::size_t>(500, 20));
  Random random(4);
  double expected = 0;
  for (Region& r : regions) {
    const std::uint64_t row = random.below(tiles->shape.side - rows);
    const std::uint64_t col = random.below(tiles->shape.side - cols);
    r = {{row, row + rows}, {col, col + cols}};
    expected += cell(row, col) + cell(row + rows - 1, col + cols - 1);
  }
  const auto out = std::make_shared<std::vector<double>>(rows * cols);
  const auto all = [=](const auto& copy) {
    double sum = 0;
    for (const Region& r : regions) {
      copy(r);
      sum += out->front() + out->back();
    }
    return sum;
  };
  return {
      .work = static_cast<double>(regions.size() * out->size() * sizeof(double)),
      .expected = expected,
      .run =
          [=] {
            return all([&](const Region& r) { tiles->matrix.read<double>(r, std::span(*out)); });
          },
      .limit = [=] { return all([&](const Region& r) { copy_pieces(*tiles, r, out->data()); }); }};
}

/// Cells of u8, as which tiles of small integers are stored, read as f64.
Ready widen_tiles(const Data& data) {
  const auto side = data.sized<std::uint32_t>(8192, 512);
  const fs::path path = data.chosen_file("narrow.dbdf", [&](const fs::path& to) {
    auto writer = MatrixWriter::create(to, side, side, ValueType::f64,
                                       {.tile = TileShape{256, 256}, .kind = KindChoice::dense});
    std::vector<double> cells(256 * 256);
    for (std::uint32_t row = 0; row < side; row += 256) {
      for (std::uint32_t col = 0; col < side; col += 256) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
          cells[k] = cell(row + k / 256, col + k % 256);
        }
        writer.put<double>({row, col}, {cells.data(), 256, 256});
      }
    }
    writer.finish();
  });
  const Matrix matrix = Matrix::open(path);
  const auto out = std::make_shared<std::vector<double>>(std::size_t{256} * side);
  double expected = 0;
  for (std::uint32_t row = 0; row < side; row += 256) expected += cell(row, 0);
  return {.work = static_cast<double>(std::uint64_t{side} * side * sizeof(double)),
          .expected = expected,
          .run = [=] {
            double sum = 0;
            for (std::uint32_t row = 0; row < side; row += 256) {
              matrix.read<double>({{row, row + 256}, {0, side}}, std::span(*out));
              sum += out->front();
            }
            return sum;
          }};
}

/// Takes a file out of the page cache. Nothing may have it mapped.
void evict(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fdatasync(fd);  // dirty pages stay
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

Ready cold_tiles(const Data& data) {
  constexpr std::uint32_t kTile = 90;  // about 64 KiB
  const Shape shape{kTile * data.sized<std::uint64_t>(91, 6), kTile};
  const fs::path path = make_tiles(data, shape);
  const auto some = random_touches(shape, data.sized<std::size_t>(100, 4));
  double expected = 0;
  std::vector<std::uint64_t> offsets;
  {
    const Tiles tiles(data, shape);
    for (const Touch& t : some) {
      expected += sum_doubles(tiles.tile(t.i, t.j), shape.tile_cells());
      offsets.push_back(static_cast<std::uint64_t>(tiles.tile(t.i, t.j) - tiles.map.data()));
    }
  }
  return {.work = static_cast<double>(some.size()),
          .expected = expected,
          .run =
              [=] {
                const Matrix matrix = Matrix::open(path);
                double sum = 0;
                std::vector<double> cells(shape.tile_cells());
                for (const Touch& t : some) {
                  matrix.tile(t.i, t.j).decode(std::span(cells));
                  sum += sum_doubles(std::as_bytes(std::span(cells)).data(), cells.size());
                }
                return sum;
              },
          .limit =
              [=] {
                const RawFile file(path);
                double sum = 0;
                std::vector<std::byte> cells(shape.tile_cells() * sizeof(double));
                for (const std::uint64_t offset : offsets) {
                  file.read_at(offset, cells);
                  sum += sum_doubles(cells.data(), shape.tile_cells());
                }
                return sum;
              },
          .before = [=] { evict(path); }};
}

constexpr Workload kWorkloads[] = {
    {"touch tiles", "What does one cell of a random tile in memory cost?", kNanoseconds, false,
     touch_tiles<false>},
    {"touch tiles in a chain", "And when each cell says which tile is next?", kNanoseconds, false,
     touch_tiles<true>},
    {"sum tiles", "Are cells of a tile as fast to use as plain memory?", kGigabytesPerSecond, false,
     sum_tiles<256>},
    {"sum small tiles", "And of tiles of 32 x 32, which have to be found more often?",
     kGigabytesPerSecond, false, sum_tiles<32>},
    {"copy regions", "How fast are regions of 100 x 1000 across tiles copied out?",
     kGigabytesPerSecond, false, copy_regions},
    {"widen tiles", "Does reading u8 as f64 keep up with memory?", kGigabytesPerSecond, false,
     widen_tiles},
    {"cold tiles", "Does a tile of 64 KiB that is not in memory cost one read of storage?",
     kMicroseconds, true, cold_tiles},
};

}  // namespace

std::span<const Workload> tile_workloads() { return kWorkloads; }

}  // namespace dapple::bench
