#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "lib/foreign/btable/btable.h"
#include "lib/foreign/btable/btable_rows.h"
#include "lib/object/convert_cells.h"
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
                "expected a column below " + std::to_string(block.cols) + ", got " +
                    std::to_string(static_cast<std::int32_t>(col)));
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
  for (std::uint32_t i = 0; !inside; ++i) checked_column(store, block, row, i);
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

}  // namespace

const Codec kCodec = {.format = "btable", .read = read_btable, .entries = btable_entries};

}  // namespace dapple::detail::btable
