#include "lib/foreign/csv/csv_dialect.h"

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
  while (guess.lines < kLines && (guess.lines == 0 || !at_line_end(p, end))) {
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
