#include "lib/compute/source.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/object/column_codes.h"
#include "lib/object/column_runs.h"
#include "lib/object/dictionary.h"

namespace dapple::detail {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// Some of the columns of a matrix, which keep their names.
std::shared_ptr<const ColumnGroup> chosen_slots(const ColumnGroup& group,
                                                const std::vector<std::uint64_t>& cols) {
  auto chosen = std::make_shared<ColumnGroup>(ColumnGroup{group.name, cols.size()});
  if (group.slot_names != nullptr) {
    std::vector<std::string> names;
    for (const std::uint64_t col : cols) names.push_back(group.label(col));
    chosen->slot_names = listed_dictionary(std::move(names));
  }
  return chosen;
}

}  // namespace

Source::Source(std::shared_ptr<const Store> store, const Selection& selection,
               const ConvertOptions& options)
    : store_(std::move(store)), schema_(store_->schema()), options_(options) {
  const Schema& whole = store_->schema();
  rows_ = selection.rows.value_or(Range{0, whole.rows});
  if (rows_.begin > rows_.end || rows_.end > whole.rows) {
    throw Error(Errc::out_of_range, store_->known_as(), std::nullopt,
                "rows " + std::to_string(rows_.begin) + ":" + std::to_string(rows_.end) +
                    " are outside the " + counted(whole.rows, "row") + " of the object");
  }
  schema_.rows = rows_.end - rows_.begin;
  if (schema_.rows != whole.rows) schema_.row_names = pick_names(whole.row_names, rows_);
  if (!selection.cols) {
    if (whole.cols > 0) runs_.push_back({0, {0, whole.cols}});
    const auto texts = store_->text_columns();
    for (std::size_t k = 0; k < texts.size(); ++k) {
      if (texts[k].readable) texts_.push_back(k);
    }
  } else {
    schema_.cols = selection.cols->size();
    schema_.columns.clear();
    for (std::uint64_t at = 0; at < schema_.cols; ++at) {
      const std::uint64_t col = (*selection.cols)[at];
      if (col >= whole.cols) {
        throw Error(Errc::out_of_range, store_->known_as(), std::nullopt,
                    "column " + std::to_string(col) + " is outside the " +
                        counted(whole.cols, "column") + " of the object");
      }
      if (!runs_.empty() && runs_.back().from.end == col) {
        ++runs_.back().from.end;
      } else {
        runs_.push_back({at, {col, col + 1}});
      }
      if (whole.kind == ObjectKind::frame) schema_.columns.push_back(whole.columns[col]);
    }
    if (whole.group != nullptr) {  // a group of no columns is none
      schema_.group =
          selection.cols->empty() ? nullptr : chosen_slots(*whole.group, *selection.cols);
    }
    schema_.col_names = pick_names(whole.col_names, *selection.cols);
  }
  if (options_.value_type) {
    require_known(*options_.value_type);
    schema_.value_type = *options_.value_type;
    for (Column& column : schema_.columns) {
      if (column.meaning.kind != MeaningKind::number) {
        throw Error(Errc::invalid_argument, store_->known_as(), std::nullopt,
                    "column " + shown(column.label) + " is a " +
                        std::string(name(column.meaning.kind)) +
                        ", which cannot be given another value type");
      }
      const std::optional<std::uint64_t> own = float_mark(column);
      // Any other mark is a number, and one that does not fit is an error where a cell holds it.
      std::uint64_t mark = 0;
      const std::optional<std::uint64_t> missing = column.meaning.missing;
      const bool fits =
          missing && convert_cell(column.value_type, *missing, *options_.value_type, mark);
      column.meaning = {};
      if (own || fits) column.meaning.missing = own.value_or(mark);
      changes_marks_ = changes_marks_ || own;
      column.value_type = *options_.value_type;
    }
  }
}

