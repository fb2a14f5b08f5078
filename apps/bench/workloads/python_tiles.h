// The Python peers of W1 to W4: numpy.memmap, h5py and zarr on the same matrix.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "dapple/region.h"
#include "harness/session.h"
#include "workloads/tiles.h"

namespace dapple::bench {

class PythonTiles {
 public:
  static constexpr std::size_t kMostTouches = 20'000;

  /// `session` and `files` live longer. Makes a zarr directory when it is wanted for the first
  /// time.
  PythonTiles(Session& session, const TileFiles& files);

  /// Adds those that are there. `job` is a function of peers.py that takes touches, `count` of
  /// them, at most `kMostTouches`; `work` and `expected` are those of one run.
  void add_touching(Series& series, const std::string& job, std::size_t count, double work,
                    double expected) const;

  /// The same for regions that are copied out; numpy takes no part, because its map of dapple's
  /// tiles has no regions across tiles.
  void add_regions(Series& series, const std::vector<Region>& regions, double work,
                   double expected) const;

 private:
  void add(Series& series, const std::string& library, nlohmann::json request, double work,
           double expected) const;

  Session& session_;
  const TileFiles& files_;
};

}  // namespace dapple::bench
