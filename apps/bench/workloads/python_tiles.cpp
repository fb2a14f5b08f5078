#include "workloads/python_tiles.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "harness/raw_file.h"
#include "peers/python_peers.h"

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

/// How each library is used; what it opens is named in `add`.
const char* how(const std::string& library) {
  if (library == "numpy") return "numpy.memmap over dapple's file, a slice of one tile";
  if (library == "h5py") return "a slice of the data set, default chunk cache";
  return "a slice of a directory store without compression";
}

template <class T>
Path make_list(const Session& session, const std::string& name, const std::vector<T>& items) {
  return session.file(name, [&](const Path& path) {
    RawFile(path, RawFile::For::writing).write_at(0, std::as_bytes(std::span(items)));
  });
}

}  // namespace

PythonTiles::PythonTiles(Session& session, const TileFiles& files)
    : session_(session), files_(files) {}

void PythonTiles::add(Series& series, const std::string& library, nlohmann::json request,
                      double work, double expected) const {
  PythonPeers& python = session_.python();
  const bool from_hdf5 = library != "numpy";
  if (!python.has(library) || !python.has("h5py") || (from_hdf5 && files_.hdf5.empty())) return;
  const TileShapeOf& shape = files_.shape;
  if (library == "zarr" && shape.grid() > 64) return;  // a file per tile: too many
  Path path = from_hdf5 ? files_.hdf5 : files_.dapple;
  if (library == "zarr") {
    path =
        session_.file(fmt::format("tiles-{}-{}.zarr", shape.side, shape.tile), [&](const Path& to) {
          Sample unused;
          python.run({{"do", "make_zarr"},
                      {"from", files_.hdf5.string()},
                      {"file", to.string()},
                      {"tile", shape.tile}},
                     unused);
        });
  }
  request["with"] = library;
  request["file"] = path.string();
  request["tile"] = shape.tile;
  if (library == "numpy") {
    const RawTiles raw(files_.dapple, shape);
    request["layout"] = {raw.offset(0), raw.offset(1) - raw.offset(0), shape.tile, shape.grid()};
  }
  series.contenders.push_back(
      python.contender({library, Role::peer, how(library), work, expected, {}}, request));
}

void PythonTiles::add_touching(Series& series, const std::string& job, std::size_t count,
                               double work, double expected) const {
  const TileShapeOf& shape = files_.shape;
  const Path touches = make_list(session_, fmt::format("touches-{}-{}", shape.side, shape.tile),
                                 random_touches(shape, kMostTouches));
  for (const char* library : {"numpy", "h5py", "zarr"}) {
    add(series, library, {{"do", job}, {"touches", touches.string()}, {"count", count}}, work,
        expected);
  }
}

void PythonTiles::add_regions(Series& series, const std::vector<Region>& regions, double work,
                              double expected) const {
  const Path list = make_list(session_, fmt::format("regions-{}", files_.shape.side), regions);
  for (const char* library : {"h5py", "zarr"}) {
    add(series, library,
        {{"do", "copy_regions"}, {"regions", list.string()}, {"count", regions.size()}}, work,
        expected);
  }
}

}  // namespace dapple::bench