std::shared_ptr<const Names> Source::names_to_write() const {
  auto names = options_.write.col_names;
  if (names == nullptr && schema_.col_names) names = schema_.col_names();
  if (names == nullptr || names->size() == 0) return nullptr;
  if (names->size() != cols()) {
    throw Error(
        Errc::invalid_argument, store_->known_as(), std::nullopt,
        counted(names->size(), "name") + " cannot be those of " + counted(cols(), "column"));
  }
  return names;
}

/// The mark of missing cells that the column's own becomes; nothing where it is only converted, as
/// any number. Of floats it is a NaN, which is what formats without missing cells have then; its
/// payload is another one in each type.
std::optional<std::uint64_t> Source::float_mark(const Column& column) const noexcept {
  const ValueType type = *options_.value_type;
  if (!column.meaning.missing || !is_float(type) || column.value_type == type) return std::nullopt;
  return usual_mark(type);
}

void Source::read(const Region& region, const Target& out, unsigned threads) const {
  if (region.empty()) return;
  for_each_run(region, [&](const Region& from, std::uint64_t at) {
    Target part = out;
    part.data = out.cell(0, at);
    read_run(from, part, threads);
  });
}

/// Reads a rectangle of the object, by way of the output's type where that differs.
void Source::read_run(const Region& from, const Target& out, unsigned threads) const {
  const ReadOptions options{options_.absent, threads};
  const bool through_type = options_.value_type && (options_.allow_loss || changes_marks_ ||
                                                    out.type != *options_.value_type);
  if (!through_type) {
    store_->read(from, out, options);
    return;
  }
  for (std::uint64_t col = from.cols.begin; col < from.cols.end;) {
    const Range same{col, store_->schema().end_of_type({col, from.cols.end})};
    Target part = out;
    part.data = out.cell(0, col - from.cols.begin);
    const ValueType stored = store_->schema().type_of(col);
    const Region strip{from.rows, same};
    if (stored == *options_.value_type) {
      store_->read(strip, part, options);
    } else {
      read_converted(strip, stored, part, threads);
    }
    col = same.end;
  }
}

/// Reads columns of the type `stored`, makes them the output's type, and that `out.type`.
void Source::read_converted(const Region& from, ValueType stored, const Target& out,
                            unsigned threads) const {
  const ValueType wanted = *options_.value_type;
  const std::uint64_t width = from.cols.size();
  // A band of rows at a time keeps the two copies of the values small.
  const std::uint64_t band = std::max<std::uint64_t>(1, (std::uint64_t{1} << 21) / width);
  std::vector<std::byte> source, target;
  for (std::uint64_t row = from.rows.begin; row < from.rows.end;) {
    const Range rows{row, row + std::min(band, from.rows.end - row)};
    const std::size_t cells = rows.size() * width;
    source.resize(cells * size_of(stored));
    target.resize(cells * size_of(wanted));
    store_->read({rows, from.cols},
                 {source.data(), stored, width * size_of(stored), size_of(stored)},
                 {options_.absent, threads});
    const std::vector<Missing> missing = take_missing(from.cols, rows.size(), source.data());
    const auto convert = options_.allow_loss ? convert_cells_lossy : convert_cells;
    const std::size_t done = convert(stored, source.data(), size_of(stored), wanted, target.data(),
                                     size_of(wanted), cells);
    if (done < cells) {
      fail_value(rows.begin + done / width, from.cols.begin + done % width, stored,
                 load_bits(stored, source.data() + done * size_of(stored)));
    }
    for (const Missing& cell : missing) {
      store_bits(wanted, target.data() + cell.at * size_of(wanted), cell.mark);
    }
    for (std::uint64_t r = 0; r < rows.size(); ++r) {
      const std::byte* line = target.data() + r * width * size_of(wanted);
      const std::size_t fitting =
          convert_cells(wanted, line, size_of(wanted), out.type,
                        out.cell(row - from.rows.begin + r, 0), out.col_step, width);
      if (fitting < width) {
        fail_value(row + r, from.cols.begin + fitting, wanted,
                   load_bits(wanted, line + fitting * size_of(wanted)));
      }
    }
    row = rows.end;
  }
}

