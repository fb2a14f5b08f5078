#include "lib/foreign/csv/csv_piece.h"

#include <exception>

#include "lib/base/number_window.h"
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
    cells_.emplace_back(plan != nullptr ? column.as() : ColumnCells::As::integers);
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
    if (!is_number(c)) guesses_[c]->add_pending(cells_[c]);
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
    if (later.guesses_[c]->has_words()) later.cells_[c].translate(codes);
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

PieceScanner::PieceScanner(const ScanInput& in) : in_(in), end_(in.end), table_(in) {
  for (const std::optional<ValueType>& type : in.given) whole_.push_back(type && !is_float(*type));
}

void PieceScanner::scan(const char* p, const char* limit, Faults faults, Piece& piece,
                        Columns& columns) {
  faults_ = faults;
  piece_ = &piece;
  columns_ = &columns;
  piece.begin = p;
  piece.last = false;
  piece.rows.clear();
  piece.seen = {};
  piece.seen.flags.assign(in_.cols(), 0);
  while (p < limit && !piece.last) {
    if (in_.dialect.is_comment(p, end_)) {
      p = in_.dialect.past_comment(p, end_);
      continue;
    }
    p = table_.find(p, limit);
    take_rows();
    piece.last = table_.last();
  }
  piece.end = p;
  columns.add_rows(piece.rows.size());
}

/// Takes the rows of the table, column by column. Throws for the first fault in the text: after one
/// in a column, the others are taken up to it.
void PieceScanner::take_rows() {
  const std::optional<RowTable::Fault>& fault = table_.fault();
  std::size_t rows = table_.rows(), cols = fault ? fault->fields : 0;  // and of the row after them
  std::exception_ptr first;
  for (std::size_t c = 0; c < in_.cols(); ++c) {
    try {
      take_column(c, rows + (c < cols ? 1 : 0));
    } catch (const Error&) {
      first = std::current_exception();
      rows = row_;
      cols = 0;
    }
  }
  if (first) std::rethrow_exception(first);
  row_ = rows;
  if (fault) fail_row(*fault);
  for (row_ = 0; row_ < rows; ++row_) piece_->rows.push_back(offset(*table_.fields(0, row_, 1).at));
  row_ = 0;
}

/// A field may make a column of numbers one of other things.
void PieceScanner::take_column(std::size_t c, std::size_t rows) {
  columns_->cells()[c].reserve(rows);
  for (row_ = 0; row_ < rows && columns_->is_number(c);) take_numbers(c, rows);
  const FieldColumn fields = table_.fields(c, row_, rows - row_);
  if (fields.n == 0) return;
  const std::size_t n = columns_->see(c, fields, row_number());
  row_ += n;
  if (n == fields.n) return;
  const Field field = fields[n];
  fail_at(Errc::type_mismatch, place(fields.at[n * fields.step], c),
          shown(field.text) + " is not a " + std::string(name(*in_.wanted[c])));
}

Place PieceScanner::place(const char* p, std::size_t col) const {
  return {in_.file, offset(p), line(p), col, label_of(in_.columns, col)};
}

std::uint64_t PieceScanner::line(const char* p) const {
  return faults_ == Faults::told ? line_of(in_.base, p) : 0;
}

/// Says what is wrong with a row.
void PieceScanner::fail_row(const RowTable::Fault& fault) const {
  const char* p = fault.at;
  std::size_t count = fault.fields;
  if (count < in_.cols() && p != end_ && *p == '"') {
    const ValueType type = in_.given[count].value_or(ValueType::f64);
    fail_field(place(p, count), p, end_, in_.dialect, in_.missing, type);
  }
  const char delimiter = in_.dialect.delimiter;
  while (p != end_ && *p == delimiter) {
    const std::optional<Field> more = find_field(p + 1, end_, delimiter);
    if (!more) break;
    ++count;
    p = more->end;
  }
  throw Error(Errc::corrupt, in_.file, offset(fault.at),
              count_text(line(fault.at), count, in_.cols()),
              in_.cols() == 1 && count > 1 ? "csv.delimiter" : "");
}

}  // namespace dapple::detail::csv
