#include "lib/compute/concat_driver.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dapple/gather.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/misfit.h"

namespace dapple::detail {

namespace {

/// A block of the whole where it is stored.
struct Located {
  const Piece& piece;
  const Store& store;
  const Entry& entry;

  const Recode* recode_of(std::uint64_t col_in_block) const noexcept {
    if (piece.recode.empty()) return nullptr;
    const bool matrix = store.schema().kind == ObjectKind::matrix;
    const Recode& recode = piece.recode[matrix ? 0 : entry.pos.cx + col_in_block];
    return recode.keeps() ? nullptr : &recode;
  }
  bool recodes(Range cols_in_block) const noexcept {
    for (std::uint64_t c = cols_in_block.begin; c < cols_in_block.end; ++c) {
      if (recode_of(c) != nullptr) return true;
    }
    return false;
  }
};

/// Calls f(block) for the block of this entry, whose offset is the block's number in its piece.
template <class F>
auto with_block(const Store& whole, const Entry& e, const F& f) {
  const Piece& piece = whole.state<ConcatState>().at(e.pos.rx, e.pos.cx);
  const Store& store = *piece.store;
  Entry entry;
  return store.watched(
      [&] {
        entry = store.index().entry(e.offset);
        store.confirm_entry(e.offset, entry);
        return f(Located{piece, store, entry});
      },
      &entry);
}

/// Says why a stored number of a column becomes none.
[[noreturn]] void fail_number(const Store& store, const Recode& recode, CellPos at,
                              std::uint64_t bits) {
  const Column& column = store.schema().columns[at.col];
  if (column.meaning.has_words()) {
    fail_piece(store, Errc::corrupt,
               "code " + std::to_string(bits) + " has no word in its column's dictionary");
  }
  std::string time;
  append_text(column, bits, time);
  fail_piece(store, Errc::type_mismatch,
             "column " + shown(column.label) + ", row " + std::to_string(at.row) + ": " + time +
                 " does not fit 64 bits in " + std::string(name(recode.unit)) +
                 ", the unit of the frames together");
}

/// Says why a number that a stored one became does not fit the type that is read.
[[noreturn]] void fail_fit(const Store& store, const Recode& recode, CellPos at,
                           const StoredNumber& number, ValueType wanted) {
  const Schema& schema = store.schema();
  const bool frame = schema.kind == ObjectKind::frame;
  const std::string where =
      (frame ? "column " + shown(schema.columns[at.col].label) : std::string("the value")) +
      ", row " + std::to_string(at.row) + ": ";
  const bool missing = recode.missing && recode.missing->bits == number.bits;
  std::uint64_t rounded = 0;
  const bool rounds = !missing && convert_cell_lossy(number.type, number.bits, wanted, rounded);
  std::string what;
  if (missing) {
    what = "the mark of a missing cell";
  } else {
    append_number(number.type, number.bits, what);
  }
  fail_piece(
      store, Errc::type_mismatch,
      where + what + (rounds ? " is not exact as " : " does not fit ") + std::string(name(wanted)),
      rounds ? "allow_loss" : "");
}

/// Reads rows of a column, from its cell `at` on, that does not keep its stored numbers;
/// `read(type, to)` reads these as they are.
template <class Read>
void read_recoded(const Store& store, const Recode& recode, CellPos at, std::uint64_t rows,
                  const Target& out, const Read& read) {
  const std::size_t size = size_of(recode.stored());
  std::vector<std::byte> cells(recode.is_missing() ? 0 : rows * size);
  if (!cells.empty()) read(recode.stored(), cells.data());
  if (recode.codes != nullptr) {
    const std::vector<std::uint32_t>& codes = *recode.codes;
    for (std::uint64_t r = 0; r < rows; ++r) {
      std::byte* const cell = cells.data() + r * size;
      const auto code = load_le<std::uint32_t>(cell);
      if (code >= codes.size()) fail_number(store, recode, {at.row + r, at.col}, code);
      store_le(cell, codes[code]);
    }
    const std::size_t fitting =
        convert_cells(ValueType::u32, cells.data(), size, out.type, out.data, out.row_step, rows);
    if (fitting < rows) {
      const StoredNumber number{ValueType::u32,
                                load_le<std::uint32_t>(cells.data() + fitting * size)};
      fail_fit(store, recode, {at.row + fitting, at.col}, number, out.type);
    }
    return;
  }
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t bits =
        cells.empty() ? 0 : load_bits(recode.stored(), cells.data() + r * size);
    const std::optional<StoredNumber> number = recode(bits);
    if (!number) fail_number(store, recode, {at.row + r, at.col}, bits);
    std::uint64_t result = 0;
    if (!convert_cell(number->type, number->bits, out.type, result)) {
      fail_fit(store, recode, {at.row + r, at.col}, *number, out.type);
    }
    store_bits(out.type, out.cell(r, 0), result);
  }
}

void read(const Store& whole, const Entry& e, const Part& part, const Target& out) {
  with_block(whole, e, [&](const Located& block) {
    const auto read_cols = [&](Range cols) {
      Target target = out;
      target.data = out.cell(0, cols.begin - part.cols.begin);
      block.store.read_block(block.entry, {part.rows, cols}, target);
    };
    for (std::uint64_t c = part.cols.begin; c < part.cols.end;) {
      std::uint64_t end = c;
      while (end < part.cols.end && block.recode_of(end) == nullptr) ++end;
      if (end > c) read_cols({c, end});
      for (c = end; c < part.cols.end && block.recode_of(c) != nullptr; ++c) {
        Target target = out;
        target.data = out.cell(0, c - part.cols.begin);
        const BlockPos pos = block.entry.pos;
        read_recoded(block.store, *block.recode_of(c), {pos.rx + part.rows.begin, pos.cx + c},
                     part.rows.size(), target, [&](ValueType type, std::byte* to) {
                       block.store.read_block(block.entry, {part.rows, {c, c + 1}},
                                              {to, type, size_of(type), size_of(type)});
                     });
      }
    }
  });
}

std::optional<DensePlace> in_place(const Store& whole, const Entry& e) {
  return with_block(whole, e, [](const Located& block) -> std::optional<DensePlace> {
    const auto place = block.store.driver().in_place;
    if (place == nullptr || block.recodes({0, block.entry.cols})) return std::nullopt;
    return place(block.store, block.entry);
  });
}

void entries_of(const Store& whole, const Located& block, const Part& part, CellRun& take) {
  const Schema& from = block.store.schema();
  const auto take_one = [&](const StoredCell& cell) {
    StoredCell moved = cell;
    moved.row += block.piece.first_row;
    moved.col += block.piece.first_col;
    const ValueType stored = from.type_of(cell.col), type = whole.schema().type_of(moved.col);
    const Recode* const recode = block.recode_of(cell.col - block.entry.pos.cx);
    const std::optional<StoredNumber> number =
        recode != nullptr ? (*recode)(cell.bits) : StoredNumber{stored, cell.bits};
    if (!number) fail_number(block.store, *recode, {cell.row, cell.col}, cell.bits);
    moved.bits = number->bits;
    if (number->type != type && !convert_cell(number->type, number->bits, type, moved.bits)) {
      if (recode != nullptr) {
        fail_fit(block.store, *recode, {cell.row, cell.col}, *number, type);
      }
      const Misfit misfit = misfit_of(stored, cell.bits, {cell.row, cell.col}, type);
      fail_piece(block.store, Errc::type_mismatch, misfit.text, misfit.rounds ? "allow_loss" : "");
    }
    take(moved);
  };
  block.store.entries(block.entry, part, [&](std::span<const StoredCell> cells) {
    for (const StoredCell& cell : cells) take_one(cell);
  });
}

void entries(const Store& whole, const Entry& e, const Part& part, CellRun& take) {
  with_block(whole, e, [&](const Located& block) { entries_of(whole, block, part, take); });
}

bool csr_arrays(const Store& whole, const Entry& e, Range rows, RowCursor& cursor,
                const CsrTarget& out) {
  return with_block(whole, e, [&](const Located& block) {
    return block.store.driver().csr_arrays(block.store, block.entry, rows, cursor, out);
  });
}

void skip_rows(const Store& whole, const Entry& e, std::uint64_t row, RowCursor& cursor) {
  with_block(whole, e, [&](const Located& block) {
    block.store.driver().skip_rows(block.store, block.entry, row, cursor);
  });
}

/// Asks each piece for what it has of these regions.
void will_need(const Store& whole, std::span<const Region> regions) noexcept {
  try {
    for (const Piece& piece : whole.state<ConcatState>().pieces) {
      const Store& store = *piece.store;
      const auto [row, col] = std::pair(piece.first_row, piece.first_col);
      const Region all{{row, row + store.schema().rows}, {col, col + store.schema().cols}};
      std::vector<Region> inside;
      for (const Region& region : regions) {
        const auto [rows, cols] = intersect(region, all);
        if (rows.empty() || cols.empty()) continue;
        inside.push_back({{rows.begin - row, rows.end - row}, {cols.begin - col, cols.end - col}});
      }
      if (store.blocks().fetches()) {
        store.ask_for_some(inside);
      } else {
        for (const Region& region : inside) store.prefetch(region);
      }
    }
  } catch (const std::exception&) {  // whoever needs the blocks gets the error
  }
}

/// Rows of those columns of the whole that a piece has.
void read_from(const Piece& piece, Range rows, std::span<const ColumnBuffer> columns,
               const ReadOptions& options) {
  const Range shared =
      intersect(rows, {piece.first_row, piece.first_row + piece.store->schema().rows});
  if (shared.empty()) return;
  const Range local{shared.begin - piece.first_row, shared.end - piece.first_row};
  std::vector<ColumnBuffer> mine;
  for (const ColumnBuffer& column : columns) {
    ColumnBuffer moved = column;
    moved.col -= piece.first_col;
    moved.data += (shared.begin - rows.begin) * column.step;
    const Recode* recode = piece.recode.empty() ? nullptr : &piece.recode[moved.col];
    if (recode == nullptr || recode->keeps()) {
      mine.push_back(moved);
      continue;
    }
    read_recoded(*piece.store, *recode, {local.begin, moved.col}, local.size(),
                 {moved.data, moved.value_type, moved.step, 0}, [&](ValueType type, std::byte* to) {
                   const ColumnBuffer scratch{moved.col, type, to, size_of(type)};
                   piece.store->read_rows(local, {&scratch, 1}, options);
                 });
  }
  piece.store->read_rows(local, mine, options);
}

/// Rows of columns of a frame, from each piece that has some, in the way that suits its format.
void read_rows(const Store& whole, Range rows, std::span<const ColumnBuffer> columns,
               const ReadOptions& options) {
  const auto& state = whole.state<ConcatState>();
  if (state.axis == Axis::rows) {
    const Piece* const end = state.pieces.data() + state.pieces.size();
    for (const Piece* piece = &state.at(rows.begin, 0); piece != end && piece->first_row < rows.end;
         ++piece) {
      read_from(*piece, rows, columns, options);
    }
    return;
  }
  std::vector<ColumnBuffer> sorted(columns.begin(), columns.end());
  const auto by_column = [](const auto& a, const auto& b) { return a.col < b.col; };
  std::sort(sorted.begin(), sorted.end(), by_column);
  for (auto first = sorted.begin(); first != sorted.end();) {
    const Piece& piece = state.at(0, first->col);
    const auto next = std::find_if(first + 1, sorted.end(), [&](const ColumnBuffer& column) {
      return column.col - piece.first_col >= piece.store->schema().cols;
    });
    read_from(piece, rows, {first, next}, options);
    first = next;
  }
}

[[noreturn]] void fail_absent(const Store& whole, BlockPos cell) {
  const Piece& piece = whole.state<ConcatState>().at(cell.rx, cell.cx);
  piece.store->fail_absent({cell.rx - piece.first_row, cell.cx - piece.first_col});
}

constexpr Driver make_driver(bool frame, bool with_arrays, bool skips) {
  Driver driver;
  driver.format = kConcatFormat;
  driver.fail_absent = fail_absent;
  driver.read = read;
  driver.will_need = will_need;
  driver.in_place = in_place;
  driver.entries = entries;
  // Encoded bytes are those of a piece, whose own driver decodes them.
  driver.is_recoded = [](const Store&, const Entry& e) { return e.codec != 0; };
  if (frame) driver.read_rows = read_rows;
  if (with_arrays) driver.csr_arrays = csr_arrays;
  if (skips) driver.skip_rows = skip_rows;
  return driver;
}

}  // namespace

const Driver& concat_driver(const std::vector<Piece>& pieces, bool frame) {
  static constexpr Driver kFrames = make_driver(true, false, false);
  static constexpr Driver kMatrices[] = {make_driver(false, false, false),
                                         make_driver(false, true, false),
                                         make_driver(false, true, true)};
  if (frame) return kFrames;
  const auto all = [&](auto function) {
    return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      return piece.recode.empty() && piece.store->driver().*function != nullptr;
    });
  };
  const bool arrays = all(&Driver::csr_arrays);
  return kMatrices[(arrays ? 1 : 0) + (arrays && all(&Driver::skip_rows) ? 1 : 0)];
}

}  // namespace dapple::detail
