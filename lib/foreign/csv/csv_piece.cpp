#include "lib/foreign/csv/csv_piece.h"

#include <algorithm>

#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::csv {

Columns::Columns(const ScanInput& input, const Plan* plan)
    : missing_(input.missing), end_(input.end), guesses_(input.cols()), counts_(input.cols()) {
  for (std::size_t c = 0; c < input.cols(); ++c) {
    const ColumnPlan column = plan != nullptr ? plan->columns[c] : ColumnPlan();
    const bool described = input.wanted[c] || column.kind != MeaningKind::number;
    if (described) {
      guesses_[c] = std::make_unique<ColumnGuess>(input.wanted[c], end_, column.unit);
      if (column.has_words()) guesses_[c]->expect_words();
    }
    if (plan != nullptr) cells_.emplace_back(column.as());
  }
}

/// Shows the column's fields to a guess from now on; there were `rows` before.
void Columns::describe(std::size_t col, std::uint64_t rows) {
  if (!is_number(col)) return;
  guesses_[col] = std::make_unique<ColumnGuess>(std::nullopt, end_);
  const Counts& seen = counts_[col];
  guesses_[col]->skip(rows - seen.missing - seen.unsure, seen.unsure, seen.missing > 0);
}

void Columns::add_rows(std::uint64_t n) {
  rows_ += n;
  for (std::size_t c = 0; c < guesses_.size(); ++c) {
    if (!is_number(c)) guesses_[c]->add_pending(cells_of(c));
  }
}

void Columns::clear_cells() noexcept {
  for (ColumnCells& cells : cells_) cells.clear();
}

bool Columns::fits(const Plan& plan) const noexcept {
  for (std::size_t c = 0; c < guesses_.size(); ++c) {
    const ColumnPlan& column = plan.columns[c];
    if (is_number(c) != (column.kind == MeaningKind::number)) return false;
    if (is_number(c)) continue;
    if (guesses_[c]->has_words() != column.has_words()) return false;
    if (!column.has_words() && guesses_[c]->unit() != column.unit) return false;
  }
  return true;
}

bool Columns::merge(Columns& later) {
  const std::size_t cols = guesses_.size();
  for (std::size_t c = 0; c < cols; ++c) {
    const bool both = !is_number(c) && !later.is_number(c);
    if (both && !guesses_[c]->agrees(*later.guesses_[c])) return false;
  }
  for (std::size_t c = 0; c < cols; ++c) {
    if (is_number(c) && later.is_number(c)) {
      counts_[c].missing += later.counts_[c].missing;
      counts_[c].quoted += later.counts_[c].quoted;
      counts_[c].unsure += later.counts_[c].unsure;
      continue;
    }
    describe(c, rows_);
    later.describe(c, later.rows_);
    const auto codes = guesses_[c]->merge(*later.guesses_[c]);
    const bool words = later.guesses_[c]->has_words();
    if (words && !later.cells_.empty()) later.cells_[c].translate(codes);
  }
  rows_ += later.rows_;
  return true;
}

std::vector<bool> Columns::words() const {
  std::vector<bool> words;
  for (std::size_t c = 0; c < guesses_.size(); ++c) {
    words.push_back(!is_number(c) && guesses_[c]->has_words());
  }
  return words;
}

std::vector<std::size_t> Columns::quoted_numbers() const {
  std::vector<std::size_t> quoted;
  bool plain = false;
  for (std::size_t c = 0; c < counts_.size(); ++c) {
    if (!is_number(c)) continue;
    const std::uint64_t values = rows_ - counts_[c].missing;
    if (counts_[c].quoted < values) plain = true;
    if (values > 0 && counts_[c].quoted == values) quoted.push_back(c);
  }
  return plain ? quoted : std::vector<std::size_t>();
}

std::vector<std::optional<Meaning>> Columns::finish() const {
  std::vector<std::optional<Meaning>> meanings(guesses_.size());
  for (std::size_t c = 0; c < guesses_.size(); ++c) {
    if (!is_number(c)) meanings[c] = guesses_[c]->finish();
  }
  return meanings;
}

PieceScanner::PieceScanner(const ScanInput& in)
    : in_(in),
      end_(in.end),
      numbers_(in.end),
      fields_(in.end, in.dialect.delimiter),
      delimiter_(in.dialect.delimiter) {
  for (const std::optional<ValueType>& type : in.given) whole_.push_back(type && !is_float(*type));
}

