#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/lines.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::arrays {

namespace {

/// Calls `f(row, col, value)` with every entry of `part`, line by line, counted from the block's
/// first cell.
template <class F>
void for_each_entry(const Store& store, const Entry& entry, const Part& part, const F& f) {
  const auto& arrays = store.state<SparseArrays>();
  const bool by_columns = arrays.by_columns;
  const Range wanted = by_columns ? part.cols : part.rows;
  const Range inside = by_columns ? part.rows : part.cols;
  const std::uint64_t first = by_columns ? entry.pos.cx : entry.pos.rx;
  visit_width(arrays.indices.width, [&](auto tag) {
    Lines<decltype(tag)> lines(store, {first + wanted.begin, first + wanted.end},
                               by_columns ? entry.rows : entry.cols);
    for (std::uint64_t line = wanted.begin; line < wanted.end; ++line) {
      const Range entries = lines.line(first + line);
      for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
        const std::uint64_t at = lines.index(i);
        if (!inside.contains(at)) continue;
        f(by_columns ? at : line, by_columns ? line : at, lines.value(i));
      }
    }
  });
}

}  // namespace

void read_lines(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  fill_zero(out, part.rows.size(), part.cols.size());
  for_each_entry(store, entry, part,
                 [&](std::uint64_t row, std::uint64_t col, const std::byte* value) {
                   std::byte* const cell = out.cell(row - part.rows.begin, col - part.cols.begin);
                   if (convert_cells(entry.value_type, value, 0, out.type, cell, 0, 1) == 0) {
                     fail_misfit(store, entry, {row, col}, value, out.type);
                   }
                 });
}

void line_entries(const Store& store, const Entry& entry, const Part& part, CellRun& take) {
  for_each_entry(
      store, entry, part, [&](std::uint64_t row, std::uint64_t col, const std::byte* value) {
        take({entry.pos.rx + row, entry.pos.cx + col, load_bits(entry.value_type, value)});
      });
}

}  // namespace dapple::detail::arrays
