#include "lib/base/timestamp.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <limits>

#include "lib/base/bytes.h"

namespace dapple::detail {

namespace {

constexpr std::int64_t kDaySeconds = 86400;
constexpr std::uint32_t kNanos = 1'000'000'000;

/// Eight characters of two-digit numbers at fixed places, all looked at together (SWAR).
class DigitPairs {
 public:
  /// `form` has a 0 where `text` has a digit, and the other characters of the text.
  DigitPairs(const char* text, const char (&form)[9]) noexcept {
    std::uint64_t digits = load(text) ^ load(form), too_large = 0x8080808080808080U;
    // Adding this to a value sets its highest bit if it is no digit, or not 0 where it must be.
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t values = form[i] == '0' ? 10 : 1;
      too_large -= values << (8 * i);
    }
    matches_ = (((digits + too_large) | digits) & 0x8080808080808080U) == 0;
    pairs_ = (digits * (1 + (10 << 8))) >> 8;
  }

  bool matches() const noexcept { return matches_; }
  /// The value of the two digits at character `i`. REQUIRES matches().
  unsigned at(int i) const noexcept { return static_cast<unsigned>(pairs_ >> (8 * i) & 0xff); }

 private:
  static std::uint64_t load(const char* p) noexcept {
    return load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(p));
  }

  std::uint64_t pairs_;
  bool matches_;
};

/// Parses text from front to back; every function returns false when the text does not match.
class Cursor {
 public:
  explicit Cursor(std::string_view text) noexcept : text_(text) {}

  bool at_end() const noexcept { return text_.empty(); }
  char peek() const noexcept { return text_.empty() ? '\0' : text_.front(); }
  bool take(char c) noexcept {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view text) noexcept {
    if (!text_.starts_with(text)) return false;
    text_.remove_prefix(text.size());
    return true;
  }
  /// Exactly `digits` digits, of a number below `limit`.
  bool number(int digits, unsigned limit, unsigned& value) noexcept {
    if (text_.size() < static_cast<std::size_t>(digits)) return false;
    value = 0;
    for (int i = 0; i < digits; ++i) {
      const auto digit = static_cast<unsigned char>(text_[static_cast<std::size_t>(i)] - '0');
      if (digit > 9) return false;
      value = value * 10 + digit;
    }
    text_.remove_prefix(static_cast<std::size_t>(digits));
    return value < limit;
  }
  /// One to nine digits of a fraction, as nanoseconds.
  bool fraction(std::uint32_t& nanoseconds, std::uint8_t& places) noexcept {
    nanoseconds = 0;
    places = 0;
    std::uint32_t unit = kNanos / 10;
    while (static_cast<unsigned char>(peek() - '0') <= 9) {
      if (places == 9) return false;
      nanoseconds += static_cast<std::uint32_t>(peek() - '0') * unit;
      unit /= 10;
      ++places;
      text_.remove_prefix(1);
    }
    return places > 0;
  }
  /// Any number of digits.
  bool integer(std::int64_t& value) noexcept {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0 || peek() == '-') return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  std::string_view rest() const noexcept { return text_; }
  void skip(std::size_t n) noexcept { text_.remove_prefix(n); }

 private:
  std::string_view text_;
};

bool read_zone(Cursor& in, std::int64_t& offset) noexcept {
  offset = 0;
  if (in.take('Z')) return true;
  const bool east = in.take('+');
  if (!east && !in.take('-')) return false;
  unsigned hours = 0, minutes = 0;
  if (!in.number(2, 24, hours)) return false;
  in.take(':');
  if (!in.number(2, 60, minutes)) return false;
  const std::int64_t seconds = (hours * 60 + minutes) * 60;
  offset = east ? seconds : -seconds;
  return true;
}

bool read_clock(Cursor& in, TimePoint& time) noexcept {
  unsigned hours = 0, minutes = 0, seconds = 0;
  const std::string_view text = in.rest();
  const bool has_seconds = text.size() >= 8 && text[5] == ':';
  if (has_seconds) {
    const DigitPairs clock(text.data(), "00:00:00");
    hours = clock.at(0);
    minutes = clock.at(3);
    seconds = clock.at(6);
    if (!clock.matches() || hours >= 24 || minutes >= 60 || seconds >= 60) return false;
    in.skip(8);
    if (in.take('.') && !in.fraction(time.nanoseconds, time.places)) return false;
  } else if (!in.number(2, 24, hours) || !in.take(':') || !in.number(2, 60, minutes) ||
             in.peek() == ':') {
    return false;
  }
  time.seconds += (hours * 60 + minutes) * 60 + seconds;
  time.has_time = true;
  return true;
}

char* write_padded(char* to, std::uint64_t value, int digits) noexcept {
  char text[20];
  const auto size = std::to_chars(text, text + sizeof text, value).ptr - text;
  for (auto i = size; i < digits; ++i) *to++ = '0';
  std::memcpy(to, text, static_cast<std::size_t>(size));
  return to + size;
}