void PieceScanner::scan(const char* p, const char* limit, std::uint64_t line, Piece& piece,
                        Columns& columns) {
  piece_ = &piece;
  columns_ = &columns;
  piece.begin = p;
  piece.last = false;
  piece.first_line = line;
  piece.lines = 0;
  piece.rows.clear();
  piece.seen = {};
  piece.seen.flags.assign(in_.cols(), 0);
  for (; p < limit; ++piece.lines) {
    if (in_.dialect.is_comment(p, end_)) {
      p = in_.dialect.past_comment(p, end_);
      continue;
    }
    if (at_line_end(p, end_) || (in_.cols() > 1 && in_.dialect.only_blanks(p, end_))) {
      require_only_blank_lines(p);
      piece.last = true;
      break;
    }
    piece.rows.push_back(offset(p));
    p = row(p);
  }
  piece.end = p;
  columns.add_rows(piece.rows.size());
}

Place PieceScanner::place(const char* p, std::size_t col) const {
  const bool labelled = !in_.columns.empty();
  return {in_.file, offset(p), line(), col,
          labelled ? std::string_view(in_.columns[col].label) : std::string_view()};
}

void PieceScanner::require_only_blank_lines(const char* p) const {
  if (!in_.dialect.only_blanks(p, end_)) fail_fields(p, line(), 0);
}

void PieceScanner::fail_fields(const char* p, std::uint64_t line, std::uint64_t count) const {
  throw Error(Errc::corrupt, in_.file, offset(p), count_text(line, count, in_.cols()));
}

/// Scans a row; returns the start of the next.
const char* PieceScanner::row(const char* start) {
  const std::size_t cols = in_.cols();
  const char* p = start;
  for (std::size_t c = 0; c < cols; ++c) {
    if (c > 0) {
      if (p == end_ || *p != delimiter_) fail_fields(p, line(), c);
      ++p;
    }
    p = columns_->is_number(c) ? field(p, c) : described_field(p, c);
  }
  const bool ends_in_one = p != end_ && *p == delimiter_;
  if (in_.trailing_delimiter && ends_in_one && at_line_end(p + 1, end_)) ++p;
  if (!at_line_end(p, end_)) {
    std::size_t count = cols;
    for (const char* q = p; q != end_ && *q == delimiter_; ++count) {
      const std::optional<Field> more = find_field(q + 1, end_, delimiter_);
      if (!more) break;
      q = more->end;
    }
    fail_fields(p, line(), count);
  }
  return past_line_end(p, end_);
}

/// Takes a field of a column of more than numbers; returns its end.
const char* PieceScanner::described_field(const char* p, std::size_t c) {
  const std::optional<Field> found = fields_.field(p);
  if (!found) fail_field(place(p, c), p, end_, in_.dialect, in_.missing, ValueType::f64);
  if (!columns_->see(c, *found, row_number())) {
    fail_at(Errc::type_mismatch, place(p, c),
            shown(found->text) + " is not a " + std::string(name(*in_.wanted[c])));
  }
  return found->end;
}

/// True for a field that looks like a number and marks a missing value.
bool PieceScanner::is_missing_number(const char* p) {
  const std::optional<Field> found = fields_.field(p);
  return found && in_.missing.has(trimmed(found->text));
}

/// Notes what a field is; returns its end.
const char* PieceScanner::field(const char* const p, std::size_t c) {
  if (in_.missing.has_numbers() && is_missing_number(p)) return unusual_field(p, c);
  const char decimal = in_.dialect.decimal;
  const PlainNumber number = numbers_.at(p);
  if (number.length > 0 && (decimal == '.' || !number.has_point())) {
    const char* const end = p + number.length;
    if (at_field_end(end, end_, delimiter_)) {
      note_number(p, number, c);
      put_plain(p, number, c);
      return end;
    }
  }
  const char* q = p;
  if (q != end_ && (*q == '-' || *q == '+')) ++q;
  const char* const digits = q;
  while (q != end_ && is_digit(*q)) ++q;
  if (q != digits && at_field_end(q, end_, delimiter_)) {
    note_padding(digits, q, c);
    if (q - digits > kFewDigits || *p == '-') note_integer(p, q, c);
    put_number(p, q, c);
    return q;
  }
  bool is_number = q != digits;
  if (q != end_ && *q == decimal) {
    const char* const fraction = ++q;
    while (q != end_ && is_digit(*q)) ++q;
    is_number = is_number || q != fraction;
  }
  if (is_number && q != end_ && (*q == 'e' || *q == 'E')) {
    ++q;
    if (q != end_ && (*q == '-' || *q == '+')) ++q;
    const char* const power = q;
    while (q != end_ && is_digit(*q)) ++q;
    is_number = q != power;
  }
  if (!is_number || !at_field_end(q, end_, delimiter_)) return unusual_field(p, c);
  note_float(p, c, flag::fraction);
  put_number(p, q, c);
  return q;
}

