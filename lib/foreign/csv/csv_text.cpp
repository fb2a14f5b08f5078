#include "lib/foreign/csv/csv_text.h"

#include <algorithm>

#include "lib/base/text.h"
#include "lib/foreign/csv/field_window.h"

namespace dapple::detail::csv {

bool may_delimit(char c) noexcept {
  constexpr std::string_view kOfValues = "\"\n\r+-./?";
  const char letter = static_cast<char>(c | 0x20);
  return !is_digit(c) && (letter < 'a' || letter > 'z') && kOfValues.find(c) == kOfValues.npos;
}

void require_dialect(const Dialect& dialect, const std::string& file) {
  const auto fail = [&](std::string_view text, const char* what) {
    throw Error(Errc::invalid_argument, file, std::nullopt, shown(text) + what);
  };
  const std::string_view delimiter(&dialect.delimiter, 1), decimal(&dialect.decimal, 1);
  if (!may_delimit(dialect.delimiter)) {
    fail(delimiter, " cannot be a delimiter: values are made of letters, digits and \" + - . / ?");
  }
  if (decimal == delimiter) fail(decimal, " cannot be both the delimiter and the decimal");
  if (dialect.comment.empty()) return;
  const char first = dialect.comment.front();
  if (first == dialect.delimiter || is_digit(first) || first == '"' ||
      at_line_end(&first, &first + 1)) {
    fail(dialect.comment, " cannot start a comment: a row may start so");
  }
}

const char* Dialect::past_comments(const char* p, const char* end) const noexcept {
  while (is_comment(p, end)) p = past_comment(p, end);
  return p;
}

const char* Dialect::past_comment(const char* p, const char* end) noexcept {
  while (!at_line_end(p, end)) ++p;
  return past_line_end(p, end);
}

bool Dialect::only_blanks(const char* p, const char* end) const noexcept {
  for (bool line_start = true; p != end; ++p) {
    if (line_start) p = past_comments(p, end);
    if (p == end) break;
    line_start = *p == '\n' || *p == '\r';
    if (*p == delimiter || (*p != ' ' && *p != '\t' && !line_start)) return false;
  }
  return true;
}

bool Dialect::is_number(std::string_view trimmed_text) const {
  if (decimal != '.' && trimmed_text.find('.') != trimmed_text.npos) return false;
  std::string scratch;
  const std::string_view text = with_point(trimmed_text, scratch);
  double ignored = 0;
  const NumberText read = read_number(text.data(), text.data() + text.size(), ignored);
  return read.error != NumberError::no_number && read.end == text.data() + text.size();
}

std::string_view Dialect::with_point(std::string_view number, std::string& scratch) const {
  const std::size_t at = decimal == '.' ? number.npos : number.find(decimal);
  if (at == number.npos) return number;
  scratch.assign(number);
  scratch[at] = '.';
  return scratch;
}

std::uint64_t count_lines(const char* p, const char* end) noexcept {
  std::uint64_t lines = 0;
  for (; p != end; ++p) lines += *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] != '\n'));
  return lines;
}

std::optional<Field> find_field(const char* p, const char* end, char delimiter) noexcept {
  FieldWindow window(end, delimiter);
  window.seek(p);
  const char* const stop = window.end_of(p);
  return stop != nullptr ? std::optional(field_at(p, stop)) : std::nullopt;
}

std::string unquoted(const Field& field) {
  std::string text;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.quoted && field.text[i] == '"') ++i;
  }
  return text;
}

bool is_missing(std::string_view trimmed_text) noexcept {
  constexpr std::string_view kMissing[] = {"", "NA", "N/A", "?"};
  return std::find(std::begin(kMissing), std::end(kMissing), trimmed_text) != std::end(kMissing);
}

MissingWords::MissingWords(const std::vector<std::string>& more) {
  for (const std::string& word : more) {
    more_.emplace_back(trimmed(word));
    if (is_missing(more_.back())) quoted_.push_back(more_.back());
    longest_ = std::max(longest_, more_.back().size());
    numbers_ = numbers_ || Dialect().is_number(more_.back()) ||
               Dialect{.decimal = ','}.is_number(more_.back());
  }
}

std::string count_text(std::uint64_t line, std::uint64_t count, std::uint64_t wanted) {
  const std::string found = count == 0 ? " is blank" : " has " + counted(count, "field");
  return "line " + std::to_string(line) + found +
         (line == 2 ? " where line 1 has " : " where the others have ") + std::to_string(wanted) +
         (count == 0 && wanted == 1 ? R"(; a missing value of the only column is NA or "")" : "");
}

std::string place_text(const Place& place) {
  std::string text =
      "line " + std::to_string(place.line) + ", column " + std::to_string(place.col + 1);
  if (!place.label.empty()) text += " (" + shown(place.label) + ")";
  return text;
}

void fail_at(Errc code, const Place& place, const std::string& what, std::string_view option) {
  throw Error(code, place.file, place.offset, place_text(place) + ": " + what, option);
}

void fail_field(const Place& place, const char* field, const char* end, const Dialect& dialect,
                const MissingWords& missing, ValueType type, bool rounds) {
  const bool whole = !is_float(type);
  const std::optional<Field> at = find_field(field, end, dialect.delimiter);
  if (!at) {
    const char* const quote = FieldWindow(end, dialect.delimiter).closing_quote(field + 1);
    const bool open = quote == end;
    const char* const from = open ? field : quote + 1;
    const auto length = static_cast<std::size_t>(std::min<std::ptrdiff_t>(end - from, 64));
    fail_at(Errc::corrupt, place,
            open ? "no quote closes the field " + shown({from, length})
                 : "the delimiter " + shown({&dialect.delimiter, 1}) +
                       " or a line end must follow the quote that closes a field, not " +
                       shown({from, std::min<std::size_t>(length, 16)}));
  }
  const std::string_view text = trimmed(at->text);
  if (missing.has(text)) {
    const std::string found = text.empty() ? "the field is empty" : shown(text) + " is no value";
    const std::string none = whole ? ", and " + std::string(name(type)) + " has no NaN" : "";
    fail_at(Errc::unsupported, place, found + none, whole ? "" : "csv.missing_as_nan");
  }
  if (!dialect.is_number(text))
    fail_at(Errc::type_mismatch, place, shown(at->text) + " is not a number");
  const std::string misfit = rounds  ? " is not exact as "
                             : whole ? " does not fit "
                                     : " is out of range for ";
  fail_at(Errc::type_mismatch, place, shown(at->text) + misfit + std::string(name(type)),
          rounds ? "allow_loss" : "");
}

}  // namespace dapple::detail::csv