int places_of(TimeUnit unit) noexcept {
  return unit == TimeUnit::nanosecond    ? 9
         : unit == TimeUnit::microsecond ? 6
         : unit == TimeUnit::millisecond ? 3
                                         : 0;
}

char* write_fraction(char* to, std::uint64_t ticks, TimeUnit unit) noexcept {
  if (places_of(unit) == 0) return to;
  *to++ = '.';
  return write_padded(to, ticks, places_of(unit));
}

/// Quotient and remainder, the remainder never negative.
struct Split {
  std::int64_t whole, rest;
};
Split split(std::int64_t ticks, std::int64_t by) noexcept {
  Split s{ticks / by, ticks % by};
  if (s.rest < 0) s = {s.whole - 1, s.rest + by};
  return s;
}

}  // namespace

std::int64_t ticks_per_second(TimeUnit unit) noexcept {
  constexpr std::int64_t ticks[] = {0, 1, 1000, 1'000'000, 1'000'000'000};
  return ticks[static_cast<std::size_t>(unit)];
}

std::optional<TimePoint> read_time(std::string_view text) noexcept {
  using namespace std::chrono;
  if (text.size() < 10) return std::nullopt;
  const DigitPairs month_of(text.data(), "0000-00-"), day_of(text.data() + 2, "00-00-00");
  if (!month_of.matches() || !day_of.matches()) return std::nullopt;
  const year_month_day date{year(static_cast<int>(month_of.at(0) * 100 + month_of.at(2))),
                            month(month_of.at(5)), day(day_of.at(6))};
  if (!date.ok()) return std::nullopt;
  Cursor in(text.substr(10));
  TimePoint time;
  time.seconds = sys_days(date).time_since_epoch().count() * kDaySeconds;
  if (in.at_end()) return time;
  if (!in.take('T') && !in.take(' ')) return std::nullopt;
  if (!read_clock(in, time)) return std::nullopt;
  if (in.at_end()) return time;
  std::int64_t offset = 0;
  if (!read_zone(in, offset) || !in.at_end()) return std::nullopt;
  time.seconds -= offset;
  time.has_zone = true;
  return time;
}

std::optional<TimePoint> read_far_time(std::string_view text) noexcept {
  constexpr std::int64_t kCycleSeconds = 146097 * kDaySeconds;  // of 400 years
  if (!text.starts_with('+') && !text.starts_with('-')) return read_time(text);
  std::int64_t year = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), year);
  if (error != std::errc() || year < 0 || end - text.data() < 5) return std::nullopt;
  const bool before = text.front() == '-';
  const Split cycles = split(before ? -year : year, 400);
  // The same day of a year of four digits, on the side of 1970 that is nearer.
  const std::int64_t near = before ? 0 : 2000;
  std::array<char, 40> nearby{};
  const std::string_view rest(end, text.data() + text.size());
  if (rest.size() > nearby.size() - 4) return std::nullopt;  // no time is that long
  char* const after =
      write_padded(nearby.data(), static_cast<std::uint64_t>(near + cycles.rest), 4);
  std::copy(rest.begin(), rest.end(), after);
  auto time = read_time({nearby.data(), rest.size() + 4});
  std::int64_t apart = 0;
  if (!time || __builtin_mul_overflow(cycles.whole - near / 400, kCycleSeconds, &apart) ||
      __builtin_add_overflow(time->seconds, apart, &time->seconds)) {
    return std::nullopt;
  }
  return time;
}

TimeUnit unit_of(const TimePoint& time) noexcept {
  if (time.places > 6) return TimeUnit::nanosecond;
  if (time.places > 3) return TimeUnit::microsecond;
  if (time.places > 0) return TimeUnit::millisecond;
  return time.has_time ? TimeUnit::second : TimeUnit::day;
}

std::optional<std::int64_t> ticks_of(const TimePoint& time, TimeUnit unit) noexcept {
  if (unit == TimeUnit::day) {
    const Split day = split(time.seconds, kDaySeconds);
    return day.rest == 0 && time.nanoseconds == 0 ? std::optional(day.whole) : std::nullopt;
  }
  const std::int64_t per_second = ticks_per_second(unit);
  std::int64_t seconds = time.seconds, fraction = 0;
  if (time.nanoseconds != 0) {  // spares most times the divisions
    const std::int64_t tick = kNanos / per_second;
    if (time.nanoseconds % tick != 0) return std::nullopt;
    fraction = time.nanoseconds / tick;
    if (seconds < 0) {  // towards zero: the second before the first ticks is out of range
      ++seconds;
      fraction -= per_second;
    }
  }
  std::int64_t ticks = 0;
  if (__builtin_mul_overflow(seconds, per_second, &ticks) ||
      __builtin_add_overflow(ticks, fraction, &ticks) ||
      ticks == std::numeric_limits<std::int64_t>::min()) {  // which marks missing times
    return std::nullopt;
  }
  return ticks;
}

