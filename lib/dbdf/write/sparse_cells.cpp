#include "lib/dbdf/write/sparse_cells.h"

#include <algorithm>

#include "lib/cells/convert_cells.h"

namespace dapple::detail::dbdf {

const SparseCell* sort_cells(std::span<SparseCell> cells) {
  std::sort(cells.begin(), cells.end(),
            [](const SparseCell& a, const SparseCell& b) { return a.key() < b.key(); });
  const auto twice = std::adjacent_find(
      cells.begin(), cells.end(),
      [](const SparseCell& a, const SparseCell& b) { return a.key() == b.key(); });
  return twice == cells.end() ? nullptr : &*twice;
}

CsrCells ListedRows::list(std::span<const SparseCell> cells, ValueType type, TileShape shape) {
  const std::size_t size = size_of(type);
  row_ptr_.reset(cells.size() + 1);
  row_idx_.reset(cells.size() + 1);  // never none, which would mean all rows
  col_idx_.reset(cells.size());
  values_.reset(cells.size() * size);
  std::uint32_t listed = 0;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (k == 0 || cells[k].row != cells[k - 1].row) {
      row_ptr_[listed] = k;
      row_idx_[listed++] = cells[k].row;
    }
    col_idx_[k] = cells[k].col;
    store_bits(type, values_.data() + k * size, cells[k].bits);
  }
  row_ptr_[listed] = cells.size();
  return {row_ptr_.data(), col_idx_.data(), values_.data(),  type,
          shape.rows,      shape.cols,      row_idx_.data(), listed};
}

}  // namespace dapple::detail::dbdf
