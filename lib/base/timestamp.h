// Times as text: ISO 8601 dates, times of day and durations, without a calendar of their own zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dapple/column.h"

namespace dapple::detail {

/// A point in time as its text gives it.
struct TimePoint {
  std::int64_t seconds = 0;       // since 1970-01-01T00:00:00; UTC when the text has a zone
  std::uint32_t nanoseconds = 0;  // of the second
  bool has_time = false;          // more than a date
  bool has_zone = false;          // "Z" or an offset such as +02:00
  std::uint8_t places = 0;        // digits of the second's fraction
};

/// Reads all of `text` as YYYY-MM-DD, or that with "T" or a blank and HH:MM, HH:MM:SS or
/// HH:MM:SS.fffffffff (1 to 9 digits), and a zone (Z, +HH:MM, -HH:MM, +HHMM). Years 0000 to 9999 of
/// the proleptic Gregorian calendar. Nothing for any other text, or a date that does not exist.
std::optional<TimePoint> read_time(std::string_view text) noexcept;

/// The coarsest unit that holds such a time exactly.
TimeUnit unit_of(const TimePoint& time) noexcept;

/// The time in ticks; nothing when 64 bits do not hold them, or the unit is too coarse.
std::optional<std::int64_t> ticks_of(const TimePoint& time, TimeUnit unit) noexcept;

/// Room for what the two functions below write.
inline constexpr std::size_t kTimeRoom = 40;

/// Writes ticks since 1970 as ISO 8601: a date for days, else date, "T" and a time with as many
/// digits of a fraction as the unit has; `utc` appends "Z". Years beyond 9999 or below 0 get a
/// sign.
char* write_time(char* to, std::int64_t ticks, TimeUnit unit, bool utc) noexcept;

/// Writes a duration as [-]HH:MM:SS[.f...] (hours grow as they must), or whole days as "3 days".
char* write_duration(char* to, std::int64_t ticks, TimeUnit unit) noexcept;

/// Reads what `write_duration` writes, all of `text`. Nothing for any other text, or one that the
/// unit does not hold.
std::optional<std::int64_t> read_duration(std::string_view text, TimeUnit unit) noexcept;

/// Ticks per second; days: 0.
std::int64_t ticks_per_second(TimeUnit unit) noexcept;

}  // namespace dapple::detail
