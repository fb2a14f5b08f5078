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
  for (std::size_t line = 1; line < kLines && p != end; ++line) {
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

std::vector<Field> split_line(const char*& next, const char* p, const char* end, char delimiter,
                              const std::string& file, const char* base, std::uint64_t line) {
  std::vector<Field> fields;
  for (;; ++p) {
    const std::optional<Field> field = find_field(p, end, delimiter);
    if (!field) {
      fail_field({file, static_cast<std::uint64_t>(p - base), line, fields.size(), {}}, p, end,
                 delimiter, ValueType::f64);
    }
    fields.push_back(*field);
    p = field->end;
    if (p == end || *p != delimiter) break;
  }
  next = past_line_end(p, end);
  return fields;
}

bool guess_header(const std::vector<Field>& first, const std::vector<Field>& second) noexcept {
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string_view text = trimmed(first[i].text);
    if (!is_number(text) && !is_missing(text)) return true;
    if (first[i].quoted && (i >= second.size() || !second[i].quoted)) return true;
  }
  return false;
}

}  // namespace dapple::detail::csv
