#include "condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <limits>
#include <optional>
#include <type_traits>
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

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (std::is_same_v<T, double> && error == std::errc::result_out_of_range) {
    throw UsageError(fmt::format("'{}' is beyond the range of f64", printable(text)));
  }
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// How two runs of digits without zeros in front compare.
std::strong_ordering compare_digits(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

/// The doubles next to an integer that 64 bits do not hold: the lowest that is not below it, and
/// the highest that is not above it.
struct Around {
  double low, high;
};

/// Nothing when the text is no integer.
std::optional<Around> around(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  double near = std::numeric_limits<double>::max();
  std::from_chars(digits.data(), digits.data() + digits.size(), near);
  // Unlike from_chars, this is exact.
  const auto order = compare_digits(fmt::format("{:.0f}", near), digits);
  Around found{near, near};
  if (order < 0) found.low = std::nextafter(near, kInfinity);
  if (order > 0) found.high = std::nextafter(near, -kInfinity);
  return negative ? Around{-found.high, -found.low} : found;
}

/// Calls f(low, high) with the number as bounds: as a 64-bit integer or else a double twice, and an
/// integer that is neither as the doubles around it, between which no cell is. Nothing when the
/// bound is no number.
template <class F>
std::optional<Condition> with_number(const ShortCondition::Bound& bound, const F& f) {
  if (bound.quoted) return std::nullopt;
  const std::string_view text = bound.text;
  if (const auto n = parsed<std::uint64_t>(text)) return f(*n, *n);
  if (const auto n = parsed<std::int64_t>(text)) return f(*n, *n);
  if (const auto n = around(text)) return f(n->low, n->high);
  if (const auto n = parsed<double>(text)) return f(*n, *n);
  return std::nullopt;
}

/// Nothing when a bound is no number.
std::optional<Condition> find_number_condition(const ShortCondition& e) {
  if (e.how == How::nan) return Condition::nan();
  return with_number(e.low, [&](auto low, auto high) -> std::optional<Condition> {
    switch (e.how) {
      case How::above:
        return Condition::above(high);
      case How::at_least:
        return Condition::at_least(low);
      case How::below:
        return Condition::below(low);
      case How::at_most:
        return Condition::at_most(high);
      case How::equal:
        return Condition::between(low, high);
      default:
        return with_number(e.high, [&](auto, auto last) { return Condition::between(low, last); });
    }
  });
}

}  // namespace

ShortCondition parse_condition(std::string_view whole) {
  // Longer signs first.
  constexpr std::pair<std::string_view, How> kSigns[] = {{">=", How::at_least},
                                                         {">", How::above},
                                                         {"<=", How::at_most},
                                                         {"<", How::below},
                                                         {"==", How::equal}};
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
