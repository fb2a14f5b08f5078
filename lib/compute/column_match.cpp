#include "lib/compute/column_match.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include "dapple/error.h"
#include "lib/base/closest.h"
#include "lib/base/text.h"
#include "lib/base/timestamp.h"

namespace dapple::detail {

namespace {

Condition no_value() { return Condition::equal(std::numeric_limits<double>::quiet_NaN()); }

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

Int128 nanoseconds_of(TimeUnit unit) {
  const std::int64_t per_second = ticks_per_second(unit);
  return per_second == 0 ? Int128{86400} * kNanosPerSecond : Int128{kNanosPerSecond / per_second};
}

/// The first tick that is not before a time in nanoseconds, and the last that is not after.
struct Ticks {
  Int128 first, last;
};

Ticks ticks_around(Int128 nanoseconds, TimeUnit unit) {
  const Int128 tick = nanoseconds_of(unit);
  Int128 last = nanoseconds / tick;
  if (last * tick > nanoseconds) --last;
  return {last * tick == nanoseconds ? last : last + 1, last};
}

/// In nanoseconds.
std::optional<Int128> duration_of(std::string_view text) {
  if (const auto days = read_duration(text, TimeUnit::day)) {
    return *days * nanoseconds_of(TimeUnit::day);
  }
  const auto length = read_length(text);
  if (!length) return std::nullopt;
  return Int128{length->seconds} * kNanosPerSecond + length->nanoseconds;
}

/// Calls `f` with a bound for i64; infinite when it is beyond all of them.
template <class F>
Condition with_tick(Int128 tick, const F& f) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (tick > std::numeric_limits<std::int64_t>::max()) return f(kInfinity);
  if (tick < std::numeric_limits<std::int64_t>::min()) return f(-kInfinity);
  return f(static_cast<std::int64_t>(tick));
}

/// A value of the column's type, as a condition may be asked about it.
template <class F>
auto with_value(ValueType type, std::uint64_t bits, const F& f) {
  return visit_type(type, [&](auto tag) {
    using T = decltype(tag);
    return f(std::bit_cast<T>(static_cast<BitsOf<T>>(bits)));
  });
}

}  // namespace

ColumnMatch::ColumnMatch(const Column& column, const ColumnCondition& condition, bool nonzero,
                         const std::string& file)
    : column_(column), condition_(condition), file_(file) {
  if (nonzero && column.meaning.kind != MeaningKind::number) {
    fail("column " + shown(column.label) + " holds no numbers, of which some are zero");
  }
  candidates_ = candidates();
  interval_.emplace(*candidates_, nonzero && !wanted_);
  const auto mark = mark_of(column.meaning);
  if (wanted_ || !mark) return;
  const bool inside = with_value(column.value_type, *mark, [&](auto value) {
    return interval_->of<decltype(value)>()(value);
  });
  if (inside) excluded_ = mark;
}

/// What stored values may match.
Condition ColumnMatch::candidates() {
  if (condition_.how_ == How::missing) return missing_cells();
  const MeaningKind kind = column_.meaning.kind;
  if (condition_.how_ == How::prefix && !column_.meaning.has_words()) {
    fail("column " + shown(column_.label) + " holds no words, which start with something");
  }
  if (condition_.how_ == How::one_of && !column_.meaning.has_words()) return members();
  if (condition_.how_ == How::numbers) {
    if (kind == MeaningKind::number) return condition_.numbers_.front();
    if (Interval(condition_.numbers_.front(), false).of<double>().nan) return no_value();
    fail_bound("a number");
  }
  switch (kind) {
    case MeaningKind::number:
      break;
    case MeaningKind::boolean:
      return truth();
    case MeaningKind::timestamp:
    case MeaningKind::duration:
      return times();
    case MeaningKind::category:
    case MeaningKind::text:
      return words();
  }
  fail_bound(shown(condition_.low_.empty() ? condition_.high_ : condition_.low_));
}

Condition ColumnMatch::missing_cells() {
  wanted_ = mark_of(column_.meaning);
  if (!wanted_) return no_value();
  return with_value(column_.value_type, *wanted_, [](auto mark) {
    return mark != mark ? Condition::nan() : Condition::equal(mark);
  });
}

/// Of a list of values: the interval from the lowest to the highest, of which only these match.
Condition ColumnMatch::members() {
  if (column_.meaning.kind == MeaningKind::number ? !condition_.words_.empty()
                                                  : !condition_.numbers_.empty()) {
    fail_bound(condition_.words_.empty() ? "a number" : shown(condition_.words_.front()));
  }
  std::vector<Condition> equals = condition_.numbers_;
  for (const std::string& word : condition_.words_) {
    const ColumnCondition one = ColumnCondition::equal(word);
    equals.push_back(ColumnMatch(column_, one, false, file_).hull());
  }
  return visit_type(column_.value_type, [&](auto tag) {
    using T = decltype(tag);
    std::vector<T> values;
    for (const Condition& equal : equals) {
      const Matching<T> match = Interval(equal, false).template of<T>();
      if (!match.none() && !match.nan) values.push_back(match.low);
    }
    if (values.empty()) return no_value();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const Condition all = Condition::between(*low, *high);
    std::vector<std::uint64_t> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(),
                   [&](T value) { return member(std::bit_cast<BitsOf<T>>(value)); });
    members_ = ValueSet(bits);
    return all;
  });
}

/// The bits of a value, with one zero for both.
std::uint64_t ColumnMatch::member(std::uint64_t bits) const noexcept {
  if (!is_float(column_.value_type)) return bits;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(column_.value_type) - 1);
  return bits == sign ? 0 : bits;
}

