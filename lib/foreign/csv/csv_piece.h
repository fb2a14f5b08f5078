// Scanning a piece of delimited text: some rows, all columns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/foreign/csv/csv_rows.h"
#include "lib/foreign/csv/csv_scan.h"

namespace dapple::detail::csv {

/// What was seen in the columns of some consecutive rows, and the cells of those that were added
/// last.
class Columns {
 public:
  /// No rows yet. Without a plan, nothing is known of the columns, and their cells are of no use.
  Columns(const ScanInput& input, const Plan* plan);

  /// True for a column that may be one of numbers only: `see` takes the fields of the others.
  bool is_number(std::size_t col) const noexcept { return guesses_[col] == nullptr; }
  /// Takes fields, in any column, up to one that it must not hold; returns how many. `row` is that
  /// of the first.
  std::size_t see(std::size_t col, const FieldColumn& fields, std::uint64_t row) {
    describe(col, row);
    return guesses_[col]->see(fields, missing_, cells_[col]);
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

  std::vector<ColumnCells>& cells() noexcept { return cells_; }
  void clear_cells() noexcept;
  /// From now on the cells are of no use.
  void drop_cells() { cells_.assign(cells_.size(), ColumnCells()); }
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
  std::vector<ColumnCells> cells_;
  std::uint64_t rows_ = 0;
};

/// What else was seen in a piece of the text.
struct Piece {
  const char* begin = nullptr;      // of its first row
  const char* end = nullptr;        // of its last row
  bool last = false;                // only blank lines follow
  std::vector<std::uint64_t> rows;  // byte of the file where each starts
  Seen seen;
};

class PieceScanner {
 public:
  explicit PieceScanner(const ScanInput& input);

  /// What comes of a fault: an error for people, or one that nobody sees, for which no lines are
  /// counted.
  enum class Faults : bool { told, unseen };
  /// Scans the rows that start in [p, limit). `columns` takes them as those that follow its own.
  /// Throws as `open_csv`.
  void scan(const char* p, const char* limit, Faults faults, Piece& piece, Columns& columns);

 private:
  std::uint64_t offset(const char* p) const { return static_cast<std::uint64_t>(p - in_.base); }
  std::uint64_t line(const char* p) const;
  /// Rows before this one.
  std::uint64_t row_number() const { return columns_->rows() + piece_->rows.size() + row_; }
  Place place(const char* p, std::size_t col) const;
  [[noreturn]] void fail_row(const RowTable::Fault& fault) const;

  void take_rows();
  void take_column(std::size_t c, std::size_t rows);
  void take_numbers(std::size_t c, std::size_t rows);
  void take_number(std::size_t c);
  void note_number(const char* p, std::string_view number, std::size_t c);
  void note_integer(std::string_view number, std::size_t c);
  void put_number(std::string_view number, std::size_t c);
  void put_given(std::string_view number, std::size_t c, ColumnCells& cells);
  void note_first(NumbersAt& numbers, std::string_view number, std::size_t c);

  const ScanInput& in_;
  const char* const end_;
  RowTable table_;
  std::string scratch_;
  std::vector<std::uint8_t> whole_;  // columns given as integers
  Piece* piece_ = nullptr;           // that is being scanned,
  Columns* columns_ = nullptr;       // and what is seen in it
  Faults faults_ = Faults::told;
  std::size_t row_ = 0;  // of the table
};

}  // namespace dapple::detail::csv
