#include "lib/compute/stream_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>

#include "lib/base/ask_ahead.h"
#include "lib/base/bytes.h"
#include "lib/base/vectors.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/misfit.h"
#include "lib/object/row_access.h"

namespace dapple::detail {

namespace {

/// A block with more rows than this, and far more than entries, is kept cell by cell: pointers to
/// its rows would be most of the memory.
constexpr std::uint64_t kManyRows = std::uint64_t{1} << 16;
constexpr std::uint64_t kRowsPerEntry = 8;

/// Of so few columns of a block, one in so many, the wanted cells are picked out of its rows.
constexpr std::uint64_t kFewCols = 16;

/// Cells that are decoded at once where they cannot be looked at in place. A format that is parsed
/// in order passes over all rows of a block above those that it is asked for.
constexpr std::uint64_t kScanCells = std::uint64_t{32} << 10;
constexpr std::uint64_t kParsedAtOnce = std::uint64_t{1} << 20;

/// Which of 64 cells are not zero.
template <class Bits>
inline std::uint64_t nonzero_mask(const std::byte* cells) noexcept {
  std::array<std::uint8_t, 64> flags;
  for (std::size_t i = 0; i < 64; ++i) flags[i] = load_le<Bits>(cells + i * sizeof(Bits)) != 0;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < 64; i += 8) {
    // Eight bytes of 0 or 1 become eight bits: byte i, times 2^(7 * (8 - i)), is bit 56 + i.
    const auto eight = load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(&flags[i]));
    mask |= eight * 0x0102040810204080U >> 56 << i;
  }
  return mask;
}

/// Appends the cells of a row that are not zero to the arrays, after entry `k`; returns how many
/// entries there are then. One hard-to-predict branch in 64 cells. REQUIRES room for the whole row.
template <class Bits>
DAPPLE_VECTORS std::uint64_t take_row(const std::byte* row, std::uint32_t width,
                                      const CsrTarget& out, std::uint64_t k) {
  std::uint32_t* const cols = out.col_idx;
  std::byte* const values = out.values;
  const auto take = [&](std::uint32_t c) {
    cols[k] = c;
    std::memcpy(values + k * sizeof(Bits), row + std::size_t{c} * sizeof(Bits), sizeof(Bits));
    ++k;
  };
  const auto take_64 = [&](std::uint32_t c, std::uint64_t wanted) {
    const std::byte* const cells = row + std::size_t{c} * sizeof(Bits);
    ask_ahead(cells, 64 * sizeof(Bits));  // wins a quarter of a conversion to BTable
    for (std::uint64_t mask = nonzero_mask<Bits>(cells) & wanted; mask != 0; mask &= mask - 1) {
      take(c + static_cast<std::uint32_t>(std::countr_zero(mask)));
    }
  };
  std::uint32_t c = 0;
  for (; width - c >= 64; c += 64) take_64(c, ~std::uint64_t{0});
  if (width >= 64 && c < width) {
    // The last 64, of which some are done.
    take_64(width - 64, ~std::uint64_t{0} << (64 - (width - c)));
    c = width;
  }
  for (; c < width; ++c) {
    if (load_le<Bits>(row + std::size_t{c} * sizeof(Bits)) != 0) take(c);
  }
  return k;
}

/// True when the columns of a part of a block declare one type.
bool is_uniform(const Schema& schema, std::uint64_t first, Range cols) {
  if (schema.kind == ObjectKind::matrix) return true;
  const ValueType type = schema.type_of(first + cols.begin);
  for (std::uint64_t c = cols.begin + 1; c < cols.end; ++c) {
    if (schema.type_of(first + c) != type) return false;
  }
  return true;
}

bool before(const StoredCell& a, const StoredCell& b) noexcept {
  return std::tie(a.row, a.col) < std::tie(b.row, b.col);
}

}  // namespace

