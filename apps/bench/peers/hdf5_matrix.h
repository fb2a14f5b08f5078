// HDF5 as a store of tiles: a chunked data set, one chunk per tile, no filter.
//
// Tuned: the newest file format (chunks found through a fixed array instead of a B-tree); handles
// and memory spaces are kept between reads. The chunk cache is the caller's choice: 1 MiB is
// HDF5's default, and with room for everything no chunk is read from the file twice; its hash
// table then has several slots for each chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "dapple/region.h"
#include "dapple/value_type.h"

namespace dapple::bench {

/// False when dapple-bench was built without HDF5: then nothing else here may be used.
inline constexpr bool kHasHdf5 = DAPPLE_BENCH_HDF5;

/// "1.10.8".
std::string hdf5_version();

struct Hdf5Shape {
  std::uint64_t rows, cols;
  TileShape tile;
  ValueType type = ValueType::f64;
};

class Hdf5Maker {
 public:
  Hdf5Maker(const std::filesystem::path& path, const Hdf5Shape& shape);
  ~Hdf5Maker();
  /// Writes the chunk whose first cell is (row, col).
  void put(std::uint64_t row, std::uint64_t col, const void* cells);
  /// Closes the file. Throws std::runtime_error.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::size_t kHdf5DefaultCache = std::size_t{1} << 20;
inline constexpr std::size_t kHdf5LargeCache = std::size_t{4} << 30;

/// Opens its file when it is first read from; a large cache is filled then. HDF5 shares the cache
/// of a file among all its openings in a process, so caches of two sizes need two processes.
class Hdf5Matrix {
 public:
  Hdf5Matrix(std::filesystem::path path, ValueType type, std::size_t cache_bytes);
  ~Hdf5Matrix();

  /// Copies a region's cells to `out`, of the type that the constructor was given.
  void read(const Region& region, void* out);

 private:
  struct Impl;
  std::filesystem::path path_;
  ValueType type_;
  std::size_t cache_bytes_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dapple::bench
