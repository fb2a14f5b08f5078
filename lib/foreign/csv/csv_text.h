// The words of delimited text that opening and reading share: where fields end, what marks a
// missing value, and how an error names the place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/error.h"
#include "dapple/writer.h"

namespace dapple::detail::csv {

/// False for what may be part of a value.
bool may_delimit(char c) noexcept;
/// True at a line end ("\n", "\r\n" or "\r") and at the end of the text.
inline bool at_line_end(const char* p, const char* end) noexcept {
  return p == end || *p == '\n' || *p == '\r';
}

/// The start of the next line. REQUIRES at_line_end(p, end).
inline const char* past_line_end(const char* p, const char* end) noexcept {
  const bool cr = p != end && *p == '\r';
  if (p != end) ++p;
  return cr && p != end && *p == '\n' ? p + 1 : p;
}

/// How a text is written.
struct Dialect {
  char delimiter = ',';
  char decimal = '.';     // of numbers
  std::string comment{};  // lines that start with it are none; empty: there are no comments

  /// True for a comment. REQUIRES p at the start of a line.
  bool is_comment(const char* p, const char* end) const noexcept {
    return !comment.empty() &&
           std::string_view(p, static_cast<std::size_t>(end - p)).starts_with(comment);
  }
  /// The line after a comment.
  static const char* past_comment(const char* p, const char* end) noexcept;
  /// The first line at or after `p` that is no comment.
  const char* past_comments(const char* p, const char* end) const noexcept;
  /// True when nothing but comments, blanks, tabs and line ends follow, none of which is a
  /// delimiter: the end of the rows. Cheap at the start of a row, whose first byte says no.
  bool only_blanks(const char* p, const char* end) const noexcept;
  /// True when a float can be read from all of the text (of any magnitude).
  bool is_number(std::string_view trimmed_text) const;
  /// The number as it is with a decimal point.
  std::string_view with_point(std::string_view number, std::string& scratch) const;
};

/// Throws invalid_argument where a field or a line could be read in two ways.
void require_dialect(const Dialect& dialect, const std::string& file);

/// How many lines end in [p, end), those in quotes too.
std::uint64_t count_lines(const char* p, const char* end) noexcept;
/// The line of a text that `at` is in, counted from 1.
inline std::uint64_t line_of(const char* text, const char* at) noexcept {
  return 1 + count_lines(text, at);
}

/// One field as the text has it.
struct Field {
  std::string_view text;  // without the quotes around it; doubled quotes still doubled
  const char* end;        // the delimiter or line end after it
  bool quoted = false;
};

/// The field from `p` to `end`, where it ends as `find_field` says.
inline Field field_at(const char* p, const char* end) noexcept {
  // A number, of which a loop over fields makes no branch and no chain as of a bool.
  const std::size_t quote = p != end && *p == '"' ? 1 : 0;
  return {{p + quote, static_cast<std::size_t>(end - p) - 2 * quote}, end, quote != 0};
}

/// The field that starts at `p`. A quoted one (RFC 4180) may hold delimiters and line ends;
/// nothing when its closing quote is missing or is not the field's last character.
std::optional<Field> find_field(const char* p, const char* end, char delimiter) noexcept;

/// The fields of a column in some consecutive rows.
struct FieldColumn {
  const char* const* at;  // where the first starts; then where what is after its end does
  std::size_t step;       // to that of the next row
  std::size_t n;

  Field operator[](std::size_t i) const noexcept {
    return field_at(at[i * step], at[i * step + 1] - 1);
  }
  /// Those after the first `i`.
  FieldColumn after(std::size_t i) const noexcept { return {at + i * step, step, n - i}; }
};

/// The field's text with doubled quotes made single.
std::string unquoted(const Field& field);

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// `text` without blanks and tabs at both ends.
inline std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// True for what marks a missing value in any text: nothing, NA, N/A, ?.
bool is_missing(std::string_view trimmed_text) noexcept;

/// What marks a missing value: nothing, NA, N/A, ? and the caller's words. Quotes make a word of
/// it, unless the caller names one that would be missing without being named.
class MissingWords {
 public:
  explicit MissingWords(const std::vector<std::string>& more = {});

  bool has(std::string_view trimmed_text) const noexcept {
    return is_missing(trimmed_text) ||
           std::find(more_.begin(), more_.end(), trimmed_text) != more_.end();
  }
  /// True for a field that is missing in any column; blanks around it are no part of it, except in
  /// quotes.
  bool has(const Field& field) const noexcept {
    const std::string_view text = field.text;
    if (field.quoted) return std::find(quoted_.begin(), quoted_.end(), text) != quoted_.end();
    if (text.size() > longest_ && !is_blank(text.front()) && !is_blank(text.back())) return false;
    return has(trimmed(text));
  }
  /// True for a field in quotes that is missing unless its column is one of words: nothing, or one
  /// of the caller's.
  bool may_be_missing(const Field& field) const noexcept {
    return field.quoted &&
           (field.text.empty() || std::find(more_.begin(), more_.end(), field.text) != more_.end());
  }
  /// The caller's, in order.
  const std::vector<std::string>& more() const noexcept { return more_; }
  /// True when one of them looks like a number, such as -999.
  bool has_numbers() const noexcept { return numbers_; }

 private:
  std::vector<std::string> more_;
  std::vector<std::string> quoted_;  // of which these are missing in quotes, too
  std::size_t longest_ = 3;
  bool numbers_ = false;
};

/// "line 3 has 2 fields where the others have 5", or "line 3 is blank where ...".
std::string count_text(std::uint64_t line, std::uint64_t count, std::uint64_t wanted);

/// Where a field is.
struct Place {
  const std::string& file;
  std::uint64_t offset;  // byte of the field
  std::uint64_t line;    // from 1
  std::uint64_t col;     // from 0; messages count from 1
  std::string_view label;
};

/// "line 3, column 2 ('pH')".
std::string place_text(const Place& place);

/// Throws: "line 3, column 2 ('pH'): <what>".
[[noreturn]] void fail_at(Errc code, const Place& place, const std::string& what,
                          std::string_view option = {});

/// Throws what keeps a field from being read as a `type`; `rounds`: it is a number that the type
/// does not hold exactly.
[[noreturn]] void fail_field(const Place& place, const char* field, const char* end,
                             const Dialect& dialect, const MissingWords& missing, ValueType type,
                             bool rounds = false);

}  // namespace dapple::detail::csv
