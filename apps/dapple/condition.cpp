#include "condition.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli.h"
#include "text.h"

namespace dapple::cli {

namespace {

using How = ShortCondition::How;

[[noreturn]] void fail_condition(std::string_view text) {
  throw UsageError(
      fmt::format("'{}' is not a condition; write '> 5', '>= 5', '< 5', '<= 5', "
                  "'== 5', '1..5', nan or missing",
                  printable(text)));
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

[[noreturn]] void fail_quotes(std::string_view whole) {
  throw UsageError(
      fmt::format("'{}' is not a condition: a word in quotes ends with one, and quotes in it are "
                  "doubled, as in '== \"\"\"so\"\" he said\"'",
                  printable(whole)));
}

/// A bound: a word in quotes, as a field of CSV has them, or text without blanks around it.
ShortCondition::Bound bound_of(std::string_view text, std::string_view whole) {
  text = trimmed(text);
  if (!text.starts_with('"')) return {std::string(text), false};
  ShortCondition::Bound bound{"", true};
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (i + 1 == text.size()) return bound;
      if (text[++i] != '"') break;
    }
    bound.text += text[i];
  }
  fail_quotes(whole);
}

/// Where the dots of a range are: not those in a word in quotes.
std::size_t find_dots(std::string_view text) {
  const bool quotes = text.starts_with('"');
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quotes && text[i] == '"') inside = !inside;  // twice for a doubled one
    if (!inside && text.substr(i).starts_with("..")) return i;
  }
  return std::string_view::npos;
}

/// Throws unless both ends of a range are given.
void require_ends(std::string_view low, std::string_view high, std::string_view whole) {
  if (!low.empty() && !high.empty()) return;
  if (low.empty() && high.empty()) fail_condition(whole);
  throw UsageError(fmt::format("the range '{}' has only one end; write '{} {}'", printable(whole),
                               low.empty() ? "<=" : ">=", printable(low.empty() ? high : low)));
}

// Longer signs first.
constexpr std::pair<std::string_view, How> kSigns[] = {{">=", How::at_least},
                                                       {">", How::above},
                                                       {"<=", How::at_most},
                                                       {"<", How::below},
                                                       {"==", How::equal}};

/// Nothing when a bound is no number.
std::optional<Condition> find_number_condition(const ShortCondition& e) {
  if (e.how == How::nan) return Condition::nan();
  if (e.low.quoted || e.high.quoted) return std::nullopt;
  std::string_view relation = "..";
  for (const auto& [sign, how] : kSigns) {
    if (how == e.how) relation = sign;
  }
  try {
    return Condition::parse(relation, e.low.text, e.high.text);
  } catch (const Error& error) {
    throw UsageError(error.detail());
  }
}

}  // namespace

ShortCondition parse_condition(std::string_view whole) {
  const std::string_view text = trimmed(whole);
  ShortCondition e;
  e.whole = whole;
  if (text == "nan" || text == "NaN") return e;
  if (text == "missing") {
    e.how = How::missing;
    return e;
  }
  for (const auto& [sign, how] : kSigns) {
    if (!text.starts_with(sign)) continue;
    e.how = how;
    e.low = e.high = bound_of(text.substr(sign.size()), whole);
    return e;
  }
  const std::size_t dots = find_dots(text);
  if (dots == std::string_view::npos) fail_condition(whole);
  const std::string_view low = trimmed(text.substr(0, dots)), high = trimmed(text.substr(dots + 2));
  require_ends(low, high, whole);
  e.how = How::between;
  e.low = bound_of(low, whole);
  e.high = bound_of(high, whole);
  return e;
}

Condition number_condition(const ShortCondition& expression) {
  if (expression.how == How::missing) {
    throw UsageError("only cells of a frame can be missing; nan finds those that are NaN");
  }
  const auto found = find_number_condition(expression);
  if (!found) fail_condition(expression.whole);
  return *found;
}

ColumnCondition column_condition(const ShortCondition& e, const Column& column) {
  if (e.how == How::missing) return ColumnCondition::missing();
  if (e.how == How::nan) return Condition::nan();
  if (column.meaning.kind == MeaningKind::number) {
    if (const auto numbers = find_number_condition(e)) return *numbers;
  }
  // Of a column of numbers this is only for the message, which tells that it was in quotes.
  const auto text_of = [&](const ShortCondition::Bound& bound) {
    const bool shows = bound.quoted && column.meaning.kind == MeaningKind::number;
    return shows ? '"' + bound.text + '"' : bound.text;
  };
  switch (e.how) {
    case How::above:
      return ColumnCondition::above(text_of(e.low));
    case How::at_least:
      return ColumnCondition::at_least(text_of(e.low));
    case How::below:
      return ColumnCondition::below(text_of(e.low));
    case How::at_most:
      return ColumnCondition::at_most(text_of(e.low));
    case How::equal:
      return ColumnCondition::equal(text_of(e.low));
    default:
      return ColumnCondition::between(text_of(e.low), text_of(e.high));
  }
}

}  // namespace dapple::cli
