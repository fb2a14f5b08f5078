// Door: Matrix Market. Any bytes give a matrix or an Error. What opens reads the same by rows, by
// columns and by entries, and what is written of it reads back to the same cells.
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"
#include "tests/support.h"

namespace dapple::fuzz::mtx_target {

namespace {

constexpr std::uint64_t kMostCells = 1 << 14;

template <class T>
void same(T a, T b) {
  require(std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b));
}

// Nothing here may throw.
template <Value T>
void write_and_read(const Matrix& matrix, const std::vector<T>& whole) noexcept {
  ConvertOptions to_mtx;
  to_mtx.to = "mtx";
  const std::string text = test::converted(matrix, to_mtx);
  static fuzz::MemoryFile written;
  written.set(std::as_bytes(std::span(text)));
  const Matrix again = Matrix::open(written.path(), {.format = "mtx"});
  require(again.storage() == matrix.storage());
  const std::vector<T> back = again.read<T>({{0, matrix.rows()}, {0, matrix.cols()}});
  require(back.size() == whole.size());
  for (std::size_t i = 0; i < back.size(); ++i) same(back[i], whole[i]);
}

template <Value T>
void look_at(const Matrix& matrix) {
  const std::uint64_t rows = matrix.rows(), cols = matrix.cols();
  const std::vector<T> whole = matrix.read<T>({{0, rows}, {0, cols}});
  for (std::uint64_t c = 0; c < cols; ++c) {
    const std::vector<T> column = matrix.read<T>({{0, rows}, {c, c + 1}});
    for (std::uint64_t r = 0; r < rows; ++r) same(column[r], whole[r * cols + c]);
  }
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::vector<T> row = matrix.read<T>({{r, r + 1}, {0, cols}});
    for (std::uint64_t c = 0; c < cols; ++c) same(row[c], whole[r * cols + c]);
  }
  const Csr<T> csr = matrix.read_csr<T>({{0, rows}, {0, cols}});
  std::vector<T> cells(rows * cols);
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t k = csr.row_ptr[r]; k < csr.row_ptr[r + 1]; ++k) {
      cells[r * cols + csr.col_idx[k]] = csr.values[k];
    }
  }
  for (std::size_t i = 0; i < cells.size(); ++i) same(cells[i], whole[i]);
  write_and_read(matrix, whole);
}

}  // namespace

FUZZ_TARGET(mtx) {
  static fuzz::MemoryFile file;
  file.set({data, size});
  try {
    const Matrix matrix = Matrix::open(file.path(), {.format = "mtx"});
    // A side without cells costs time too: rows and columns are read one by one.
    if (matrix.rows() > kMostCells || matrix.cols() > kMostCells) return 0;
    if (matrix.cols() > 0 && matrix.rows() > kMostCells / matrix.cols()) return 0;
    visit_type(matrix.value_type(), [&](auto tag) { look_at<decltype(tag)>(matrix); });
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace dapple::fuzz::mtx_target
