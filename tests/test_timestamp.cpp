#include <chrono>
#include <limits>
#include <string>

#include "lib/base/timestamp.h"
#include "tests/check.h"

using namespace dapple;
using namespace dapple::detail;

namespace {

std::string time_text(std::int64_t ticks, TimeUnit unit, bool utc = false) {
  char text[kTimeRoom];
  return {text, write_time(text, ticks, unit, utc)};
}

std::string duration_text(std::int64_t ticks, TimeUnit unit) {
  char text[kTimeRoom];
  return {text, write_duration(text, ticks, unit)};
}

}  // namespace

TEST_CASE("timestamp: every day of 800 years is written and read as std::chrono has it") {
  using namespace std::chrono;
  const sys_days first = year(1601) / January / 1;
  for (sys_days day = first; day < sys_days(year(2401) / January / 1); day += days(1)) {
    const year_month_day date(day);
    char expected[16];
    std::snprintf(expected, sizeof expected, "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    const std::int64_t ticks = day.time_since_epoch().count();
    REQUIRE(time_text(ticks, TimeUnit::day) == expected);
    const auto time = read_time(expected);
    REQUIRE(time);
    REQUIRE(ticks_of(*time, TimeUnit::day) == ticks);
  }
}

TEST_CASE("timestamp: times of day, fractions and zones") {
  const auto time = read_time("2024-02-29T23:59:58.123456+02:00");
  REQUIRE(time);
  CHECK(time->has_zone);
  CHECK(unit_of(*time) == TimeUnit::microsecond);
  const auto ticks = ticks_of(*time, TimeUnit::microsecond);
  REQUIRE(ticks);
  CHECK(time_text(*ticks, TimeUnit::microsecond, true) == "2024-02-29T21:59:58.123456Z");
  CHECK_FALSE(ticks_of(*time, TimeUnit::millisecond));
  CHECK(read_time("1969-12-31 23:59:59.5")->seconds == -1);
  CHECK(time_text(-500, TimeUnit::millisecond) == "1969-12-31T23:59:59.500");
  CHECK(unit_of(*read_time("2000-01-01")) == TimeUnit::day);
  CHECK(unit_of(*read_time("2000-01-01 00:00")) == TimeUnit::second);
  CHECK(unit_of(*read_time("2000-01-01 00:00:00.0000001Z")) == TimeUnit::nanosecond);
}

TEST_CASE("timestamp: what is no time, or does not exist, is not read as one") {
  for (const char* text :
       {"", "2024", "2024-1-01", "2023-02-29", "2024-13-01", "2024-00-10", "2024-01-32",
        "2024-01-01T", "2024-01-01T24:00", "2024-01-01T10:60", "2024-01-01T10:00:60",
        "2024-01-01T10:00:00.", "2024-01-01T10:00:00.1234567890", "2024-01-01x",
        "2024-01-01T10:00Zx", "2024-01-01T10:00+25:00", "2024-01-01Z", " 2024-01-01"}) {
    CAPTURE(text);
    CHECK_FALSE(read_time(text));
  }
}

TEST_CASE("timestamp: any other character makes no time of one") {
  const std::string time = "2011-11-11T11:11:11";
  for (std::size_t i = 0; i < time.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      std::string text = time;
      text[i] = static_cast<char>(c);
      CAPTURE(text);
      const bool digit = time[i] == '1' || time[i] == '2' || time[i] == '0';
      const bool fits = c >= '0' && c <= (i < 4 || i == 9 || i == 12 || i == 15 || i == 18 ? '9'
                                          : i == 5                                         ? '1'
                                          : i == 6 || i == 11                              ? '2'
                                          : i == 8                                         ? '2'
                                                                                           : '5');
      const bool blank = i == 10 && c == ' ';
      CHECK(read_time(text).has_value() == (digit ? fits : blank || text == time));
    }
  }
}

TEST_CASE("timestamp: the largest and smallest ticks can be written") {
  using Limits = std::numeric_limits<std::int64_t>;
  CHECK(time_text(Limits::max(), TimeUnit::nanosecond) == "2262-04-11T23:47:16.854775807");
  CHECK(time_text(Limits::min(), TimeUnit::nanosecond) == "1677-09-21T00:12:43.145224192");
  CHECK(time_text(Limits::max(), TimeUnit::second).starts_with("+292277026596-12-04T15:30:07"));
  CHECK(time_text(Limits::min(), TimeUnit::day).starts_with('-'));
  CHECK(duration_text(Limits::min(), TimeUnit::second).starts_with("-2562047788015215:30:08"));
}

TEST_CASE("timestamp: times of far years are read back where years may be far") {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const TimeUnit unit : {TimeUnit::second, TimeUnit::millisecond, TimeUnit::microsecond}) {
    for (const std::int64_t ticks :
         {Limits::min() + 1, Limits::min() / 2, std::int64_t{-62167219201}, std::int64_t{-1},
          std::int64_t{253402300800}, Limits::max() / 2, Limits::max() - 1, Limits::max()}) {
      const std::string text = time_text(ticks, unit);
      CAPTURE(text);
      const auto time = read_far_time(text);
      REQUIRE(time);
      CHECK(ticks_of(*time, unit) == ticks);
    }
  }
  CHECK(read_far_time("-0001-12-31")->seconds == -62167219200 - 86400);
  CHECK(read_far_time("+10000-01-01T00:00:00Z")->has_zone);
  CHECK_FALSE(read_far_time("+292277026597-01-01"));
  CHECK_FALSE(read_far_time("-292277022658-01-01"));
  for (const char* text : {"+", "-", "+2024", "+204-01-01", "+-2024-01-01", "10000-01-01",
                           "+10000-02-30", "+9223372036854775808-01-01", "--2024-01-01"}) {
    CAPTURE(text);
    CHECK_FALSE(read_far_time(text));
  }
}

