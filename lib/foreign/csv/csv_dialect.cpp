#include "lib/foreign/csv/csv_dialect.h"

#include <array>

namespace dapple::detail::csv {

namespace {

constexpr std::array<char, 3> kDelimiters = {'\t', ';', ','};
constexpr std::size_t kLines = 16;                     // looked at by the guess,
constexpr std::size_t kBytes = std::size_t{64} << 10;  // at most this far

/// How often each delimiter stands in the line at `p` outside of quotes; `p` moves to the next.
std::array<std::size_t, 3> count_delimiters(const char*& p, const char* end) noexcept {
  std::array<std::size_t, 3> counts{};
  bool in_quotes = false;
  for (; p != end && (in_quotes || *p != '\n'); ++p) {
    if (*p == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    for (std::size_t i = 0; i < kDelimiters.size(); ++i) counts[i] += *p == kDelimiters[i];
  }
  if (p != end) ++p;
  return counts;
}

}  // namespace

char guess_delimiter(std::string_view text) noexcept {
  const bool cut = text.size() > kBytes;
  text = text.substr(0, kBytes);
  const char* p = text.data();
  const char* const end = p + text.size();
  const std::array<std::size_t, 3> first = count_delimiters(p, end);
  std::array<std::size_t, 3> second = first;  // of the second line, where there is one
  std::array<bool, 3> steady = {true, true, true};
  // Behind the last row there may be blank lines.
  for (std::size_t line = 1; line < kLines && !at_line_end(p, end); ++line) {
    const std::array<std::size_t, 3> counts = count_delimiters(p, end);
    if (p == end && cut) break;  // this line goes on behind what is looked at
    if (line == 1) second = counts;
    for (std::size_t i = 0; i < counts.size(); ++i) steady[i] = steady[i] && counts[i] == first[i];
  }
  std::size_t best = kDelimiters.size() - 1;
  for (std::size_t i = 0; i < kDelimiters.size(); ++i) {
    if (first[i] > 0 && steady[i]) return kDelimiters[i];
    if (second[i] > second[best]) best = i;
  }
  return kDelimiters[best];
}

bool guess_header(const char* first, const char* second, const char* end, char delimiter) noexcept {
  const auto at_delimiter = [&](const char* p) { return p != end && *p == delimiter; };
  for (;;) {
    const std::optional<Field> field = find_field(first, end, delimiter);
    if (!field) return true;  // reading the labels says what is wrong
    const std::string_view text = trimmed(field->text);
    if (!is_number(text) && !is_missing(text)) return true;
    std::optional<Field> below;
    if (second != nullptr) below = find_field(second, end, delimiter);
    if (field->quoted && !(below && below->quoted)) return true;
    if (!at_delimiter(field->end)) return false;
    first = field->end + 1;
    second = below && at_delimiter(below->end) ? below->end + 1 : nullptr;
  }
}

}  // namespace dapple::detail::csv