Condition ColumnMatch::truth() const {
  if (condition_.how_ != How::equal) fail_order("equal values: truth values");
  const bool yes = condition_.low_ == "true";
  if (!yes && condition_.low_ != "false") fail_bound(shown(condition_.low_));
  return Condition::equal(yes ? 1 : 0);
}

/// Bounds between two ticks are exact, too: what is above one is above the tick before it.
Condition ColumnMatch::times() const {
  const Meaning& meaning = column_.meaning;
  const auto ticks = [&](const std::string& text) {
    if (meaning.kind == MeaningKind::duration) {
      if (const auto duration = duration_of(text)) return ticks_around(*duration, meaning.unit);
    } else if (const auto time = read_far_time(text)) {
      if (time->has_zone && meaning.zone.empty()) {
        fail("the times of column " + shown(column_.label) +
             " have no zone; they cannot be compared with " + shown(text));
      }
      return ticks_around(Int128{time->seconds} * kNanosPerSecond + time->nanoseconds,
                          meaning.unit);
    }
    fail_bound(shown(text));
  };
  const auto between = [](Int128 first, Int128 last) {
    return with_tick(first, [&](auto low) {
      return with_tick(last, [&](auto high) { return Condition::between(low, high); });
    });
  };
  switch (condition_.how_) {
    case How::above:
      return with_tick(ticks(condition_.low_).last, [](auto n) { return Condition::above(n); });
    case How::at_least:
      return with_tick(ticks(condition_.low_).first, [](auto n) { return Condition::at_least(n); });
    case How::below:
      return with_tick(ticks(condition_.high_).first, [](auto n) { return Condition::below(n); });
    case How::at_most:
      return with_tick(ticks(condition_.high_).last, [](auto n) { return Condition::at_most(n); });
    default:
      return between(ticks(condition_.low_).first, ticks(condition_.high_).last);
  }
}

Condition ColumnMatch::words() {
  const Dictionary& dictionary = *column_.meaning.words;
  const std::string &low = condition_.low_, &high = condition_.high_;
  if (condition_.how_ == How::equal) {
    return codes_where([&](std::uint64_t i) { return dictionary[i] == low; });
  }
  if (condition_.how_ == How::prefix) {
    return codes_where([&](std::uint64_t i) { return dictionary[i].starts_with(low); });
  }
  if (condition_.how_ == How::one_of) {
    if (!condition_.numbers_.empty()) fail_bound("a number");
    const std::set<std::string_view> wanted(condition_.words_.begin(), condition_.words_.end());
    return codes_where([&](std::uint64_t i) { return wanted.contains(dictionary[i]); });
  }
  const bool below = condition_.how_ == How::below || condition_.how_ == How::at_most;
  const bool above = condition_.how_ == How::above || condition_.how_ == How::at_least;
  const bool strict = condition_.how_ == How::below || condition_.how_ == How::above;
  // Whether something between two bounds, as it compares with them, is inside.
  const auto inside = [=](auto with_low, auto with_high) {
    return (below || (strict ? with_low > 0 : with_low >= 0)) &&
           (above || (strict ? with_high < 0 : with_high <= 0));
  };
  if (column_.meaning.kind == MeaningKind::text) {
    return codes_where(
        [&](std::uint64_t i) { return inside(dictionary[i] <=> low, dictionary[i] <=> high); });
  }
  if (!column_.meaning.ordered) fail_order("equal values, or by prefix: its words");
  const std::uint64_t first = below ? 0 : rank(low), last = above ? 0 : rank(high);
  return codes_where([&](std::uint64_t i) { return inside(i <=> first, i <=> last); });
}

/// The codes of the words for whose numbers `holds`.
Condition ColumnMatch::codes_where(const std::function<bool(std::uint64_t)>& holds) {
  const std::uint64_t words = column_.meaning.words->size();
  std::uint64_t low = 0, high = 0, count = 0;
  codes_.resize(words + 1);
  for (std::uint64_t i = 0; i < words; ++i) {
    if (!holds(i)) continue;
    codes_[i + 1] = true;
    high = i + 1;
    if (count++ == 0) low = high;
  }
  if (count == 0 || count == high - low + 1) codes_.clear();
  return count == 0 ? no_value() : Condition::between(low, high);
}

/// The number of a word of an ordered category.
std::uint64_t ColumnMatch::rank(std::string_view wanted) const {
  constexpr std::uint64_t kMost = 10000;  // words are compared
  const Dictionary& dictionary = *column_.meaning.words;
  for (std::uint64_t i = 0; i < dictionary.size(); ++i) {
    if (dictionary[i] == wanted) return i;
  }
  const auto meant = closest(wanted, std::min(dictionary.size(), kMost),
                             [&](std::uint64_t i) { return dictionary[i]; });
  fail("column " + shown(column_.label) + " has no word " + shown(wanted) +
       (meant ? "; did you mean " + shown(dictionary[*meant]) + "?" : ""));
}

void ColumnMatch::fail(std::string detail) const {
  throw Error(Errc::invalid_argument, file_, std::nullopt, std::move(detail));
}

void ColumnMatch::fail_bound(const std::string& bound) const {
  const Meaning& meaning = column_.meaning;
  std::string_view held = "words";
  if (meaning.kind == MeaningKind::number) held = "numbers";
  if (meaning.kind == MeaningKind::boolean) held = "true and false";
  if (meaning.kind == MeaningKind::timestamp) {
    held = "times such as 2024-01-31 or 2024-01-31T12:30:00";
  } else if (meaning.kind == MeaningKind::duration) {
    held = "durations such as 36:00:00 or 3 days";
  }
  fail("column " + shown(column_.label) + " holds " + std::string(held) +
       "; it cannot be compared with " + bound);
}

void ColumnMatch::fail_order(const std::string& what) const {
  fail("column " + shown(column_.label) + " can only be searched for " + what + " have no order");
}

}  // namespace dapple::detail
