#include "lib/foreign/csv/csv_dialect.h"

#include <algorithm>
#include <array>
#include <vector>

#include "lib/base/letters.h"

namespace dapple::detail::csv {

namespace {

constexpr std::array<char, 3> kDelimiters = {'\t', ';', ','};
constexpr std::size_t kLines = 16;                     // looked at by the guess,
constexpr std::size_t kBytes = std::size_t{64} << 10;  // at most this far

/// What a delimiter makes of the first lines.
struct DelimiterGuess {
  std::size_t lines = 0;   // whole ones
  std::size_t first = 0;   // how often it is in the first,
  std::size_t second = 0;  //   in the second,
  std::size_t last = 0;    //   and in the last of them
  bool steady = true;      // equally often in all
};

/// True for a field in which quotes begin after another delimiter, and do not end: they hold the
/// delimiter at which it does.
bool opens_quotes(const Field& field, char delimiter) noexcept {
  if (field.quoted) return false;
  for (std::size_t at = 1; (at = field.text.find('"', at)) != field.text.npos; ++at) {
    const char before = field.text[at - 1];
    if (before != delimiter && std::ranges::find(kDelimiters, before) != kDelimiters.end()) {
      return std::ranges::count(field.text.substr(at), '"') % 2 != 0;
    }
  }
  return false;
}

/// The same of one of a line's fields.
bool splits_quotes(const char* p, const char* end, char delimiter) noexcept {
  for (;;) {
    const std::optional<Field> field = find_field(p, end, delimiter);
    if (!field || field->end == end || *field->end != delimiter) return false;
    if (opens_quotes(*field, delimiter)) return true;
    p = field->end + 1;
  }
}

/// A quote in a field counts as that only where the field begins with it, as in `find_field`.
DelimiterGuess try_delimiter(const char* p, const char* end, bool cut,
                             const Dialect& dialect) noexcept {
  DelimiterGuess guess;
  bool splits = false;
  // There may be blank lines after the last row.
  while (guess.lines < kLines && (guess.lines == 0 || !dialect.only_blanks(p, end))) {
    p = dialect.past_comments(p, end);
    const auto [fields, field] = read_line(p, end, dialect.delimiter);
    const std::size_t count = fields - 1;
    const bool whole = field && (field->end != end || !cut);
    splits = splits || splits_quotes(p, end, dialect.delimiter);
    if (guess.lines == 0) guess.first = count;
    if (!whole) {  // it goes on after what is looked at, or a quote is not closed
      guess.steady = guess.steady && cut;
      break;
    }
    if (guess.lines == 1) guess.second = count;
    guess.last = count;
    guess.steady = guess.steady && count == guess.first;
    ++guess.lines;
    p = past_line_end(field->end, end);
  }
  if (splits) return {.lines = guess.lines, .steady = false};
  return guess;
}

}  // namespace

Line read_line(const char* p, const char* end, char delimiter) noexcept {
  Line line{.last = find_field(p, end, delimiter)};
  for (; line.last && line.last->end != end && *line.last->end == delimiter; ++line.fields) {
    line.last = find_field(line.last->end + 1, end, delimiter);
  }
  return line;
}

char guess_delimiter(std::string_view text, const Dialect& like) noexcept {
  const bool cut = text.size() > kBytes;
  text = text.substr(0, kBytes);
  std::array<DelimiterGuess, kDelimiters.size()> guesses;
  bool several = false;
  Dialect dialect = like;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    dialect.delimiter = kDelimiters[i];
    if (dialect.delimiter == like.decimal) continue;
    guesses[i] = try_delimiter(text.data(), text.data() + text.size(), cut, dialect);
    several = several || guesses[i].lines > 1;
  }
  // In a single line, any delimiter is equally often in all.
  const bool second = std::any_of(guesses.begin(), guesses.end(),
                                  [](const DelimiterGuess& guess) { return guess.second > 0; });
  const auto often = [=](const DelimiterGuess& guess) {
    return !several ? guess.first : second ? guess.second : guess.last;
  };
  // Among equals: the first of the list in a single line, the comma in several.
  std::size_t best = several ? kDelimiters.size() - 1 : 0;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    if (several && guesses[i].first > 0 && guesses[i].steady) return kDelimiters[i];
    if (often(guesses[i]) > often(guesses[best])) best = i;
  }
  const char none = like.decimal == ',' ? ';' : ',';
  return often(guesses[best]) > 0 ? kDelimiters[best] : none;
}

