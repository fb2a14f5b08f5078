// Regions as compressed sparse rows, and the caller's memory as a target.
#pragma once

#include <algorithm>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dapple/view.h"
#include "lib/object/convert_cells.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// The caller's `size` values at `out` as the target for rows x cols cells, `row_stride` values
/// from row to row (0: no gap). Throws invalid_argument when they do not fit.
Target target_for(void* out, std::size_t size, std::size_t row_stride, ValueType type,
                  std::uint64_t rows, std::uint64_t cols);

/// Calls `f`, which makes arrays for the cells of `region`. Throws invalid_argument when memory
/// cannot hold them.
template <class F>
auto fill_memory(const Store& store, const Region& region, const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
              "expected a region that fits in memory, got " + std::to_string(region.rows.size()) +
                  " x " + std::to_string(region.cols.size()) + " cells");
}

/// One cell as T. Throws type_mismatch when it does not fit exactly.
template <Value T>
T cell_as(const Store& store, const StoredCell& cell) {
  const ValueType declared = store.schema().type_of(cell.col);
  std::uint64_t bits = cell.bits;
  if (declared != value_type_of<T>() &&
      !convert_cell(declared, cell.bits, value_type_of<T>(), bits)) {
    throw Error(Errc::type_mismatch, store.file().name(), std::nullopt,
                "expected values that fit " + std::string(name(value_type_of<T>())) +
                    " (R6), got another in cell " + text({cell.row, cell.col}));
  }
  return load_le<T>(reinterpret_cast<const std::byte*>(&bits));
}

/// Sorts entries [begin, end) of the arrays by column.
template <Value T, class Col>
void sort_row(Csr<T, Col>& csr, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::pair<Col, T>> entries;
  entries.reserve(end - begin);
  for (std::uint64_t k = begin; k < end; ++k) entries.emplace_back(csr.col_idx[k], csr.values[k]);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::uint64_t k = begin; k < end; ++k) {
    std::tie(csr.col_idx[k], csr.values[k]) = entries[k - begin];
  }
}

/// As `collect_csr`, for formats whose entries are cheap to decode: counts them row by row, then
/// decodes them again straight to their places. No memory beside the result, but a word per row.
template <Value T, class Col>
void place_csr(const Store& store, const Region& region, const ReadOptions& options,
               Csr<T, Col>& out) {
  const std::uint64_t rows = region.rows.size();
  out.row_ptr.reset(rows + 1);
  std::fill(out.row_ptr.begin(), out.row_ptr.end(), 0);
  store.entries(region, options,
                [&](const StoredCell& cell) { ++out.row_ptr[cell.row - region.rows.begin + 1]; });
  std::partial_sum(out.row_ptr.begin(), out.row_ptr.end(), out.row_ptr.begin());
  out.col_idx.reset(out.row_ptr[rows]);
  out.values.reset(out.row_ptr[rows]);
  std::vector<std::uint64_t> next(out.row_ptr.begin(), out.row_ptr.begin() + rows);
  const auto fail_changed = [&] {
    store.fail(Errc::io, 0, "expected a file that stays as it is while it is read, got a change");
  };
  store.entries(region, options, [&](const StoredCell& cell) {
    const std::uint64_t row = cell.row - region.rows.begin;
    const std::uint64_t k = next[row]++;
    if (k == out.row_ptr[row + 1]) fail_changed();
    out.col_idx[k] = static_cast<Col>(cell.col - region.cols.begin);
    out.values[k] = cell_as<T>(store, cell);
  });
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t begin = out.row_ptr[row], end = out.row_ptr[row + 1];
    if (next[row] != end) fail_changed();
    if (!std::is_sorted(out.col_idx.begin() + begin, out.col_idx.begin() + end)) {
      sort_row(out, begin, end);
    }
  }
}

/// The same for formats that are parsed from front to back: once. Memory: twice the result.
template <Value T, class Col>
void sort_csr(const Store& store, const Region& region, const ReadOptions& options,
              Csr<T, Col>& out) {
  struct Cell {
    std::uint64_t row;
    Col col;
    T value;
  };
  std::vector<Cell> cells;
  store.entries(region, options, [&](const StoredCell& cell) {
    cells.push_back({cell.row - region.rows.begin, static_cast<Col>(cell.col - region.cols.begin),
                     cell_as<T>(store, cell)});
  });
  const auto before = [](const Cell& a, const Cell& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  };
  if (!std::is_sorted(cells.begin(), cells.end(), before)) {
    std::sort(cells.begin(), cells.end(), before);
  }
  out.row_ptr.reset(region.rows.size() + 1);
  out.col_idx.reset(cells.size());
  out.values.reset(cells.size());
  std::uint64_t row_end = 0;  // rows below it are complete
  for (std::size_t k = 0; k < cells.size(); ++k) {
    while (row_end <= cells[k].row) out.row_ptr[row_end++] = k;
    out.col_idx[k] = cells[k].col;
    out.values[k] = cells[k].value;
  }
  while (row_end <= region.rows.size()) out.row_ptr[row_end++] = cells.size();
}

/// Puts the cells of `region` that are stored and not positive zero into `out`, as sorted rows.
/// REQUIRES that Col holds the region's columns.
template <Value T, class Col>
void collect_csr(const Store& store, const Region& region, const ReadOptions& options,
                 Csr<T, Col>& out) {
  if (store.codec().sequential) {
    sort_csr(store, region, options, out);
  } else {
    place_csr(store, region, options, out);
  }
}

}  // namespace dapple::detail
