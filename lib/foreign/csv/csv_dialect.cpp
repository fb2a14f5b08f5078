#include "lib/foreign/csv/csv_dialect.h"

#include <algorithm>
#include <array>

namespace dapple::detail::csv {

namespace {

constexpr std::array<char, 3> kDelimiters = {'\t', ';', ','};
constexpr std::size_t kLines = 16;                     // looked at by the guess,
constexpr std::size_t kBytes = std::size_t{64} << 10;  // at most this far

/// What a delimiter makes of the first lines.
struct DelimiterGuess {
  std::size_t lines = 0;   // whole ones
  std::size_t first = 0;   // how often it is in the first,
  std::size_t second = 0;  //   and in the second
  bool steady = true;      // equally often in all
};

/// A quote in a field counts as that only where the field begins with it, as in `find_field`.
DelimiterGuess try_delimiter(const char* p, const char* end, bool cut, char delimiter) noexcept {
  DelimiterGuess guess;
  // There may be blank lines after the last row.
  while (guess.lines < kLines && (guess.lines == 0 || !only_blanks(p, end, delimiter))) {
    std::size_t count = 0;
    std::optional<Field> field = find_field(p, end, delimiter);
    for (; field && field->end != end && *field->end == delimiter; ++count) {
      field = find_field(field->end + 1, end, delimiter);
    }
    const bool whole = field && (field->end != end || !cut);
    if (guess.lines == 0) guess.first = count;
    if (!whole) {  // it goes on after what is looked at, or a quote is not closed
      guess.steady = guess.steady && cut;
      break;
    }
    if (guess.lines == 1) guess.second = count;
    guess.steady = guess.steady && count == guess.first;
    ++guess.lines;
    p = past_line_end(field->end, end);
  }
  return guess;
}

}  // namespace

char guess_delimiter(std::string_view text) noexcept {
  const bool cut = text.size() > kBytes;
  text = text.substr(0, kBytes);
  std::array<DelimiterGuess, kDelimiters.size()> guesses;
  bool several = false;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    guesses[i] = try_delimiter(text.data(), text.data() + text.size(), cut, kDelimiters[i]);
    several = several || guesses[i].lines > 1;
  }
  // In a single line, any delimiter is equally often in all.
  const auto often = [several](const DelimiterGuess& guess) {
    return several ? guess.second : guess.first;
  };
  // Among equals: the first of the list in a single line, the comma in several.
  std::size_t best = several ? kDelimiters.size() - 1 : 0;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    if (several && guesses[i].first > 0 && guesses[i].steady) return kDelimiters[i];
    if (often(guesses[i]) > often(guesses[best])) best = i;
  }
  return often(guesses[best]) > 0 ? kDelimiters[best] : kDelimiters.back();
}

std::size_t separator_line(std::string_view text, char& delimiter) noexcept {
  constexpr std::string_view kWord = "sep=";
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool quoted = p != end && *p == '"';
  if (quoted) ++p;
  const auto same = [](char a, char b) { return a == (b | 0x20) || a == b; };
  if (static_cast<std::size_t>(end - p) <= kWord.size() ||
      !std::equal(kWord.begin(), kWord.end(), p, same))
    return 0;
  p += kWord.size();
  const char said = *p++;
  if (quoted && (p == end || *p++ != '"')) return 0;
  if (!may_delimit(said) || !at_line_end(p, end)) return 0;
  delimiter = said;
  return static_cast<std::size_t>(past_line_end(p, end) - text.data());
}

FirstRows look_at_rows(const char* p, const char* end, char delimiter) noexcept {
  FirstRows found;
  const char* const stop = end - p > static_cast<std::ptrdiff_t>(kBytes) ? p + kBytes : end;
  for (std::size_t line = 0; line < kLines && !only_blanks(p, end, delimiter); ++line) {
    std::optional<Field> field = find_field(p, end, delimiter);
    std::uint64_t fields = 1;
    for (; field && field->end != end && *field->end == delimiter; ++fields) {
      field = find_field(field->end + 1, end, delimiter);
    }
    if (!field) break;
    if (line == 0) found.fields = fields;
    found.end_empty = found.end_empty && field->text.empty() && !field->quoted;
    p = past_line_end(field->end, end);
    if (p >= stop) break;
  }
  return found;
}

bool guess_header(const char* first, const char* second, const char* end, char delimiter,
                  const MissingWords& missing) noexcept {
  const auto at_delimiter = [&](const char* p) { return p != end && *p == delimiter; };
  for (;;) {
    const std::optional<Field> field = find_field(first, end, delimiter);
    if (!field) return true;  // reading the labels says what is wrong
    const std::string_view text = trimmed(field->text);
    if (!is_number(text) && !missing.has(text)) return true;
    std::optional<Field> below;
    if (second != nullptr) below = find_field(second, end, delimiter);
    if (field->quoted && !(below && below->quoted)) return true;
    if (!at_delimiter(field->end)) return false;
    first = field->end + 1;
    second = below && at_delimiter(below->end) ? below->end + 1 : nullptr;
  }
}

}  // namespace dapple::detail::csv
