// HDF5 as a store of a sparse matrix: three contiguous data sets, the usual way to keep CSR in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "peers/hdf5_matrix.h"

namespace dapple::bench {

void write_hdf5_arrays(const std::filesystem::path& path, std::span<const std::uint64_t> row_ptr,
                       std::span<const std::uint32_t> col_idx, std::span<const double> values);

struct PeerArrays {
  std::vector<std::uint64_t> row_ptr;
  std::vector<std::uint32_t> col_idx;
  std::vector<double> values;
};

/// Into new memory.
PeerArrays read_hdf5_arrays(const std::filesystem::path& path);

}  // namespace dapple::bench
