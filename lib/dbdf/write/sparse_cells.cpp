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
  row_idx_.reset(cells.size() + 1);  // never null, which would mean all rows
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

CsrCells ListedRows::gather(const DenseCells& cells, std::uint64_t nonzero) {
  const std::size_t size = size_of(cells.type);
  row_ptr_.reset(std::size_t{cells.rows} + 1);
  col_idx_.reset(nonzero + 1);  // every cell is written, and kept if it is not zero
  values_.reset((nonzero + 1) * size);
  visit_bits(cells.type, [&](auto tag) {
    using Bits = decltype(tag);
    std::uint64_t k = 0;
    for (std::uint32_t r = 0; r < cells.rows; ++r) {
      row_ptr_[r] = k;
      const std::byte* p = cells.row(r);
      for (std::uint32_t c = 0; c < cells.cols; ++c, p += sizeof(Bits)) {
        const Bits bits = load_le<Bits>(p);
        col_idx_[k] = c;
        store_le(values_.data() + k * sizeof(Bits), bits);
        k += bits != 0;
      }
    }
    row_ptr_[cells.rows] = k;
  });
  return {row_ptr_.data(), col_idx_.data(), values_.data(), cells.type, cells.rows, cells.cols};
}

}  // namespace dapple::detail::dbdf