/// Makes missing cells zeros, where their marks change, and tells where they were. `cells` are some
/// rows of these columns, all of one type.
std::vector<Source::Missing> Source::take_missing(Range cols, std::uint64_t rows,
                                                  std::byte* cells) const {
  std::vector<Missing> taken;
  for (std::uint64_t col = cols.begin; changes_marks_ && col < cols.end; ++col) {
    const Column& column = store_->schema().columns[col];
    const std::optional<std::uint64_t> mark = float_mark(column);
    for (std::uint64_t row = 0; mark && row < rows; ++row) {
      const std::size_t at = row * cols.size() + (col - cols.begin);
      std::byte* const cell = cells + at * size_of(column.value_type);
      if (!is_missing(column.meaning, load_bits(column.value_type, cell))) continue;
      store_bits(column.value_type, cell, 0);
      taken.push_back({at, *mark});
    }
  }
  return taken;
}

void Source::fail_value(std::uint64_t row, std::uint64_t col, ValueType type,
                        std::uint64_t bits) const {
  std::string value;
  append_number(type, bits, value);
  std::uint64_t ignored;
  const bool rounds = convert_cell_lossy(type, bits, *options_.value_type, ignored);
  throw Error(Errc::type_mismatch, store_->known_as(), std::nullopt,
              "the value " + value + " in row " + std::to_string(row) + ", column " +
                  std::to_string(col) + (rounds ? " is not exact as " : " is out of range for ") +
                  std::string(name(*options_.value_type)),
              rounds ? "allow_loss" : "");
}

std::uint64_t Source::packed_row(Range cols) const noexcept {
  if (schema_.kind == ObjectKind::matrix) {
    std::uint64_t bytes = 0;
    return multiply(cols.size(), size_of(schema_.value_type), bytes) ? bytes : kMost;
  }
  std::uint64_t bytes = 0;
  for (std::uint64_t col = cols.begin; col < cols.end; ++col)
    bytes += size_of(schema_.type_of(col));
  return bytes;
}

void Source::read_columns(Range rows, std::span<const ColumnBuffer> columns,
                          unsigned threads) const {
  if (options_.value_type) {
    for_each_column_run(columns, [&](Range cols, const Target& out) {
      read({rows, cols}, out, threads);
    });
  } else {
    std::vector<ColumnBuffer> from(columns.begin(), columns.end());
    for (ColumnBuffer& c : from) c.col = object_col(c.col);
    store_->read_rows({rows_.begin + rows.begin, rows_.begin + rows.end}, from,
                      {options_.absent, threads});
  }
  for (const ColumnBuffer& c : columns) require_meant(rows, c);
}

void Source::require_meant(Range rows, const ColumnBuffer& read) const {
  if (schema_.kind != ObjectKind::frame || options_.stored_numbers) return;
  Column column = schema_.columns[read.col];
  if (read.value_type != column.value_type) {  // words may be asked for as wider codes
    if (!column.meaning.has_words() || is_float(read.value_type)) return;
    column.value_type = read.value_type;
  }
  const std::uint64_t at = first_meaningless(column, read.data, read.step, rows.size());
  if (at == rows.size()) return;
  fail_code(store_->file().name(), column, load_bits(column.value_type, read.data + at * read.step),
            rows_.begin + rows.begin + at);
}

void Source::read_packed(const Region& region, std::byte* out, unsigned threads) const {
  const std::size_t row_step = packed_row(region.cols);
  if (schema_.kind == ObjectKind::matrix) {
    const ValueType type = schema_.value_type;
    return read(region, {out, type, row_step, size_of(type)}, threads);
  }
  std::vector<ColumnBuffer> columns;
  for (std::uint64_t col = region.cols.begin; col < region.cols.end; ++col) {
    columns.push_back({col, schema_.type_of(col), out, row_step});
    out += size_of(schema_.type_of(col));
  }
  read_columns(region.rows, columns, threads);
}

