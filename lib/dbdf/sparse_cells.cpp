#include "lib/dbdf/sparse_cells.h"

#include <algorithm>

#include "lib/object/convert_cells.h"

namespace dapple::detail::dbdf {

const SparseCell* sort_cells(std::span<SparseCell> cells) {
  std::sort(cells.begin(), cells.end(),
            [](const SparseCell& a, const SparseCell& b) { return a.key() < b.key(); });
  const auto twice = std::adjacent_find(
      cells.begin(), cells.end(),
      [](const SparseCell& a, const SparseCell& b) { return a.key() == b.key(); });
  return twice == cells.end() ? nullptr : &*twice;
}

void make_rows(std::span<const SparseCell> cells, std::uint64_t rows, ValueType type,
               CsrRows& out) {
  const std::size_t size = size_of(type);
  out.row_ptr.reset(rows + 1);
  out.col_idx.reset(cells.size());
  out.values.reset(cells.size() * size);
  std::uint64_t row_end = 0;  // row pointers below it are known
  for (std::size_t k = 0; k < cells.size(); ++k) {
    while (row_end <= cells[k].row) out.row_ptr[row_end++] = k;
    out.col_idx[k] = cells[k].col;
    store_bits(type, out.values.data() + k * size, cells[k].bits);
  }
  while (row_end <= rows) out.row_ptr[row_end++] = cells.size();
}

}  // namespace dapple::detail::dbdf
