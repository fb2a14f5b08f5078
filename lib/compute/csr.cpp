#include "lib/compute/csr.h"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <tuple>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/compute/csr_rows.h"

namespace dapple::detail {

namespace {

// The value of a cell as bits of another type.
std::uint64_t cell_as(const Store& store, const StoredCell& cell, ValueType type) {
  const ValueType declared = store.schema().type_of(cell.col);
  std::uint64_t bits = cell.bits;
  if (declared != type && !convert_cell(declared, cell.bits, type, bits)) {
    throw Error(Errc::type_mismatch, store.file().name(), std::nullopt,
                "expected values that fit " + std::string(name(type)) +
                    " (R6), got another in cell " + text({cell.row, cell.col}));
  }
  return bits;
}

// For what has no rows to give (dense files of others, blocks of a type wider than they may be),
// and to say what is wrong with what has: counts them row by row, then decodes them again
// straight to their places. No memory beside the result, but a word per row.
template <class Col>
void place_csr(const Store& store, const Region& region, const ReadOptions& options,
               const CsrOut<Col>& out) {
  const std::uint64_t rows = region.rows.size();
  Array<std::uint64_t>& row_ptr = out.row_ptr;
  row_ptr.reset(rows + 1);
  std::fill(row_ptr.begin(), row_ptr.end(), 0);
  store.entries(region, options,
                [&](const StoredCell& cell) { ++row_ptr[cell.row - region.rows.begin + 1]; });
  std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
  out.col_idx.reset(row_ptr[rows]);
  std::byte* const values = out.resize_values(0, row_ptr[rows]);
  std::vector<std::uint64_t> next(row_ptr.begin(), row_ptr.begin() + rows);
  const auto fail_changed = [&] {
    store.fail(Errc::io, 0, "expected a file that stays as it is while it is read, got a change");
  };
  visit_bits(out.type, [&](auto tag) {
    using Bits = decltype(tag);
    store.entries(region, options, [&](const StoredCell& cell) {
      const std::uint64_t row = cell.row - region.rows.begin;
      const std::uint64_t k = next[row]++;
      if (k == row_ptr[row + 1]) fail_changed();
      out.col_idx[k] = static_cast<Col>(cell.col - region.cols.begin);
      store_le(values + k * sizeof(Bits), static_cast<Bits>(cell_as(store, cell, out.type)));
    });
  });
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t begin = row_ptr[row], end = row_ptr[row + 1];
    if (next[row] != end) fail_changed();
    Col* const cols = out.col_idx.data() + begin;
    if (!std::is_sorted(cols, cols + (end - begin))) {
      sort_row(cols, out.type, values + begin * size_of(out.type), end - begin);
    }
  }
}

// For formats that are parsed from front to back: once. Memory: 24 bytes an entry beside the
// result.
template <class Col>
void sort_csr(const Store& store, const Region& region, const ReadOptions& options,
              const CsrOut<Col>& out) {
  std::vector<StoredCell> cells;
  store.entries(region, options, [&](const StoredCell& cell) {
    cells.push_back({cell.row, cell.col, cell_as(store, cell, out.type)});
  });
  const auto before = [](const StoredCell& a, const StoredCell& b) {
    return std::tie(a.row, a.col) < std::tie(b.row, b.col);
  };
  if (!std::is_sorted(cells.begin(), cells.end(), before)) {
    std::sort(cells.begin(), cells.end(), before);
  }
  out.row_ptr.reset(region.rows.size() + 1);
  out.col_idx.reset(cells.size());
  std::byte* const values = out.resize_values(0, cells.size());
  const std::size_t size = size_of(out.type);
  std::uint64_t row_end = 0;  // rows below it are complete
  for (std::size_t k = 0; k < cells.size(); ++k) {
    while (row_end <= cells[k].row - region.rows.begin) out.row_ptr[row_end++] = k;
    out.col_idx[k] = static_cast<Col>(cells[k].col - region.cols.begin);
    store_bits(out.type, values + k * size, cells[k].bits);
  }
  while (row_end <= region.rows.size()) out.row_ptr[row_end++] = cells.size();
}

}  // namespace

void fail_memory(const Store& store, const Region& region) {
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
              "expected a region that fits in memory, got " + std::to_string(region.rows.size()) +
                  " x " + std::to_string(region.cols.size()) + " cells");
}

template <class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 const CsrOut<Col>& out) {
  // A pointer to each row and one to the end: more than there are numbers for.
  if (region.rows.size() == std::numeric_limits<std::uint64_t>::max()) throw std::bad_alloc();
  if (store.codec().sequential) {
    sort_csr(store, region, options, out);
  } else if (!decode_csr(store, region, options, out)) {
    place_csr(store, region, options, out);
  }
}

template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint32_t>&);
template void collect_csr(const Store&, const Region&, const ReadOptions&,
                          const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail
