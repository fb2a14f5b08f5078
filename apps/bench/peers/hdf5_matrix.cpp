#include "peers/hdf5_matrix.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "peers/hdf5_handle.h"

namespace dapple::bench {

namespace {

constexpr const char* kName = "cells";

hid_t native(ValueType type) {
  switch (type) {
    case ValueType::u8:
      return H5T_NATIVE_UINT8;
    case ValueType::f64:
      return H5T_NATIVE_DOUBLE;
    default:
      throw std::runtime_error("HDF5: expected cells of u8 or f64");
  }
}

Hdf5Handle newest_format() {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate");
  require_hdf5(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST),
               "H5Pset_libver_bounds");
  return access;
}

Hdf5Handle simple_space(hsize_t rows, hsize_t cols) {
  const hsize_t shape[] = {rows, cols};
  return {H5Screate_simple(2, shape, nullptr), H5Sclose, "H5Screate_simple"};
}

}  // namespace

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

struct Hdf5Maker::Impl {
  Hdf5Handle file, data;
  std::size_t chunk_bytes = 0;
};

Hdf5Maker::Hdf5Maker(const std::filesystem::path& path, const Hdf5Shape& shape)
    : impl_(std::make_unique<Impl>()) {
  impl_->file = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, newest_format()), H5Fclose,
                 "H5Fcreate"};
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate");
  const hsize_t chunk[] = {shape.tile.rows, shape.tile.cols};
  require_hdf5(H5Pset_chunk(creation, 2, chunk), "H5Pset_chunk");
  require_hdf5(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
  const Hdf5Handle space = simple_space(shape.rows, shape.cols);
  impl_->data = {
      H5Dcreate2(impl_->file, kName, native(shape.type), space, H5P_DEFAULT, creation, H5P_DEFAULT),
      H5Dclose, "H5Dcreate2"};
  impl_->chunk_bytes = std::size_t{shape.tile.rows} * shape.tile.cols * size_of(shape.type);
}

Hdf5Maker::~Hdf5Maker() = default;

void Hdf5Maker::put(std::uint64_t row, std::uint64_t col, const void* cells) {
  const hsize_t first[] = {row, col};
  require_hdf5(H5Dwrite_chunk(impl_->data, H5P_DEFAULT, 0, first, impl_->chunk_bytes, cells),
               "H5Dwrite_chunk");
}

void Hdf5Maker::finish() {
  impl_->data = {};
  require_hdf5(H5Fflush(impl_->file, H5F_SCOPE_LOCAL), "H5Fflush");
  impl_->file = {};
}

struct Hdf5Matrix::Impl {
  Impl(const std::filesystem::path& path, ValueType value_type, std::size_t cache_bytes);
  void read(const Region& region, void* out);
  void fill_cache();

  Hdf5Handle file, data, space;
  hid_t type = -1;
  // The memory space of the last shape: creating one costs as much as a small read.
  Hdf5Handle memory;
  std::uint64_t memory_rows = 0, memory_cols = 0;
};

Hdf5Matrix::Impl::Impl(const std::filesystem::path& path, ValueType value_type,
                       std::size_t cache_bytes)
    : type(native(value_type)) {
  file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, newest_format()), H5Fclose, "H5Fopen"};
  Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "H5Pcreate");
  if (cache_bytes != kHdf5DefaultCache) {
    constexpr std::size_t kSlots = 2'621'447;  // prime; ten for each of 262,144 chunks
    require_hdf5(H5Pset_chunk_cache(access, kSlots, cache_bytes, 0.75), "H5Pset_chunk_cache");
  }
  data = {H5Dopen2(file, kName, access), H5Dclose, "H5Dopen2"};
  space = {H5Dget_space(data), H5Sclose, "H5Dget_space"};
  if (cache_bytes != kHdf5DefaultCache) fill_cache();
}

void Hdf5Matrix::Impl::read(const Region& region, void* out) {
  if (memory_rows != region.rows.size() || memory_cols != region.cols.size()) {
    memory_rows = region.rows.size();
    memory_cols = region.cols.size();
    memory = simple_space(memory_rows, memory_cols);
  }
  const hsize_t first[] = {region.rows.begin, region.cols.begin};
  const hsize_t count[] = {memory_rows, memory_cols};
  require_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, count, nullptr),
               "H5Sselect_hyperslab");
  require_hdf5(H5Dread(data, type, memory, space, H5P_DEFAULT, out), "H5Dread");
}

/// Reads everything once, a row of chunks at a time.
void Hdf5Matrix::Impl::fill_cache() {
  const Hdf5Handle creation(H5Dget_create_plist(data), H5Pclose, "H5Dget_create_plist");
  hsize_t chunk[2] = {}, shape[2] = {};
  require_hdf5(H5Pget_chunk(creation, 2, chunk), "H5Pget_chunk");
  require_hdf5(H5Sget_simple_extent_dims(space, shape, nullptr), "H5Sget_simple_extent_dims");
  std::vector<std::byte> strip(chunk[0] * shape[1] * H5Tget_size(type));
  for (std::uint64_t row = 0; row < shape[0]; row += chunk[0]) {
    read({{row, std::min<std::uint64_t>(row + chunk[0], shape[0])}, {0, shape[1]}}, strip.data());
  }
}

Hdf5Matrix::Hdf5Matrix(std::filesystem::path path, ValueType type, std::size_t cache_bytes)
    : path_(std::move(path)), type_(type), cache_bytes_(cache_bytes) {}

Hdf5Matrix::~Hdf5Matrix() = default;

void Hdf5Matrix::read(const Region& region, void* out) {
  if (!impl_) impl_ = std::make_unique<Impl>(path_, type_, cache_bytes_);
  impl_->read(region, out);
}

}  // namespace dapple::bench