TEST_CASE("timestamp: all ticks but the mark of a missing time are read back") {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto read_back = [](std::int64_t ticks, TimeUnit unit) {
    const auto time = read_time(time_text(ticks, unit));
    return time ? ticks_of(*time, unit) : std::nullopt;
  };
  constexpr std::int64_t kFewest = Limits::min() + 1, kSecond = 1'000'000'000;
  for (const std::int64_t ticks :
       {kFewest, kFewest + 1, kFewest + kSecond, Limits::min() / kSecond * kSecond,
        Limits::min() / kSecond * kSecond - 1, -kSecond, std::int64_t{-1}, std::int64_t{0},
        Limits::max() / kSecond * kSecond, Limits::max()}) {
    CAPTURE(ticks);
    CHECK(read_back(ticks, TimeUnit::nanosecond) == ticks);
  }
  CHECK_FALSE(read_back(Limits::min(), TimeUnit::nanosecond));
  CHECK_FALSE(ticks_of(*read_time("1677-09-21T00:12:43.145224191"), TimeUnit::nanosecond));
  CHECK_FALSE(ticks_of(*read_time("2262-04-11T23:47:16.854775808"), TimeUnit::nanosecond));
  for (const char* end : {"0000-01-01T00:00:00.000001", "9999-12-31T23:59:59.999999"}) {
    const auto ticks = ticks_of(*read_time(end), TimeUnit::microsecond);
    REQUIRE(ticks);
    CHECK(time_text(*ticks, TimeUnit::microsecond) == end);
  }
  for (const TimeUnit unit : {TimeUnit::day, TimeUnit::second, TimeUnit::millisecond,
                              TimeUnit::microsecond, TimeUnit::nanosecond}) {
    CHECK(read_duration(duration_text(kFewest, unit), unit) == kFewest);
    CHECK(read_duration(duration_text(Limits::max(), unit), unit) == Limits::max());
    CHECK_FALSE(read_duration(duration_text(Limits::min(), unit), unit));
  }
}

TEST_CASE("timestamp: durations are read back as they are written") {
  for (const TimeUnit unit : {TimeUnit::day, TimeUnit::second, TimeUnit::millisecond,
                              TimeUnit::microsecond, TimeUnit::nanosecond}) {
    for (const std::int64_t ticks : {0L, 1L, -1L, 59L, 86399L, -86400123456789L, 1L << 62}) {
      const std::string text = duration_text(ticks, unit);
      CAPTURE(text);
      CHECK(read_duration(text, unit) == ticks);
    }
  }
  CHECK(duration_text(90061, TimeUnit::second) == "25:01:01");
  const auto length = [](const char* text) {
    const auto read = read_length(text);
    return read ? std::pair(read->seconds, std::int64_t{read->nanoseconds})
                : std::pair(std::int64_t{-1}, std::int64_t{-1});
  };
  CHECK(length("23999999999:59:59.999999") ==
        std::pair<std::int64_t, std::int64_t>(86399999999999, 999999000));
  CHECK(length("-23999999976:00:00") == std::pair<std::int64_t, std::int64_t>(-86399999913600, 0));
  CHECK(length("-00:00:00.25") == std::pair<std::int64_t, std::int64_t>(-1, 750000000));
  CHECK(length("-1 days +23:00:00") == std::pair<std::int64_t, std::int64_t>(-3600, 0));
  CHECK_FALSE(read_length("1 day"));
  CHECK_FALSE(read_length("9223372036854775807:00:00"));
  CHECK_FALSE(read_duration("1:00", TimeUnit::second));
  CHECK_FALSE(read_duration("01:00:00.5", TimeUnit::second));
  CHECK_FALSE(read_duration("--1 days", TimeUnit::day));
}

TEST_CASE("timestamp: durations are read as Python and pandas write them") {
  const auto seconds = [](const char* text) { return read_duration(text, TimeUnit::second); };
  CHECK(seconds("0 days 01:00:00") == 3600);
  CHECK(seconds("1 day, 2:03:04") == 86400 + 2 * 3600 + 3 * 60 + 4);
  CHECK(seconds("-1 days +23:00:00") == -3600);
  CHECK(seconds("-1 day, 23:59:59") == -1);
  CHECK(seconds("-0 days 00:00:01") == 1);
  CHECK(read_duration("2 days 00:00:00.000000005", TimeUnit::nanosecond) ==
        std::int64_t{2} * 86400 * 1'000'000'000 + 5);
  CHECK(read_duration("1 day", TimeUnit::day) == 1);
  CHECK(read_duration("-3 days", TimeUnit::day) == -3);
  for (const char* text :
       {"1 days", "1 days ", "1 day,", "1 days 24:00:00", "1 days -01:00:00", "1 days +-1:00:00",
        "1 days ++01:00:00", "1 daysx 01:00:00", "1  days 01:00:00", "1 days  01:00:00",
        "106751991167301 days 00:00:00", "-9223372036854775807 days +23:00:00"}) {
    CAPTURE(text);
    CHECK_FALSE(seconds(text));
  }
  CHECK_FALSE(read_duration("1 days 01:00:00", TimeUnit::day));
  // The smallest number of ticks is the mark of a missing duration.
  CHECK_FALSE(read_duration("-106752 days +00:12:43.145224192", TimeUnit::nanosecond));
  CHECK(read_duration("-106752 days +00:12:43.145224193", TimeUnit::nanosecond) ==
        std::numeric_limits<std::int64_t>::min() + 1);
}