/// Puts a number as what its column holds.
void PieceScanner::put_plain(const char* p, const PlainNumber& number, std::size_t c) {
  ColumnCells* const cells = columns_->cells_of(c);
  if (cells == nullptr) return;
  double real = 0;
  std::int64_t integer = 0;
  if (cells->as() == ColumnCells::As::integers && !number.has_point() &&
      NumberWindow::read(p, number, integer) && (integer != 0 || number.minus == 0)) {
    cells->put_integer(integer);
  } else if (cells->as() != ColumnCells::As::values &&
             (cells->as() == ColumnCells::As::floats || number.has_point()) &&
             NumberWindow::read(p, number, real)) {
    cells->put_float(real);
  } else {
    put_number(p, p + number.length, c);
  }
}

void PieceScanner::put_number(const char* p, const char* end, std::size_t c) {
  ColumnCells* const cells = columns_->cells_of(c);
  if (cells == nullptr) return;
  if (cells->as() == ColumnCells::As::values) return put_given(p, end, c, *cells);
  double real = 0;
  std::int64_t integer = 0;
  std::uint64_t large = 0;
  const std::string_view text =
      in_.dialect.with_point({p, static_cast<std::size_t>(end - p)}, scratch_);
  const char* const stop = text.data() + text.size();
  const auto reads = [&](auto& value) {
    const NumberText number = read_number(text.data(), stop, value);
    return number.error == NumberError::none && number.end == stop;
  };
  const bool minus_zero = *p == '-' && reads(integer) && integer == 0;
  if (cells->as() == ColumnCells::As::integers && !minus_zero && reads(integer)) {
    return cells->put_integer(integer);
  }
  if (cells->as() == ColumnCells::As::integers && !minus_zero && reads(large)) {
    return cells->put_large(large);
  }
  if (!reads(real)) note_first(piece_->seen.misfits, p, end, c);
  cells->put_float(real);
}

/// A number of a column whose type is given.
void PieceScanner::put_given(const char* p, const char* end, std::size_t c, ColumnCells& cells) {
  const ValueType type = *in_.given[c];
  std::byte cell[8] = {};
  const std::string_view text =
      in_.dialect.with_point({p, static_cast<std::size_t>(end - p)}, scratch_);
  const NumberText number = read_number(text.data(), text.data() + text.size(), type, cell);
  if (number.error != NumberError::none || number.end != text.data() + text.size()) {
    fail_field(place(p, c), p, end_, in_.dialect, in_.missing, type);
  }
  const std::uint64_t bits = load_bits(type, cell);
  if (!is_float(type) && bits == usual_mark(type)) note_first(piece_->seen.marks, p, end, c);
  cells.put(bits);
}

void PieceScanner::put_missing(std::size_t c) {
  if (ColumnCells* const cells = columns_->cells_of(c)) cells->put_missing();
}

/// A field with quotes or blanks around it, nan, inf, nothing, or no number at all.
const char* PieceScanner::unusual_field(const char* p, std::size_t c) {
  const std::optional<Field> found = fields_.field(p);
  const ValueType type = in_.given[c].value_or(ValueType::f64);
  if (!found) fail_field(place(p, c), p, end_, in_.dialect, in_.missing, type);
  const std::string_view text = trimmed(found->text);
  const bool missing = in_.missing.has(text);
  if (missing && (!found->quoted || in_.missing.has(*found))) {
    columns_->see_missing(c);
  } else if (found->quoted && (missing || in_.dialect.is_number(text))) {
    columns_->see_quoted_number(c, in_.missing.may_be_missing(*found));
  }
  if (missing ? !in_.missing_as_nan : !in_.dialect.is_number(text)) {
    if (in_.numbers_only || (in_.given[c] && !missing)) {
      fail_field(place(p, c), p, end_, in_.dialect, in_.missing, type);
    }
    piece_->seen.flags[c] |= missing ? flag::missing : flag::other;
    if (missing) {
      put_missing(c);
    } else {
      columns_->see(c, *found, row_number());
    }
    return found->end;
  }
  const char* q = text.data();
  const char* const end = q + text.size();
  if (!missing && (*q == '-' || *q == '+')) ++q;
  while (q != end && is_digit(*q)) ++q;
  if (!missing && q == end) {
    note_padding(*text.data() == '-' || *text.data() == '+' ? text.data() + 1 : text.data(), end,
                 c);
    note_integer(text.data(), end, c);
  } else {
    note_float(p, c, missing ? flag::nan : flag::fraction);
  }
  if (missing) {
    put_missing(c);
  } else {
    put_number(text.data(), end, c);
  }
  return found->end;
}

}  // namespace dapple::detail::csv
