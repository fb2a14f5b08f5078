// Scanning a piece of delimited text: some rows, all columns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "lib/base/number_window.h"
#include "lib/foreign/csv/csv_scan.h"
#include "lib/foreign/csv/field_window.h"

namespace dapple::detail::csv {

/// What was seen in the columns of some consecutive rows, and the cells of those that were added
/// last.
class Columns {
 public:
  /// No rows yet. Without a plan, nothing is known of the columns, and no cells are kept.
  Columns(const ScanInput& input, const Plan* plan);

  /// True for a column that may be one of numbers only: `see` takes the fields of the others.
  bool is_number(std::size_t col) const noexcept { return guesses_[col] == nullptr; }
  /// Takes a field, in any column; `row` counts from the first. False when the column must not
  /// hold such a field.
  bool see(std::size_t col, const Field& field, std::uint64_t row) {
    if (is_number(col)) describe(col, row);
    return guesses_[col]->see(field, missing_, cells_of(col));
  }
  void see_missing(std::size_t col) noexcept { ++counts_[col].missing; }
  /// `unsure`: it is missing, or a word if the column is one of words.
  void see_quoted_number(std::size_t col, bool unsure) noexcept {
    ++counts_[col].quoted;
    if (unsure) ++counts_[col].unsure;
  }
  /// Ends some rows.
  void add_rows(std::uint64_t n);
  std::uint64_t rows() const noexcept { return rows_; }

  /// Where the cells of a column go; null when they are not kept.
  ColumnCells* cells_of(std::size_t col) noexcept {
    return cells_.empty() ? nullptr : &cells_[col];
  }
  std::vector<ColumnCells>& cells() noexcept { return cells_; }
  void clear_cells() noexcept;
  /// From now on no cells are kept.
  void drop_cells() noexcept { cells_.clear(); }
  /// True while the columns are what the plan says.
  bool fits(const Plan& plan) const noexcept;

  /// Adds what was seen in the rows that follow; their cells get the codes that words have here.
  /// False, and nothing changed, when a column is not what it must be: a field in these rows is
  /// wrong.
  bool merge(Columns& later);

  /// The columns that are known to be of words.
  std::vector<bool> words() const;
  /// Columns of numbers all of which are in quotes, while those of another column are not: whoever
  /// wrote the text means them as words.
  std::vector<std::size_t> quoted_numbers() const;
  std::vector<std::optional<Meaning>> finish() const;

 private:
  /// Of the fields of a column of numbers. Those in quotes are not counted as missing: should the
  /// column turn out to be one of words, an empty one is a word.
  struct Counts {
    std::uint64_t missing = 0, quoted = 0, unsure = 0;
  };
  void describe(std::size_t col, std::uint64_t rows);

  const MissingWords& missing_;
  const char* const end_;
  /// Of columns whose fields are shown to it; null for the others, which may be very many.
  std::vector<std::unique_ptr<ColumnGuess>> guesses_;
  std::vector<Counts> counts_;
  std::vector<ColumnCells> cells_;  // of all columns, or none
  std::uint64_t rows_ = 0;
};

/// What else was seen in a piece of the text.
struct Piece {
  const char* begin = nullptr;  // of its first row
  const char* end = nullptr;    // of its last row
  bool last = false;            // only blank lines follow
  std::uint64_t first_line = 0;
  std::uint64_t lines = 0;          // rows and comments
  std::vector<std::uint64_t> rows;  // byte of the file where each starts
  Seen seen;
};

/// Integers of this many digits are held by i64, u64 and f64.
inline constexpr int kFewDigits = 15;

class PieceScanner {
 public:
  explicit PieceScanner(const ScanInput& input);

  /// Scans the rows that start in [p, limit); the first is line `line`. `columns` takes them as
  /// those that follow its own. Throws as `open_csv`.
  void scan(const char* p, const char* limit, std::uint64_t line, Piece& piece, Columns& columns);

 private:
  std::uint64_t offset(const char* p) const { return static_cast<std::uint64_t>(p - in_.base); }
  std::uint64_t line() const { return piece_->first_line + piece_->lines; }
  std::uint64_t row_number() const { return columns_->rows() + piece_->rows.size() - 1; }
  Place place(const char* p, std::size_t col) const;
  void require_only_blank_lines(const char* p) const;
  [[noreturn]] void fail_fields(const char* p, std::uint64_t line, std::uint64_t count) const;

  const char* row(const char* start);
  const char* field(const char* p, std::size_t c);
  bool is_missing_number(const char* p);
  const char* described_field(const char* p, std::size_t c);
  const char* unusual_field(const char* p, std::size_t c);
  void note_number(const char* p, const PlainNumber& number, std::size_t c);
  void note_float(const char* p, std::size_t c, std::uint16_t what);
  void note_integer(const char* p, const char* end, std::size_t c);
  void put_plain(const char* p, const PlainNumber& number, std::size_t c);
  void put_number(const char* p, const char* end, std::size_t c);
  void put_given(const char* p, const char* end, std::size_t c, ColumnCells& cells);
  void put_missing(std::size_t c);
  void note_first(NumbersAt& numbers, const char* p, const char* end, std::size_t c);
  void note_padding(const char* digits, const char* end, std::size_t c);

  const ScanInput& in_;
  const char* const end_;
  NumberWindow numbers_;
  FieldWindow fields_;
  const char delimiter_;
  std::string scratch_;
  std::vector<std::uint8_t> whole_;  // columns given as integers
  Piece* piece_ = nullptr;           // that is being scanned,
  Columns* columns_ = nullptr;       // and what is seen in it
};

}  // namespace dapple::detail::csv