void keep_wanted(const CsrTarget& rows, std::uint64_t count, Range wanted) {
  visit_bits(rows.type, [&](auto tag) {
    using Bits = decltype(tag);
    std::uint64_t kept = 0, k = 0;
    for (std::uint64_t row = 0; row < count; ++row) {
      const std::uint64_t end = rows.row_ptr[row + 1];
      for (; k < end; ++k) {
        const std::uint32_t col = rows.col_idx[k];
        const auto bits = load_le<Bits>(rows.values + k * sizeof(Bits));
        rows.col_idx[kept] = static_cast<std::uint32_t>(col - wanted.begin);
        store_le(rows.values + kept * sizeof(Bits), bits);
        kept += wanted.contains(col) && bits != 0 ? 1 : 0;
      }
      rows.row_ptr[row + 1] = kept;
    }
  });
}

std::uint64_t append_row(const std::byte* row, std::uint32_t width, const CsrTarget& rows,
                         std::uint64_t k) {
  return visit_bits(rows.type,
                    [&](auto bits) { return take_row<decltype(bits)>(row, width, rows, k); });
}

bool fits_arrays(const Entry& block, Range cols, ValueType declared, ValueType type) noexcept {
  return (cols.size() == block.cols || holds_all(type, block.value_type)) &&
         (type == declared || holds_all(declared, block.value_type));
}

StreamBlock::StreamBlock(const Store& store, const Entry& entry, Range rows,
                         const ColumnRun& columns, std::optional<ValueType> type)
    : store_(store),
      entry_(entry),
      part_(shared_part(entry, {rows, columns.from})),
      rows_(intersect(entry.cells().rows, rows)),
      first_col_(entry.pos.cx + part_.cols.begin - columns.from.begin + columns.at),
      rare_(entry.kind != BlockKind::dense &&
            (entry.kind == BlockKind::coo || store.driver().skip_rows == nullptr) &&
            rows_.size() > kManyRows && (rows_.size() - kManyRows) / kRowsPerEntry > entry.stored),
      as_declared_(!type) {
  const bool uniform = is_uniform(store.schema(), entry.pos.cx, part_.cols);
  if (type) {
    type_ = *type;
  } else {
    type_ = uniform ? store.schema().type_of(entry.pos.cx + part_.cols.begin) : ValueType::u64;
  }
  way_ = choose_way(uniform);
}

StreamBlock::Way StreamBlock::choose_way(bool uniform) const {
  if (!uniform) return Way::kept_cells;
  if (entry_.kind == BlockKind::dense) return Way::scan;
  const Driver& driver = store_.driver();
  const ValueType declared = store_.schema().type_of(entry_.pos.cx + part_.cols.begin);
  if (driver.csr_arrays == nullptr || rare_ || entry_.cols / kFewCols >= part_.cols.size() ||
      !fits_arrays(entry_, part_.cols, declared, type_)) {
    return Way::kept_cells;
  }
  return entry_.kind == BlockKind::csr && driver.skip_rows != nullptr ? Way::arrays
                                                                      : Way::kept_arrays;
}

double StreamBlock::entries_per_row() const noexcept {
  if (entry_.kind == BlockKind::dense) return static_cast<double>(part_.cols.size());
  return static_cast<double>(entry_.stored) / static_cast<double>(entry_.rows);
}

RowCursor StreamBlock::cursor() const {
  RowCursor cursor;
  if (!has_cursor()) return cursor;
  store_.watched(
      [&] {
        cursor = store_.row_access().cursor(entry_, part_.rows.begin);
        store_.driver().skip_rows(store_, entry_, part_.rows.begin, cursor);
      },
      &entry_);
  return cursor;
}

std::uint64_t StreamBlock::skip(Range band, RowCursor& cursor) const {
  const std::uint64_t before_band = cursor.entries;
  store_.watched([&] { store_.driver().skip_rows(store_, entry_, in_block(band).end, cursor); },
                 &entry_);
  return cursor.entries - before_band;
}

