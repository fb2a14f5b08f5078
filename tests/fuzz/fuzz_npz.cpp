// Door: NumPy archives. Any bytes give an object or an Error; what opens and is small is read,
// dense and as CSR arrays, which must agree.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

namespace dapple::fuzz::npz_target {

namespace {

constexpr std::uint64_t kMostCells = 1 << 14;

void read_both_ways(const Matrix& matrix) {
  const Region all{{0, matrix.rows()}, {0, matrix.cols()}};
  const std::vector<double> dense = matrix.read<double>(all);
  const auto csr = matrix.read_csr<double>(all);
  std::size_t found = 0;
  for (std::uint64_t row = 0; row < matrix.rows(); ++row) {
    for (auto k = csr.row_ptr[row]; k < csr.row_ptr[row + 1]; ++k) {
      const double value = dense[row * matrix.cols() + csr.col_idx[k]];
      if (!(value == csr.values[k] || (value != value && csr.values[k] != csr.values[k]))) {
        std::abort();
      }
      ++found;
    }
  }
  std::size_t stored = 0;
  for (const double value : dense) stored += value != 0;
  if (stored > found) std::abort();
}

}  // namespace

FUZZ_TARGET(npz) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  try {
    const auto object = open(file.path(), OpenOptions{.format = "npz"});
    const auto* matrix = std::get_if<Matrix>(&object);
    if (matrix == nullptr || matrix->rows() > kMostCells || matrix->cols() > kMostCells ||
        matrix->rows() * matrix->cols() > kMostCells) {
      return 0;
    }
    read_both_ways(*matrix);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::npz_target
