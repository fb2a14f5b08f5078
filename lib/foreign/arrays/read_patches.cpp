#include <algorithm>
#include <numeric>
#include <vector>

#include "lib/cells/convert_cells.h"
#include "lib/foreign/arrays/lines.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::arrays {

namespace {

/// Cells of one row of a patch: the row and the first column, counted from the block's first cell.
struct Run {
  std::uint64_t row, col, size;
  const std::byte* values;
};

/// Calls `f` with the runs that `part` has, row by row, and in each in ascending order of columns.
template <class F>
void for_each_run(const Store& store, const Entry& entry, const Part& part, const F& f) {
  const auto& arrays = store.state<SparseArrays>();
  const std::uint64_t down = arrays.patch_rows, across = arrays.patch_cols;
  const std::size_t size = size_of(entry.value_type);
  const Range rows{entry.pos.rx + part.rows.begin, entry.pos.rx + part.rows.end};
  if (rows.empty()) return;
  const Range lines{rows.begin / down, (rows.end - 1) / down + 1};
  visit_width(arrays.indices.width, [&](auto tag) {
    Lines<decltype(tag)> patches(store, lines, entry.cols / across);
    std::vector<std::uint64_t> order;
    for (std::uint64_t line = lines.begin; line < lines.end; ++line) {
      const Range entries = patches.line(line);
      const auto before = [&](std::uint64_t a, std::uint64_t b) {
        return patches.index(a) < patches.index(b);
      };
      order.resize(entries.size());
      std::iota(order.begin(), order.end(), entries.begin);
      if (!std::is_sorted(order.begin(), order.end(), before)) {
        std::sort(order.begin(), order.end(), before);
      }
      const std::uint64_t first = line * down;
      const Range here = intersect({first, first + down}, rows);
      for (std::uint64_t row = here.begin; row < here.end; ++row) {
        for (const std::uint64_t i : order) {
          const std::uint64_t col = patches.index(i) * across;
          const Range cols = intersect({col, col + across}, part.cols);
          if (cols.empty()) continue;
          const std::uint64_t cell = (row - first) * across + (cols.begin - col);
          f(Run{row - entry.pos.rx, cols.begin, cols.size(), patches.value(i) + cell * size});
        }
      }
    }
  });
}

/// How many cells of patches some rows have.
std::uint64_t count_cells(const SparseArrays& arrays, const ByteSource& file, Range rows) {
  const std::uint64_t down = arrays.patch_rows;
  const auto part_of = [&](std::uint64_t line, std::uint64_t some) {
    return some == 0 ? 0 : some * arrays.entries_of(file, {line, line + 1}).size();
  };
  const std::uint64_t first = rows.begin / down, last = rows.end / down;
  std::uint64_t n = 0;
  if (first == last) {
    n = part_of(first, rows.size());
  } else {
    n = part_of(first, down - rows.begin % down) + part_of(last, rows.end % down) +
        arrays.entries_of(file, {first + 1, last}).size() * down;
  }
  return n * arrays.patch_cols;
}

}  // namespace

void read_patches(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  fill_zero(out, part.rows.size(), part.cols.size());
  const std::size_t size = size_of(entry.value_type);
  for_each_run(store, entry, part, [&](const Run& run) {
    std::byte* const cell = out.cell(run.row - part.rows.begin, run.col - part.cols.begin);
    const std::size_t done =
        convert_cells(entry.value_type, run.values, size, out.type, cell, out.col_step, run.size);
    if (done < run.size) {
      fail_misfit(store, entry, {run.row, run.col + done}, run.values + done * size, out.type);
    }
  });
}

void patch_entries(const Store& store, const Entry& entry, const Part& part, CellRun& take) {
  const std::size_t size = size_of(entry.value_type);
  for_each_run(store, entry, part, [&](const Run& run) {
    for (std::uint64_t i = 0; i < run.size; ++i) {
      take({entry.pos.rx + run.row, run.col + i,
            load_bits(entry.value_type, run.values + i * size)});
    }
  });
}

bool patch_arrays(const Store& store, const Entry& entry, Range wanted, RowCursor&,
                  const CsrTarget& out) {
  const Range rows{entry.pos.rx + wanted.begin, entry.pos.rx + wanted.end};
  if (count_cells(store.state<SparseArrays>(), store.file(), rows) > out.room) return false;
  const std::size_t size = size_of(entry.value_type), out_size = size_of(out.type);
  std::uint64_t k = 0, row = wanted.begin;
  const auto end_rows = [&](std::uint64_t next) {
    for (; row < next; ++row) out.row_ptr[row - wanted.begin + 1] = k;
  };
  out.row_ptr[0] = 0;
  for_each_run(store, entry, {wanted, {0, entry.cols}}, [&](const Run& run) {
    end_rows(run.row);
    // Only a file that was changed meanwhile has more cells than were counted.
    if (run.size > out.room - k) store.file().fail_changed("block " + text(entry.pos));
    const std::size_t done = convert_cells(entry.value_type, run.values, size, out.type,
                                           out.values + k * out_size, out_size, run.size);
    if (done < run.size) {
      fail_misfit(store, entry, {run.row, run.col + done}, run.values + done * size, out.type);
    }
    std::iota(out.col_idx + k, out.col_idx + k + run.size, static_cast<std::uint32_t>(run.col));
    k += run.size;
  });
  end_rows(wanted.end);
  return true;
}

void skip_patches(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor) {
  const std::uint64_t first = entry.pos.rx;
  cursor.entries +=
      count_cells(store.state<SparseArrays>(), store.file(), {first + cursor.row, first + row});
  cursor.row = row;
}

}  // namespace dapple::detail::arrays
