// The sparse matrix of W7, which everybody can compute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "dapple/dapple.h"
#include "harness/random.h"
#include "harness/session.h"

namespace dapple::bench {

/// `per_row` entries in each row, one in each `step` columns; values 1 to 255.
struct SparseShape {
  std::uint32_t rows, per_row, step;

  std::uint32_t cols() const { return per_row * step; }
  std::uint64_t entries() const { return std::uint64_t{rows} * per_row; }
  std::uint32_t col(std::uint32_t row, std::uint32_t k) const {
    return k * step + static_cast<std::uint32_t>(mix((std::uint64_t{row} << 32) ^ k) % step);
  }
  double value(std::uint32_t row, std::uint32_t k) const {
    return 1 + static_cast<double>(mix((std::uint64_t{k} << 32) ^ row) % 255);
  }
};

struct SparseArrays {
  std::vector<std::uint64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx;
  std::vector<double> values;
};

SparseArrays make_arrays(const SparseShape& shape);

/// A file that holds it in one block of the given kind, csr or coo.
std::filesystem::path make_sparse_file(const Session& session, const SparseShape& shape,
                                       KindChoice kind);

}  // namespace dapple::bench
