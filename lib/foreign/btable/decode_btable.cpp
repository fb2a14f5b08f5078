#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/foreign/btable/btable.h"
#include "lib/foreign/btable/btable_rows.h"
#include "lib/foreign/btable/split_row.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::btable {

namespace {

/// The rows of `part`, front to back: `take(row of the part, entries)`.
template <class F>
void for_each_row(const Store& store, const Entry& block, Range part, const F& take) {
  RowWalk rows(store.file(), block.offset, block.offset + block.bytes);
  rows.skip(part.begin);
  for (std::uint64_t r = 0; r < part.size(); ++r) take(r, rows.next());
}

/// The column of entry `i`. Negative ones are the largest unsigned ones. Throws corrupt.
std::uint32_t checked_column(const Store& store, const Entry& block, const Row& row,
                             std::uint32_t i) {
  const std::uint32_t col = row[i].column();
  if (col >= block.cols) {
    throw Error(Errc::corrupt, store.file().name(), row.offset_of(i),
                "column " + std::to_string(static_cast<std::int32_t>(col)) +
                    " is outside a table of " + counted(block.cols, "column"));
  }
  return col;
}

/// Later entries of a row replace earlier ones of the same column, as in the reference readers.
void read_btable(const Store& store, const Entry& block, const Part& part, const Target& out) {
  for_each_row(store, block, part.rows, [&](std::uint64_t r, const Row& row) {
    Target line = out;
    line.data = out.cell(r, 0);
    fill_zero(line, 1, part.cols.size());
    for (std::uint32_t i = 0; i < row.size; ++i) {
      const std::uint32_t col = checked_column(store, block, row, i);
      if (!part.cols.contains(col)) continue;
      const std::uint64_t value = row[i].bits();
      std::uint64_t bits = value;
      if (out.type != ValueType::f64 && !convert_cell(ValueType::f64, value, out.type, bits)) {
        fail_misfit_at(row.offset_of(i) + 4, store, block, {part.rows.begin + r, col},
                       reinterpret_cast<const std::byte*>(&value), out.type);
      }
      store_bits(out.type, line.cell(0, col - part.cols.begin), bits);
    }
  });
}

/// The entries of a row in ascending order of columns, only the last one of each.
void settle_row(const Row& row, std::vector<std::uint32_t>& order) {
  order.resize(row.size);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return row[a].column() < row[b].column();
  });
  // Of equal neighbours the last stays: std::unique keeps the first, so it is run from the end.
  const auto kept = std::unique(
      order.rbegin(), order.rend(),
      [&](std::uint32_t a, std::uint32_t b) { return row[a].column() == row[b].column(); });
  order.erase(order.begin(), kept.base());
}

/// Throws corrupt for the first column of a row outside the table, if there is one.
void check_columns(const Store& store, const Entry& block, const Row& row) {
  for (std::uint32_t i = 0; i < row.size; ++i) checked_column(store, block, row, i);
}

/// True when the columns of a row ascend, each once. Throws corrupt for one outside the table.
bool is_ascending(const Store& store, const Entry& block, const Row& row) {
  bool ascending = true, inside = true;
  std::uint64_t least = 0;
  for (std::uint32_t i = 0; i < row.size; ++i) {
    const std::uint32_t col = row[i].column();
    inside &= col < block.cols;
    ascending &= col >= least;
    least = std::uint64_t{col} + 1;
  }
  if (!inside) check_columns(store, block, row);
  return ascending;
}

void btable_entries(const Store& store, const Entry& block, const Part& part, CellRun& take) {
  std::vector<std::uint32_t> order;
  for_each_row(store, block, part.rows, [&](std::uint64_t r, const Row& row) {
    const std::uint64_t absolute = block.pos.rx + part.rows.begin + r;
    const auto hand_out = [&](std::uint32_t i) {
      const std::uint32_t col = row[i].column();
      if (part.cols.contains(col)) take({absolute, block.pos.cx + col, row[i].bits()});
    };
    if (is_ascending(store, block, row)) {
      for (std::uint32_t i = 0; i < row.size; ++i) hand_out(i);
    } else {
      settle_row(row, order);
      for (const std::uint32_t i : order) hand_out(i);
    }
  });
}

/// Values as the machine has them, f64, become the target's type. Throws like `read_btable`.
void convert_row(const Store& store, const Entry& block, std::uint64_t r, const Row& row,
                 const CsrTarget& out, std::uint64_t k) {
  const std::size_t size = size_of(out.type);
  for (std::uint32_t i = 0; i < row.size; ++i) {
    const std::uint64_t value = row[i].bits();
    std::uint64_t bits = 0;
    if (!convert_cell(ValueType::f64, value, out.type, bits)) {
      fail_misfit_at(row.offset_of(i) + 4, store, block, {r, row[i].column()},
                     reinterpret_cast<const std::byte*>(&value), out.type);
    }
    store_bits(out.type, out.values + (k + i) * size, bits);
  }
}

RowWalk walk_from(const Store& store, const Entry& block, const RowCursor& cursor) {
  const std::uint64_t passed = cursor.row * kCountBytes + cursor.entries * kEntryBytes;
  return {store.file(), block.offset + passed, block.offset + block.bytes};
}

/// Rows in ascending order, as writers make them, take one pass.
bool btable_arrays(const Store& store, const Entry& block, Range rows, RowCursor& cursor,
                   const CsrTarget& out) {
  if (cursor.row > rows.begin) cursor = {};
  RowWalk walk = walk_from(store, block, cursor);
  walk.skip(rows.begin - cursor.row);
  std::vector<std::uint32_t> order;
  std::uint64_t k = 0;
  out.row_ptr[0] = 0;
  for (std::uint64_t r = rows.begin; r < rows.end; ++r) {
    const Row row = walk.next();
    if (row.size > out.room - k) return false;
    std::uint32_t* const cols = out.col_idx + k;
    bool ascending = false;
    if (out.type == ValueType::f64) {
      ascending = split_row(row.data, row.size, cols, out.values + k * sizeof(double));
    } else {
      for (std::uint32_t i = 0; i < row.size; ++i) cols[i] = row[i].column();
      ascending = ascends(cols, row.size);
    }
    // Of columns that ascend, the last is the largest.
    if (row.size > 0 && (!ascending || cols[row.size - 1] >= block.cols)) {
      check_columns(store, block, row);
    }
    if (out.type != ValueType::f64) convert_row(store, block, r, row, out, k);
    if (ascending) {
      k += row.size;
    } else {
      settle_row(row, order);
      for (const std::uint32_t i : order) {
        std::uint64_t bits = 0;
        convert_cell(ValueType::f64, row[i].bits(), out.type, bits);
        out.col_idx[k] = row[i].column();
        store_bits(out.type, out.values + k * size_of(out.type), bits);
        ++k;
      }
    }
    out.row_ptr[r - rows.begin + 1] = k;
  }
  cursor = {};  // how many entries the rows above hold was not counted
  return true;
}

void skip_rows(const Store& store, const Entry& block, std::uint64_t row, RowCursor& cursor) {
  RowWalk walk = walk_from(store, block, cursor);
  for (; cursor.row < row; ++cursor.row) cursor.entries += walk.next().size;
}

}  // namespace

const Driver kDriver = {.format = "btable",
                        .read = read_btable,
                        .entries = btable_entries,
                        .csr_arrays = btable_arrays,
                        .skip_rows = skip_rows};

}  // namespace dapple::detail::btable
