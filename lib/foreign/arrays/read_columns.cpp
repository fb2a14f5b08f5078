#include <algorithm>
#include <utility>

#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/lines.h"
#include "lib/object/misfit.h"

namespace dapple::detail::arrays {

// Counts the entries of each row, then deals them out, so that columns ascend by themselves.
bool column_arrays(const Store& store, const Entry& entry, Range wanted, RowCursor&,
                   const CsrTarget& out) {
  const Range all{entry.pos.cx, entry.pos.cx + entry.cols};
  return visit_width(store.state<SparseArrays>().indices.width, [&](auto tag) {
    Lines<decltype(tag)> columns(store, all, entry.rows);
    std::uint64_t* const next = out.row_ptr + 1;  // of each row, where its next entry goes
    std::fill_n(out.row_ptr, wanted.size() + 1, 0);
    for (std::uint64_t col = all.begin; col < all.end; ++col) {
      const Range entries = columns.line(col);
      for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
        if (wanted.contains(columns.index(i))) ++next[columns.index(i) - wanted.begin];
      }
    }
    std::uint64_t total = 0;
    for (std::uint64_t r = 0; r < wanted.size(); ++r) {
      total += std::exchange(next[r], total);
    }
    if (total > out.room) return false;
    const std::size_t size = size_of(out.type);
    Array<std::byte> values(columns.size() * size);
    const std::size_t done =
        columns.size() == 0
            ? 0
            : convert_cells(entry.value_type, columns.value(0), size_of(entry.value_type), out.type,
                            values.data(), size, columns.size());
    visit_bits(out.type, [&](auto bits) {
      using Bits = decltype(bits);
      for (std::uint64_t col = 0; col < entry.cols; ++col) {
        const Range entries = columns.unchecked_line(all.begin + col);
        for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
          const std::uint64_t row = columns.index(i);
          if (!wanted.contains(row)) continue;
          if (i >= done) fail_misfit(store, entry, {row, col}, columns.value(i), out.type);
          std::uint64_t& k = next[row - wanted.begin];
          // Only a file that was changed meanwhile has more entries in a row than were counted.
          if (k >= total) store.file().fail_changed("block " + text(entry.pos));
          out.col_idx[k] = static_cast<std::uint32_t>(col);
          store_le(out.values + k * sizeof(Bits), load_le<Bits>(values.data() + i * sizeof(Bits)));
          ++k;
        }
      }
    });
    return true;
  });
}

}  // namespace dapple::detail::arrays
