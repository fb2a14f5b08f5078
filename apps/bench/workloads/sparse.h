// The sparse matrix of W7, which everybody can compute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "dapple/dapple.h"
#include "harness/random.h"
#include "harness/session.h"

namespace dapple::bench {

/// Of result `i`, 1 to 7: sums of small integers by such weights are exact, and tell results apart.
inline double weight_of(std::uint64_t i) { return static_cast<double>(i % 7 + 1); }

/// `per_row` entries in each row, one in each of as many equal strips of columns; values 1 to 255.
struct SparseShape {
  std::uint32_t rows, cols, per_row;

  std::uint64_t entries() const { return std::uint64_t{rows} * per_row; }
  std::uint32_t col(std::uint32_t row, std::uint32_t k) const {
    const std::uint32_t step = cols / per_row;
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

/// Writes them as one block to a file; the tile is chosen here.
void write_sparse(const std::filesystem::path& path, const SparseShape& shape,
                  const SparseArrays& arrays, WriteOptions options);

/// The arrays in a file, one behind the other, for contenders that are other programs.
std::filesystem::path make_arrays_file(const Session& session, const SparseShape& shape);

/// The sum of all values.
double sum_of(const SparseShape& shape);

/// How a file that holds it in u8 is cut into blocks.
enum class Cut : std::uint8_t {
  one_block,
  default_tiles,  // as a conversion chooses
  small_tiles,    // 256 x 256
  wide_tiles,     // 4096 x all columns
};
const char* name_of(Cut cut);

/// A file of CSR blocks of u8.
std::filesystem::path make_narrow_file(const Session& session, const SparseShape& shape, Cut cut);

/// A file that holds it in one block of the given kind: csr, coo or dense.
std::filesystem::path make_sparse_file(const Session& session, const SparseShape& shape,
                                       KindChoice kind);

}  // namespace dapple::bench
