// HDF5 as a store of a sparse matrix: three contiguous data sets, the usual way to keep CSR in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "dapple/view.h"
#include "peers/hdf5_matrix.h"

namespace dapple::bench {

void write_hdf5_arrays(const std::filesystem::path& path, std::span<const std::uint64_t> row_ptr,
                       std::span<const std::uint64_t> col_idx, std::span<const double> values);

/// Into new memory.
Csr<double> read_hdf5_arrays(const std::filesystem::path& path);

}  // namespace dapple::bench