std::uint64_t StreamBlock::next_row(std::uint64_t row) const {
  if (!rare_) return row;
  keep();
  const auto next = std::lower_bound(
      kept_cells_.begin(), kept_cells_.end(), row,
      [](const StoredCell& cell, std::uint64_t wanted) { return cell.row < wanted; });
  return next == kept_cells_.end() ? rows_.end : next->row;
}

RowPiece StreamBlock::decode(Range band, RowCursor start, std::uint64_t entries,
                             RowArrays& arrays) const {
  if (way_ == Way::kept_arrays || way_ == Way::kept_cells) {
    keep();
    return kept_rows(band, arrays);
  }
  if (way_ == Way::arrays) {
    decode_arrays(in_block(band), start, entries, arrays);
  } else {
    scan(band, arrays);
  }
  return {arrays.row_ptr.data(), arrays.col_idx.data(), arrays.values.data(), type_, first_col_};
}

/// Rows of a CSR or COO block, as whole ones first.
void StreamBlock::decode_arrays(Range rows, RowCursor start, std::uint64_t room,
                                RowArrays& arrays) const {
  const CsrTarget out = arrays.target(rows.size(), room, type_);
  bool complete = false;
  store_.watched([&] { complete = store_.driver().csr_arrays(store_, entry_, rows, start, out); },
                 &entry_);
  if (!complete) store_.file().fail_changed("block " + text(entry_.pos));
  const bool whole_cols = part_.cols.size() == entry_.cols;
  if (!whole_cols || has_zeros(type_, out.values, out.row_ptr[rows.size()])) {
    keep_wanted(out, rows.size(), part_.cols);
  }
}

/// The cells of a dense block that are not zero, looked at in place where they are of the wanted
/// type, otherwise decoded some rows at a time.
void StreamBlock::scan(Range band, RowArrays& arrays) const {
  const Range rows = in_block(band);
  const auto width = static_cast<std::uint32_t>(part_.cols.size());
  const CsrTarget out = arrays.target(rows.size(), rows.size() * width, type_);
  const std::size_t size = size_of(type_), row_bytes = std::size_t{width} * size;
  const Driver& driver = store_.driver();
  const ValueType declared = store_.schema().type_of(entry_.pos.cx + part_.cols.begin);
  std::uint64_t k = 0;
  out.row_ptr[0] = 0;
  const auto take = [&](const std::byte* first, std::size_t step, std::uint64_t row,
                        std::uint64_t count) {
    for (std::uint64_t r = 0; r < count; ++r) {
      k = append_row(first + r * step, width, out, k);
      out.row_ptr[row + r + 1] = k;
    }
  };
  store_.watched(
      [&] {
        if (driver.in_place != nullptr && entry_.value_type == type_ &&
            holds_all(declared, type_)) {
          if (const auto place = driver.in_place(store_, entry_)) {
            const std::byte* const first =
                place->data() + rows.begin * place->row_step + part_.cols.begin * size;
            return take(first, place->row_step, 0, rows.size());
          }
        }
        const std::uint64_t at_once =
            std::max<std::uint64_t>(1, (driver.sequential ? kParsedAtOnce : kScanCells) / width);
        Array<std::byte> cells(std::min(at_once, rows.size()) * row_bytes);
        for (std::uint64_t row = 0; row < rows.size(); row += at_once) {
          const std::uint64_t begin = rows.begin + row;
          const std::uint64_t count = std::min(at_once, rows.size() - row);
          driver.read(store_, entry_, {{begin, begin + count}, part_.cols},
                      {cells.data(), type_, row_bytes, size});
          take(cells.data(), row_bytes, row, count);
        }
      },
      &entry_);
}

