#include "lib/foreign/npz/scipy_matrix.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/foreign/npy/npy_values.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::npz {

namespace {

constexpr std::uint64_t kSide = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kStripCells = 1 << 20;

struct Diagonal {
  std::int64_t offset;  // of columns from rows
  std::uint64_t line;   // of the values
};

struct Diagonals final : DriverState {
  std::vector<Diagonal> all;  // that have cells, by offset
  std::uint64_t rows = 0;
  std::uint64_t width = 0;  // columns that have values
  Numbers values;

  std::vector<Detail> details(const Store&) const override {
    return {{"encoding", "SciPy's dia"}, {"diagonals", std::to_string(all.size())}};
  }

  /// Which diagonals have a cell in row `row` and columns `cols`.
  Range in_row(std::uint64_t row, Range cols) const {
    return {first_from(cols.begin, row), first_from(std::min(cols.end, width), row)};
  }
  /// Which have one in any of these rows. REQUIRES rows.
  Range in_rows(Range some, Range cols) const {
    return {first_from(cols.begin, some.end - 1),
            first_from(std::min(cols.end, width), some.begin)};
  }
  /// In which of these rows diagonal `i` has a cell in columns `cols`.
  Range rows_of(std::uint64_t i, Range some, Range cols) const {
    const auto row_at = [&](std::uint64_t col) {
      const std::int64_t row = static_cast<std::int64_t>(col) - all[i].offset;
      return static_cast<std::uint64_t>(std::max<std::int64_t>(row, 0));
    };
    return intersect(some, {row_at(cols.begin), row_at(std::min(cols.end, width))});
  }
  std::uint64_t column(std::uint64_t i, std::uint64_t row) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(row) + all[i].offset);
  }

  std::size_t col_step() const {
    return (values.fortran ? values.shape[0] : 1) * values.field.size;
  }
  /// The value of diagonal `i` in a column.
  const std::byte* value(std::uint64_t i, std::uint64_t col) const {
    const std::size_t line_step = (values.fortran ? 1 : values.shape[1]) * values.field.size;
    return values.data + all[i].line * line_step + col * col_step();
  }

  /// The first row after `row` that not the same diagonals have a cell in. REQUIRES row < rows.
  std::uint64_t next_change(std::uint64_t row) const {
    const Range here = in_row(row, {0, width});
    std::uint64_t next = rows;
    if (here.begin > 0) {  // the one to the left comes in
      next = std::min(next, static_cast<std::uint64_t>(-all[here.begin - 1].offset));
    }
    if (!here.empty()) {  // the rightmost one goes out
      next = std::min(next, width - column(here.end - 1, row) + row);
    }
    return next;
  }
  std::uint64_t count_cells(Range some) const {
    std::uint64_t n = 0;
    for (std::uint64_t row = some.begin; row < some.end;) {
      const std::uint64_t end = std::min(some.end, next_change(row));
      n += in_row(row, {0, width}).size() * (end - row);
      row = end;
    }
    return n;
  }

 private:
  /// The first diagonal that has its cell of `row` in column `col` or after it.
  std::uint64_t first_from(std::uint64_t col, std::uint64_t row) const {
    const std::int64_t least = static_cast<std::int64_t>(col) - static_cast<std::int64_t>(row);
    const auto found =
        std::lower_bound(all.begin(), all.end(), least,
                         [](const Diagonal& d, std::int64_t wanted) { return d.offset < wanted; });
    return static_cast<std::uint64_t>(found - all.begin());
  }
};

[[noreturn]] void fail_cell(const Store& store, const Entry& entry, CellInBlock cell,
                            const Numbers& values, const std::byte* at, ValueType wanted) {
  std::array<std::byte, 8> value;
  npy::copy_values(values.field, at, 0, values.field.type, value.data(), 0, 1);
  const auto byte = values.offset + static_cast<std::uint64_t>(at - values.data);
  fail_misfit_at(byte, store, entry, cell, value.data(), wanted);
}

/// Calls `f(i, rows, col)` with the diagonals that have cells in a part of the matrix, the rows of
/// these cells, and the column of the first.
template <class F>
void for_each_piece(const Diagonals& from, Range rows, Range cols, const F& f) {
  if (rows.empty() || cols.empty()) return;
  const Range which = from.in_rows(rows, cols);
  for (std::uint64_t i = which.begin; i < which.end; ++i) {
    const Range piece = from.rows_of(i, rows, cols);
    if (!piece.empty()) f(i, piece, from.column(i, piece.begin));
  }
}

void read(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  fill_zero(out, part.rows.size(), part.cols.size());
  const auto& from = store.state<Diagonals>();
  const Range rows{entry.pos.rx + part.rows.begin, entry.pos.rx + part.rows.end};
  for_each_piece(from, rows, part.cols,
                 [&](std::uint64_t i, const Range& piece, std::uint64_t col) {
                   const std::byte* const first = from.value(i, col);
                   const std::size_t done =
                       npy::copy_values(from.values.field, first, from.col_step(), out.type,
                                        out.cell(piece.begin - rows.begin, col - part.cols.begin),
                                        out.row_step + out.col_step, piece.size());
                   if (done < piece.size()) {
                     fail_cell(store, entry, {piece.begin + done - entry.pos.rx, col + done},
                               from.values, first + done * from.col_step(), out.type);
                   }
                 });
}