char* write_time(char* to, std::int64_t ticks, TimeUnit unit, bool utc) noexcept {
  using namespace std::chrono;
  const std::int64_t per_day = unit == TimeUnit::day ? 1 : kDaySeconds * ticks_per_second(unit);
  const Split in_days = split(ticks, per_day);
  // std::chrono::year holds 16 bits: shift by whole cycles of 400 years and add them back.
  constexpr std::int64_t kCycleDays = 146097;
  const Split cycles = split(in_days.whole, kCycleDays);
  const year_month_day date{sys_days(days(cycles.rest))};
  const std::int64_t y = static_cast<int>(date.year()) + cycles.whole * 400;
  if (y < 0 || y > 9999) *to++ = y < 0 ? '-' : '+';
  to = write_padded(to, static_cast<std::uint64_t>(y < 0 ? -y : y), 4);
  *to++ = '-';
  to = write_padded(to, static_cast<unsigned>(date.month()), 2);
  *to++ = '-';
  to = write_padded(to, static_cast<unsigned>(date.day()), 2);
  if (unit == TimeUnit::day) return to;
  const Split second = split(in_days.rest, ticks_per_second(unit));
  *to++ = 'T';
  to = write_padded(to, static_cast<std::uint64_t>(second.whole / 3600), 2);
  *to++ = ':';
  to = write_padded(to, static_cast<std::uint64_t>(second.whole / 60 % 60), 2);
  *to++ = ':';
  to = write_padded(to, static_cast<std::uint64_t>(second.whole % 60), 2);
  to = write_fraction(to, static_cast<std::uint64_t>(second.rest), unit);
  if (utc) *to++ = 'Z';
  return to;
}

char* write_duration(char* to, std::int64_t ticks, TimeUnit unit) noexcept {
  const bool negative = ticks < 0;
  const std::uint64_t size = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(ticks)
                                      : static_cast<std::uint64_t>(ticks);
  if (negative) *to++ = '-';
  if (unit == TimeUnit::day) {
    to = write_padded(to, size, 1);
    std::memcpy(to, " days", 5);
    return to + 5;
  }
  const auto per_second = static_cast<std::uint64_t>(ticks_per_second(unit));
  const std::uint64_t seconds = size / per_second;
  to = write_padded(to, seconds / 3600, 2);
  *to++ = ':';
  to = write_padded(to, seconds / 60 % 60, 2);
  *to++ = ':';
  to = write_padded(to, seconds % 60, 2);
  return write_fraction(to, size % per_second, unit);
}

namespace {

struct DurationText {
  bool whole_days = false;  // `days` is all of it
  std::int64_t days = 0;
  TimePoint length;
};

/// -0.25 s as -1 s and 750,000,000 ns.
bool negate(TimePoint& length) noexcept {
  if (__builtin_sub_overflow(std::int64_t{0}, length.seconds, &length.seconds)) return false;
  if (length.nanoseconds == 0) return true;
  length.nanoseconds = static_cast<std::uint32_t>(kNanos - length.nanoseconds);
  return !__builtin_sub_overflow(length.seconds, std::int64_t{1}, &length.seconds);
}

std::optional<DurationText> parse_duration(std::string_view text) noexcept {
  DurationText read;
  Cursor in(text);
  bool negative = in.take('-');
  std::int64_t hours = 0;
  if (!in.integer(hours)) return std::nullopt;
  if (in.take(" day")) {
    in.take('s');
    read.days = negative ? -hours : hours;
    read.whole_days = in.at_end();
    if (read.whole_days) return read;
    // The time of day counts forward from a negative number of days, too.
    negative = false;
    in.take(',');
    const bool time = in.take(' ') && (in.take('+') || in.peek() != '-') && in.integer(hours);
    if (!time || hours >= 24) return std::nullopt;
  }
  unsigned minutes = 0, seconds = 0;
  TimePoint& length = read.length;
  if (!in.take(':') || !in.number(2, 60, minutes) || !in.take(':') || !in.number(2, 60, seconds) ||
      (in.take('.') && !in.fraction(length.nanoseconds, length.places)) || !in.at_end() ||
      __builtin_mul_overflow(read.days, std::int64_t{24}, &read.days) ||
      __builtin_add_overflow(hours, read.days, &hours) ||
      __builtin_mul_overflow(hours, std::int64_t{3600}, &length.seconds) ||
      __builtin_add_overflow(length.seconds, minutes * 60 + seconds, &length.seconds) ||
      (negative && !negate(length))) {
    return std::nullopt;
  }
  return read;
}

}  // namespace

std::optional<std::int64_t> read_duration(std::string_view text, TimeUnit unit) noexcept {
  const auto read = parse_duration(text);
  if (!read || read->whole_days != (unit == TimeUnit::day)) return std::nullopt;
  return read->whole_days ? std::optional(read->days) : ticks_of(read->length, unit);
}

std::optional<TimePoint> read_length(std::string_view text) noexcept {
  const auto read = parse_duration(text);
  return read && !read->whole_days ? std::optional(read->length) : std::nullopt;
}

}  // namespace dapple::detail
