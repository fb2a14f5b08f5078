#include "workloads/tiles.h"

#include <fmt/format.h>

#include <functional>
#include <stdexcept>

#include "harness/random.h"
#include "peers/hdf5_matrix.h"
#include "peers/lmdb_store.h"

namespace dapple::bench {

namespace {

using TakeTile =
    std::function<void(std::uint64_t i, std::uint64_t j, std::span<const double> cells)>;

void for_each_tile(const TileShapeOf& shape, const TakeTile& take) {
  std::vector<double> cells(shape.tile_cells());
  for (std::uint64_t i = 0; i < shape.grid(); ++i) {
    for (std::uint64_t j = 0; j < shape.grid(); ++j) {
      auto out = cells.begin();
      for (std::uint64_t row = i * shape.tile; row < (i + 1) * shape.tile; ++row) {
        for (std::uint64_t col = j * shape.tile; col < (j + 1) * shape.tile; ++col) {
          *out++ = cell(row, col);
        }
      }
      take(i, j, cells);
    }
  }
}

void make_dapple_tiles(const std::filesystem::path& path, const TileShapeOf& shape) {
  WriteOptions options;
  options.tile = {shape.tile, shape.tile};
  options.kind = KindChoice::dense;
  options.narrow = false;
  auto writer = MatrixWriter::create(path, shape.side, shape.side, ValueType::f64, options);
  for_each_tile(shape, [&](std::uint64_t i, std::uint64_t j, std::span<const double> cells) {
    writer.put<double>({i * shape.tile, j * shape.tile}, {cells.data(), shape.tile, shape.tile});
  });
  writer.finish();
}

void make_lmdb_tiles(const std::filesystem::path& path, const TileShapeOf& shape) {
  LmdbMaker maker(path, 2 * shape.side * shape.side * sizeof(double) + (64 << 20));
  for_each_tile(shape, [&](std::uint64_t i, std::uint64_t j, std::span<const double> cells) {
    maker.append(shape.number(i, j), std::as_bytes(cells));
  });
  maker.finish();
}

void make_hdf5_tiles(const std::filesystem::path& path, const TileShapeOf& shape) {
  Hdf5Maker maker(path, {shape.side, shape.side, {shape.tile, shape.tile}});
  for_each_tile(shape, [&](std::uint64_t i, std::uint64_t j, std::span<const double> cells) {
    maker.put(i * shape.tile, j * shape.tile, cells.data());
  });
  maker.finish();
}

}  // namespace

TileFiles make_tile_files(const Session& session, const TileShapeOf& shape) {
  const auto make = [&](const char* ending, const auto& how) {
    const std::string name = fmt::format("tiles-{}-{}.{}", shape.side, shape.tile, ending);
    return session.file(name, [&](const std::filesystem::path& path) { how(path, shape); });
  };
  TileFiles files{shape, make("dbdf", make_dapple_tiles), {}, {}};
  if constexpr (kHasLmdb) files.lmdb = make("lmdb", make_lmdb_tiles);
  if constexpr (kHasHdf5) files.hdf5 = make("h5", make_hdf5_tiles);
  return files;
}

std::vector<Pin> pin(const TileFiles& files) {
  std::vector<Pin> pins;
  for (const auto& path : {files.dapple, files.lmdb, files.hdf5}) {
    if (!path.empty()) pins.emplace_back(path);
  }
  return pins;
}

std::vector<double> tile_sums(const TileShapeOf& shape) {
  std::vector<double> sums;
  for_each_tile(shape, [&](std::uint64_t, std::uint64_t, std::span<const double> cells) {
    double sum = 0;
    for (const double c : cells) sum += c;
    sums.push_back(sum);
  });
  return sums;
}

RawTiles::RawTiles(const std::filesystem::path& dapple_file, const TileShapeOf& shape)
    : map_(dapple_file, RawMap::Fill::now) {
  const auto matrix = Matrix::open(dapple_file);
  const auto payload_at = [](const BlockInfo& info) {
    return info.offset + info.bytes - std::uint64_t{info.rows} * info.cols * sizeof(double);
  };
  std::vector<std::uint64_t> offsets;
  for (const BlockInfo& info : matrix.blocks()) offsets.push_back(payload_at(info));
  step_ = offsets.size() > 1 ? offsets[1] - offsets[0] : shape.tile_bytes();
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    if (offsets[k] != offsets[0] + k * step_) {
      throw std::runtime_error(dapple_file.string() + ": expected tiles at equal distances");
    }
  }
  first_ = map_.data() + offsets[0];
}

std::vector<Touch> random_touches(const TileShapeOf& shape, std::size_t count) {
  Random random(1);
  std::vector<Touch> touches(count);
  for (Touch& t : touches) {
    t.i = static_cast<std::uint16_t>(random.below(shape.grid()));
    t.j = static_cast<std::uint16_t>(random.below(shape.grid()));
    t.row = static_cast<std::uint16_t>(random.below(shape.tile));
    t.col = static_cast<std::uint16_t>(random.below(shape.tile));
  }
  return touches;
}

}  // namespace dapple::bench
