#include "condition.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>

#include "cli.h"
#include "text.h"

namespace dapple::cli {

namespace {

using How = Expression::How;

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

/// Calls `f` with the number as a 64-bit integer if it is one, otherwise as a double; nothing when
/// the text is no number.
template <class F>
std::optional<Condition> with_number(std::string_view text, const F& f) {
  if (const auto n = parsed<std::uint64_t>(text)) return f(*n);
  if (const auto n = parsed<std::int64_t>(text)) return f(*n);
  if (const auto n = parsed<double>(text)) return f(*n);
  return std::nullopt;
}

/// Nothing when a bound is no number.
std::optional<Condition> find_number_condition(const Expression& e) {
  if (e.how == How::nan) return Condition::nan();
  return with_number(e.low, [&](auto low) -> std::optional<Condition> {
    switch (e.how) {
      case How::above:
        return Condition::above(low);
      case How::at_least:
        return Condition::at_least(low);
      case How::below:
        return Condition::below(low);
      case How::at_most:
        return Condition::at_most(low);
      case How::equal:
        return Condition::equal(low);
      default:
        return with_number(e.high, [&](auto high) { return Condition::between(low, high); });
    }
  });
}

}  // namespace

Expression parse_expression(std::string_view whole) {
  // Longer signs first.
  constexpr std::pair<std::string_view, How> kSigns[] = {{">=", How::at_least},
                                                         {">", How::above},
                                                         {"<=", How::at_most},
                                                         {"<", How::below},
                                                         {"==", How::equal}};
  const std::string_view text = trimmed(whole);
  Expression e;
  e.whole = whole;
  if (text == "nan" || text == "NaN") return e;
  if (text == "missing") {
    e.how = How::missing;
    return e;
  }
  for (const auto& [sign, how] : kSigns) {
    if (!text.starts_with(sign)) continue;
    e.how = how;
    e.low = e.high = trimmed(text.substr(sign.size()));
    return e;
  }
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) fail_condition(whole);
  e.how = How::between;
  e.low = trimmed(text.substr(0, dots));
  e.high = trimmed(text.substr(dots + 2));
  return e;
}

Condition number_condition(const Expression& expression) {
  if (expression.how == How::missing) {
    throw UsageError("only cells of a frame can be missing; nan finds those that are NaN");
  }
  const auto found = find_number_condition(expression);
  if (!found) fail_condition(expression.whole);
  return *found;
}

ColumnCondition column_condition(const Expression& e, const Column& column) {
  if (e.how == How::missing) return ColumnCondition::missing();
  if (e.how == How::nan) return Condition::nan();
  if (column.meaning.kind == MeaningKind::number) {
    if (const auto numbers = find_number_condition(e)) return *numbers;
  }
  switch (e.how) {
    case How::above:
      return ColumnCondition::above(e.low);
    case How::at_least:
      return ColumnCondition::at_least(e.low);
    case How::below:
      return ColumnCondition::below(e.low);
    case How::at_most:
      return ColumnCondition::at_most(e.low);
    case How::equal:
      return ColumnCondition::equal(e.low);
    default:
      return ColumnCondition::between(e.low, e.high);
  }
}

}  // namespace dapple::cli