std::size_t separator_line(std::string_view text, char& delimiter) noexcept {
  constexpr std::string_view kWord = "sep=";
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool quoted = p != end && *p == '"';
  if (quoted) ++p;
  if (!starts_with_word({p, end}, kWord)) return 0;
  p += kWord.size();
  if (p == end) return 0;
  const char said = *p++;
  if (quoted && (p == end || *p++ != '"')) return 0;
  if (!may_delimit(said) || !at_line_end(p, end)) return 0;
  delimiter = said;
  return static_cast<std::size_t>(past_line_end(p, end) - text.data());
}

FirstRows look_at_rows(const char* p, const char* end, const Dialect& dialect) noexcept {
  FirstRows found;
  const char* const stop = end - p > static_cast<std::ptrdiff_t>(kBytes) ? p + kBytes : end;
  for (std::size_t line = 0; line < kLines && !dialect.only_blanks(p, end); ++line) {
    p = dialect.past_comments(p, end);
    const auto [fields, field] = read_line(p, end, dialect.delimiter);
    if (!field) break;
    if (line == 0) found.fields = fields;
    found.end_empty = found.end_empty && field->text.empty() && !field->quoted;
    p = past_line_end(field->end, end);
    if (p >= stop) break;
  }
  return found;
}

LinesBefore lines_before_table(const char* p, const char* end, const Dialect& dialect) noexcept {
  constexpr std::size_t kRows = 3;  // that are alike, at least
  const char* const stop = end - p > static_cast<std::ptrdiff_t>(kBytes) ? p + kBytes : end;
  LinesBefore found;
  std::size_t rows = 0, lines = 0;
  for (; lines < kLines && p < stop && !dialect.only_blanks(p, end); ++lines) {
    p = dialect.past_comments(p, end);
    const auto [fields, last] = read_line(p, end, dialect.delimiter);
    if (!last) return {};
    rows = fields == found.fields ? rows + 1 : 1;
    if (rows == 1) found = {p, fields, lines};
    p = past_line_end(last->end, end);
  }
  return rows >= kRows && rows < lines && found.fields > 1 ? found : LinesBefore{};
}

bool are_labels(const char* line, const char* end, const Dialect& dialect,
                const MissingWords& missing) {
  struct Under {
    bool digits = false, words = false;
  };
  std::vector<Under> columns;
  const char* const stop = end - line > static_cast<std::ptrdiff_t>(kBytes) ? line + kBytes : end;
  for (std::size_t n = 0; n < kLines && line < stop && !dialect.only_blanks(line, end); ++n) {
    line = dialect.past_comments(line, end);
    for (std::size_t c = 0;; ++c) {
      const std::optional<Field> field = find_field(line, end, dialect.delimiter);
      if (!field) return false;
      const std::string_view text = trimmed(field->text);
      const bool gone = text.empty() || missing.has(text);
      const std::size_t first = std::min(text.find_first_not_of("+-."), text.size());
      const bool digit = first < text.size() && text[first] >= '0' && text[first] <= '9';
      if (n == 0) {
        if (gone || digit) return false;
        columns.emplace_back();
      } else if (c < columns.size() && !gone) {
        (digit ? columns[c].digits : columns[c].words) = true;
      }
      line = field->end;
      if (line == end || *line != dialect.delimiter) break;
      ++line;
    }
    line = past_line_end(line, end);
  }
  return std::any_of(columns.begin(), columns.end(),
                     [](const Under& column) { return column.digits && !column.words; });
}

bool guess_header(const char* first, const char* second, const char* end, const Dialect& dialect,
                  const MissingWords& missing) {
  const char delimiter = dialect.delimiter;
  const auto at_delimiter = [&](const char* p) { return p != end && *p == delimiter; };
  for (;;) {
    const std::optional<Field> field = find_field(first, end, delimiter);
    if (!field) return true;  // reading the labels says what is wrong
    const std::string_view text = trimmed(field->text);
    if (!dialect.is_number(text) && !missing.has(text)) return true;
    std::optional<Field> below;
    if (second != nullptr) below = find_field(second, end, delimiter);
    if (field->quoted && !(below && below->quoted)) return true;
    if (!at_delimiter(field->end)) return false;
    first = field->end + 1;
    second = below && at_delimiter(below->end) ? below->end + 1 : nullptr;
  }
}

}  // namespace dapple::detail::csv
