#include "lib/compute/number_condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "dapple/error.h"
#include "lib/base/text.h"

namespace dapple {

namespace detail {

namespace {

/// The doubles next to an integer that 64 bits do not hold: the lowest that is not below it, and
/// the highest that is not above it. No cell is between them.
struct Around {
  double low, high;
};

Around around(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(text.find_first_not_of("+-"));
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  double near = std::numeric_limits<double>::max();  // what from_chars leaves of one that is larger
  std::from_chars(digits.data(), digits.data() + digits.size(), near);
  std::array<char, 310> exact{};
  const auto written = std::to_chars(exact.begin(), exact.end(), near, std::chars_format::fixed);
  const std::string_view made(exact.data(), static_cast<std::size_t>(written.ptr - exact.data()));
  const bool is_above = std::pair(made.size(), made) > std::pair(digits.size(), digits);
  Around found{is_above ? near : std::nextafter(near, kInfinity),
               is_above ? std::nextafter(near, -kInfinity) : near};
  if (made == digits) found = {near, near};
  return negative ? Around{-found.high, -found.low} : found;
}

/// Calls f(low, high) with a number as bounds: an integer of 64 bits or a double twice, any other
/// integer as the doubles around it. Nothing for a number beyond the range of f64.
template <class F>
std::optional<Condition> with_number(std::string_view text, const F& f) {
  const char* const end = text.data() + text.size();
  const auto reads = [&](auto& number) {
    const auto read = read_number(text.data(), end, number);
    return read.end == end && read.error == NumberError::none;
  };
  std::int64_t small = 0;
  if (reads(small)) return f(small, small);
  std::uint64_t large = 0;
  if (reads(large)) return f(large, large);
  if (text.find_first_not_of("+-0123456789") == text.npos) {
    const Around found = around(text);
    return f(found.low, found.high);
  }
  double real = 0;
  if (reads(real)) return f(real, real);
  return std::nullopt;
}

}  // namespace

std::optional<Condition> number_condition(Relation relation, std::string_view text) {
  return with_number(text, [&](auto low, auto high) -> Condition {
    switch (relation) {
      case Relation::below:
        return Condition::below(low);
      case Relation::at_most:
        return Condition::at_most(high);
      case Relation::above:
        return Condition::above(high);
      case Relation::at_least:
        return Condition::at_least(low);
      default:
        return Condition::between(low, high);
    }
  });
}

}  // namespace detail

std::optional<Condition> Condition::parse(std::string_view relation, std::string_view number,
                                          std::string_view last) {
  using detail::Relation;
  constexpr std::pair<std::string_view, Relation> kAll[] = {
      {"<", Relation::below},     {"<=", Relation::at_most}, {"==", Relation::equal},
      {">=", Relation::at_least}, {">", Relation::above},    {"..", Relation::at_least}};
  const auto* const known = std::find_if(std::begin(kAll), std::end(kAll),
                                         [&](const auto& one) { return one.first == relation; });
  if (known == std::end(kAll)) {
    throw Error(Errc::invalid_argument, "there is no relation " + detail::shown(relation));
  }
  const auto read = [](Relation how, std::string_view text) -> std::optional<Condition> {
    double nearest = 0;
    const char* const end = text.data() + text.size();
    const auto found = detail::read_number(text.data(), end, nearest);
    if (found.end != end || found.error == detail::NumberError::no_number) return std::nullopt;
    const auto made = detail::number_condition(how, text);
    if (made) return made;
    throw Error(Errc::invalid_argument, detail::shown(text) + " is beyond the range of f64");
  };
  std::optional<Condition> made = read(known->second, number);
  if (!made || relation != "..") return made;
  const auto to = read(Relation::at_most, last);
  if (!to) return std::nullopt;
  made->high_ = to->high_;
  return made;
}

}  // namespace dapple