/// Decodes the block, once.
void StreamBlock::keep() const {
  const std::lock_guard lock(mutex_);
  if (kept_) return;
  if (way_ == Way::kept_arrays) {
    decode_arrays(part_.rows, {}, entry_.stored, kept_rows_);
  } else {
    keep_cells();
  }
  kept_ = true;
}

/// The cells of a dense block whose columns are of several types, in one pass over its rows.
void StreamBlock::scan_columns(std::uint64_t first, const CellRun::Take& take) const {
  const std::uint64_t width = part_.cols.size();
  std::vector<std::uint64_t> cells(rows_.size() * width);  // a value in the low bytes of each
  std::vector<ColumnBuffer> columns;
  for (std::uint64_t c = 0; c < width; ++c) {
    columns.push_back({first + c, store_.schema().type_of(first + c),
                       reinterpret_cast<std::byte*>(&cells[c]), width * sizeof cells[c]});
  }
  store_.read_rows(rows_, columns, {});
  CellRun run(take);
  for (std::uint64_t i = 0; i < cells.size(); ++i) {
    run({rows_.begin + i / width, first + i % width, cells[i]});
  }
  run.flush();
}

void StreamBlock::keep_cells() const {
  kept_cells_.clear();
  const auto keep = CellRun::Take([&](std::span<const StoredCell> run) {
    kept_cells_.insert(kept_cells_.end(), run.begin(), run.end());
  });
  const std::uint64_t first = entry_.pos.cx + part_.cols.begin;
  if (entry_.kind == BlockKind::dense && store_.driver().read_rows != nullptr) {
    scan_columns(first, keep);
  } else {
    store_.entries({rows_, {first, first + part_.cols.size()}}, {}, keep);
  }
  if (!std::is_sorted(kept_cells_.begin(), kept_cells_.end(), before)) {
    std::sort(kept_cells_.begin(), kept_cells_.end(), before);
  }
  const auto twice =
      std::adjacent_find(kept_cells_.begin(), kept_cells_.end(),
                         [](const StoredCell& a, const StoredCell& b) { return !before(a, b); });
  if (twice != kept_cells_.end()) {
    throw Error(Errc::corrupt, store_.file().name(), std::nullopt,
                "cell " + text({twice->row, twice->col}) + " is stored twice (R5)");
  }
}

RowPiece StreamBlock::kept_rows(Range band, RowArrays& arrays) const {
  if (way_ == Way::kept_arrays) {
    return {kept_rows_.row_ptr.data() + (band.begin - rows_.begin), kept_rows_.col_idx.data(),
            kept_rows_.values.data(), type_, first_col_};
  }
  const auto at = [&](std::uint64_t row) {
    return std::lower_bound(
        kept_cells_.begin(), kept_cells_.end(), row,
        [](const StoredCell& cell, std::uint64_t wanted) { return cell.row < wanted; });
  };
  const auto begin = at(band.begin), end = at(band.end);
  const CsrTarget out = arrays.target(band.size(), static_cast<std::uint64_t>(end - begin), type_);
  const std::uint64_t first = entry_.pos.cx + part_.cols.begin;
  const std::size_t size = size_of(type_);
  std::uint64_t k = 0, row = band.begin;
  for (auto cell = begin; cell != end; ++cell, ++k) {
    for (; row <= cell->row; ++row) out.row_ptr[row - band.begin] = k;
    out.col_idx[k] = static_cast<std::uint32_t>(cell->col - first);
    std::uint64_t bits = cell->bits;
    const ValueType declared = store_.schema().type_of(cell->col);
    if (!as_declared_ && declared != type_ && !convert_cell(declared, cell->bits, type_, bits)) {
      fail_misfit_of(store_, cell->row, cell->col, cell->bits, type_);
    }
    store_bits(type_, out.values + k * size, bits);
  }
  for (; row <= band.end; ++row) out.row_ptr[row - band.begin] = k;
  return {out.row_ptr, out.col_idx, out.values, type_, first_col_};
}

}  // namespace dapple::detail