void entries(const Store& store, const Entry& entry, const Part& part, CellRun& take) {
  const auto& from = store.state<Diagonals>();
  const Range rows{entry.pos.rx + part.rows.begin, entry.pos.rx + part.rows.end};
  const ValueType type = entry.value_type;
  const std::size_t size = size_of(type);
  std::array<std::byte, CellRun::kMost * 8> values;
  for_each_piece(
      from, rows, part.cols, [&](std::uint64_t i, const Range& piece, std::uint64_t col) {
        for (std::uint64_t done = 0; done < piece.size();) {
          const std::uint64_t n = std::min<std::uint64_t>(CellRun::kMost, piece.size() - done);
          npy::copy_values(from.values.field, from.value(i, col + done), from.col_step(), type,
                           values.data(), size, n);
          for (std::uint64_t k = 0; k < n; ++k, ++done) {
            take({piece.begin + done, col + done, load_bits(type, values.data() + k * size)});
          }
        }
      });
}

/// Zeros are left out.
bool csr_arrays(const Store& store, const Entry& entry, Range wanted, RowCursor&,
                const CsrTarget& out) {
  const auto& from = store.state<Diagonals>();
  const npy::Field& field = from.values.field;
  const std::size_t size = size_of(out.type);
  std::uint64_t k = 0;
  out.row_ptr[0] = 0;
  for (std::uint64_t row = wanted.begin; row < wanted.end; ++row) {
    const Range which = from.in_row(entry.pos.rx + row, {0, from.width});
    for (std::uint64_t i = which.begin; i < which.end; ++i) {
      const std::uint64_t col = from.column(i, entry.pos.rx + row);
      const std::byte* const at = from.value(i, col);
      std::array<std::byte, 8> value{};
      npy::copy_values(field, at, 0, field.type, value.data(), 0, 1);
      std::uint64_t bits = load_bits(field.type, value.data());
      if (bits == 0) continue;
      if (k == out.room) return false;
      if (!convert_cell(field.type, bits, out.type, bits)) {
        fail_cell(store, entry, {row, col}, from.values, at, out.type);
      }
      out.col_idx[k] = static_cast<std::uint32_t>(col);
      store_bits(out.type, out.values + k * size, bits);
      ++k;
    }
    out.row_ptr[row - wanted.begin + 1] = k;
  }
  return true;
}

void skip_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor) {
  const std::uint64_t first = entry.pos.rx;
  cursor.entries += store.state<Diagonals>().count_cells({first + cursor.row, first + row});
  cursor.row = row;
}

constexpr Driver kDriver = {.format = "npz",
                            .read = read,
                            .entries = entries,
                            .csr_arrays = csr_arrays,
                            .skip_rows = skip_rows};

/// Those that have cells in the matrix, by offset.
std::vector<Diagonal> sort_diagonals(const Diagonals& state, const arrays::Items& offsets) {
  std::vector<Diagonal> sorted;
  sorted.reserve(offsets.size);
  for (std::uint64_t i = 0; i < offsets.size; ++i) sorted.push_back({signed_item(offsets, i), i});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Diagonal& a, const Diagonal& b) { return a.offset < b.offset; });
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const Diagonal& a, const Diagonal& b) { return a.offset == b.offset; });
  if (twice != sorted.end()) {
    throw Error(Errc::corrupt, state.values.file->name(), offsets.byte_of(twice[1].line),
                "the diagonal " + std::to_string(twice->offset) + " is there twice");
  }
  std::erase_if(sorted, [&](const Diagonal& d) {
    return state.width == 0 || d.offset <= -static_cast<std::int64_t>(state.rows) ||
           d.offset >= static_cast<std::int64_t>(state.width);
  });
  return sorted;
}

/// Strips of about a million cells of diagonals.
EntryTable strips_of(const Diagonals& state, const Schema& schema) {
  EntryTable table;
  if (schema.rows == 0 || schema.cols == 0) return table;
  Entry entry;
  entry.cols = static_cast<std::uint32_t>(schema.cols);
  entry.value_type = schema.value_type;
  entry.offset = state.values.offset;
  entry.bytes = state.values.bytes;
  for (std::uint64_t row = 0; row < schema.rows;) {
    entry.pos = {row, 0};
    entry.stored = 0;
    while (row < schema.rows) {
      const std::uint64_t cells = state.in_row(row, {0, state.width}).size();
      const std::uint64_t alike = state.next_change(row) - row;
      const std::uint64_t left = kStripCells - std::min(kStripCells, entry.stored);
      const std::uint64_t fit = cells == 0 ? alike : std::min(alike, left / cells);
      const std::uint64_t taken = fit == 0 && row == entry.pos.rx ? 1 : fit;
      entry.stored += taken * cells;
      row += taken;
      if (taken < alike) break;
    }
    entry.rows = static_cast<std::uint32_t>(row - entry.pos.rx);
    entry.kind = entry.stored == 0 ? BlockKind::empty : BlockKind::csr;
    table.push_back(entry);
  }
  return table;
}

}  // namespace

std::shared_ptr<const Store> open_diagonals(std::shared_ptr<ByteSource> file, Schema schema,
                                            arrays::Items offsets, Numbers values) {
  const auto owner = arrays::load_all(offsets);
  if (offsets.size != values.shape[0]) {
    throw Error(Errc::corrupt, file->name(), offsets.offset,
                counted(offsets.size, "offset") + " do not fit values of " +
                    counted(values.shape[0], "diagonal"));
  }
  if (schema.rows > kSide || schema.cols > kSide) {
    throw Error(Errc::unsupported, file->name(), offsets.offset,
                "a matrix of " + std::to_string(schema.rows) + " x " + std::to_string(schema.cols) +
                    " cells is too large to be stored as diagonals; save it after .tocsr()");
  }
  auto state = std::make_unique<Diagonals>();
  state->rows = schema.rows;
  state->width = std::min(schema.cols, values.shape[1]);
  state->values = std::move(values);
  state->all = sort_diagonals(*state, offsets);
  EntryTable strips = strips_of(*state, schema);
  return make_store(std::move(file), std::move(schema), std::move(strips), kDriver,
                    std::move(state));
}

}  // namespace dapple::detail::npz