void Source::for_each_piece(const std::function<void(const Region&)>& take,
                            std::uint64_t bytes) const {
  progress(0);
  if (cols() == 0) return progress(rows());
  const std::uint64_t row_bytes = packed_row();
  std::uint64_t strip = std::max<std::uint64_t>(1, bytes / row_bytes);
  if (const auto grid = store_->index().grid(); grid && strip >= grid->tile.rows) {
    strip -= strip % grid->tile.rows;
  }
  const std::uint64_t widest = row_bytes <= bytes ? cols() : std::max<std::uint64_t>(1, bytes / 8);
  for (std::uint64_t row = 0; row < rows();) {
    const Range band{row, row + std::min(strip, rows() - row)};
    for (std::uint64_t col = 0; col < cols();) {
      const Range part{col, col + std::min(widest, cols() - col)};
      take({band, part});
      col = part.end;
    }
    row = band.end;
    progress(row);
  }
}

void Source::for_each_packed(
    std::uint64_t offset,
    const std::function<void(const Region&, std::span<const std::byte>)>& take) const {
  constexpr std::size_t kAlign = 64;
  Array<std::byte> memory;
  for_each_piece([&](const Region& piece) {
    const std::size_t bytes = piece.rows.size() * packed_row(piece.cols);
    memory.reset(kAlign + bytes);
    std::byte* const cells = memory.data() + offset % kAlign;
    read_packed(piece, cells, threads());
    take(piece, {cells, bytes});
    offset += bytes;
  });
}

Source::Load Source::load(const Region& region) const {
  Load sum;
  sum.area = static_cast<double>(region.rows.size()) * static_cast<double>(region.cols.size());
  for_each_run(region, [&](const Region& from, std::uint64_t) {
    for (const std::uint64_t number : store_->index().touching(from)) {
      const Entry entry = store_->index().entry(number);
      const Region shared = intersect(entry.cells(), from);
      const double area =
          static_cast<double>(shared.rows.size()) * static_cast<double>(shared.cols.size());
      if (area == 0) continue;  // a forged entry may be of no cells
      if (entry.kind == BlockKind::dense) {
        sum.stored += area;
      } else if (entry.kind != BlockKind::empty) {
        const auto stored = static_cast<double>(entry.stored);
        sum.stored += stored * (area / (static_cast<double>(entry.rows) * entry.cols));
        sum.widest_sparse = std::max(sum.widest_sparse, stored);
      }
    }
  });
  return sum;
}

bool Source::is_whole() const noexcept {
  const Schema& schema = store_->schema();
  if (rows_ != Range{0, schema.rows} || schema_.cols != schema.cols) return false;
  if (runs_.size() != 1 || runs_.front().from != Range{0, schema.cols}) return false;
  for (std::uint64_t col = 0; col < schema.columns.size(); ++col) {
    if (schema_.columns[col].value_type != schema.columns[col].value_type) return false;
  }
  return schema_.value_type == schema.value_type;
}

std::uint64_t Source::object_col(std::uint64_t col) const noexcept {
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), col,
                                    [](std::uint64_t c, const Run& r) { return c < r.begin; }) -
                   1;
  return run->from.begin + (col - run->begin);
}

void Source::read_text(std::size_t k, Range rows, const TakeText& take) const {
  store_->read_text(
      k, {rows_.begin + rows.begin, rows_.begin + rows.end},
      [&](std::uint64_t row, std::string_view text) { take(row - rows_.begin, text); });
}

void Source::progress(std::uint64_t rows_done) const {
  if (options_.progress) options_.progress(rows_done, rows());
}

}  // namespace dapple::detail
