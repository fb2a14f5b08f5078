// What a delimited text does not say of itself: its delimiter, and whether its first line holds
// labels. Both are guessed from the first lines unless the caller knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/foreign/csv/csv_text.h"

namespace dapple::detail::csv {

/// A line as a delimiter divides it.
struct Line {
  std::size_t fields = 1;
  std::optional<Field> last;  // nothing where a quote is wrong
};
Line read_line(const char* p, const char* end, char delimiter) noexcept;

/// Tab, semicolon or comma: the first of them that every one of the first lines has equally
/// often, else the one that the second line has most often, or the last of them, or the first line
/// where there is no second. Quoted fields are skipped. `like` has what is known; a comma is no
/// delimiter where numbers have one.
char guess_delimiter(std::string_view text, const Dialect& like) noexcept;

/// The length of a first line that says the delimiter to a spreadsheet, "sep=;", and what it says;
/// 0 if the text does not start with one.
std::size_t separator_line(std::string_view text, char& delimiter) noexcept;

/// What the rows after a line of labels look like.
struct FirstRows {
  std::uint64_t fields = 0;  // of the first; 0 if there is none
  bool end_empty = true;     // the last field of each of the first ones is empty
};
FirstRows look_at_rows(const char* p, const char* end, const Dialect& dialect) noexcept;

/// Of the first lines, those that are no part of the table: others than all that follow, which have
/// equally many fields. Nothing where that is not clear.
struct LinesBefore {
  const char* table = nullptr;  // where it starts; null if there are no lines before it
  std::uint64_t fields = 0;     // of its lines
  std::size_t rows = 0;         // before it; with quotes, one may be of several lines
};
LinesBefore lines_before_table(const char* p, const char* end, const Dialect& dialect) noexcept;

/// True when a line of a table looks like its labels: words, with a column under them whose fields
/// all begin with a digit (numbers, times), apart from missing ones.
bool are_labels(const char* line, const char* end, const Dialect& dialect,
                const MissingWords& missing);

/// True when the first line must be labels: a field that is neither a number nor missing, or one
/// that is quoted while the second line's is not. `second` is null where there is no second line.
bool guess_header(const char* first, const char* second, const char* end, const Dialect& dialect,
                  const MissingWords& missing);

}  // namespace dapple::detail::csv
