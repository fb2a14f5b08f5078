#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/foreign/arrays/lines.h"
#include "lib/object/misfit.h"

namespace dapple::detail::arrays {

namespace {

/// Copies the columns of a row and checks them. Values are in place already.
template <class Index>
void take_columns(Lines<Index>& rows, Range entries, std::uint64_t cols, std::uint32_t* out,
                  ValueType type, std::byte* values) {
  const std::uint64_t count = entries.size();
  bool narrow = true;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Index col = rows.index(entries.begin + i);
    out[i] = static_cast<std::uint32_t>(col);
    narrow = narrow && out[i] == col;
  }
  const RowColumns checked(out, count, cols);
  if (!narrow || !checked.inside) {
    for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
      if (rows.index(i) >= cols) rows.fail_outside(i);
    }
  }
  if (checked.ascending) return;
  rows.check_unique(entries);
  sort_row(out, type, values, count);
}

}  // namespace

bool row_arrays(const Store& store, const Entry& entry, Range wanted, RowCursor&,
                const CsrTarget& out) {
  const auto& arrays = store.state<SparseArrays>();
  const Range lines{entry.pos.rx + wanted.begin, entry.pos.rx + wanted.end};
  if (arrays.entries_of(store.file(), lines).size() > out.room) return false;
  return visit_width(arrays.indices.width, [&](auto tag) {
    Lines<decltype(tag)> rows(store, lines, entry.cols);
    if (rows.size() > out.room) return false;
    const std::size_t size = size_of(out.type);
    const std::size_t done =
        rows.size() == 0 ? 0
                         : convert_cells(entry.value_type, rows.value(0), size_of(entry.value_type),
                                         out.type, out.values, size, rows.size());
    out.row_ptr[0] = 0;
    for (std::uint64_t row = wanted.begin; row < wanted.end; ++row) {
      const Range entries = rows.unchecked_line(entry.pos.rx + row);
      if (done < rows.size() && done < entries.end) {
        rows.line(entry.pos.rx + row);
        fail_misfit(store, entry, {row, rows.index(done)}, rows.value(done), out.type);
      }
      take_columns(rows, entries, entry.cols, out.col_idx + entries.begin, out.type,
                   out.values + entries.begin * size);
      out.row_ptr[row - wanted.begin + 1] = entries.end;
    }
    return true;
  });
}

void skip_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor) {
  const std::uint64_t first = entry.pos.rx;
  cursor.entries += store.state<SparseArrays>()
                        .entries_of(store.file(), {first + cursor.row, first + row})
                        .size();
  cursor.row = row;
}

}  // namespace dapple::detail::arrays
