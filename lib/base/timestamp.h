// Times as text: ISO 8601 dates and times of day, and durations. Knows no time zones beyond UTC
// offsets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dapple/column.h"

namespace dapple::detail {

/// A parsed point in time.
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

/// The same of any year that has room in 64 bits of seconds: others than four digits have a sign
/// before them, as `write_time` has it.
std::optional<TimePoint> read_far_time(std::string_view text) noexcept;

/// The coarsest unit that expresses the time exactly.
TimeUnit unit_of(const TimePoint& time) noexcept;

/// The time in ticks; nothing when it does not fit 64 bits or would be the mark of a missing time,
/// or the unit is too coarse.
std::optional<std::int64_t> ticks_of(const TimePoint& time, TimeUnit unit) noexcept;

/// Room for what the two functions below write.
inline constexpr std::size_t kTimeRoom = 40;

/// Writes ticks since 1970 as ISO 8601: a date for days, otherwise date, "T" and time, with the
/// fraction's digits that the unit has. `utc` appends "Z". Years above 9999 or below 0 get a sign.
char* write_time(char* to, std::int64_t ticks, TimeUnit unit, bool utc) noexcept;

/// Writes a duration as [-]HH:MM:SS[.f...], with more digits for the hours if needed, or whole days
/// as "3 days".
char* write_duration(char* to, std::int64_t ticks, TimeUnit unit) noexcept;

/// Reads all of `text`, in the form of `write_duration` or of Python and pandas ("1 day, 2:00:00",
/// "-1 days +23:00:00"). Nothing for any other text, or a duration that the unit cannot express, or
/// that would be the mark of a missing one.
std::optional<std::int64_t> read_duration(std::string_view text, TimeUnit unit) noexcept;

/// The same for a duration that is no whole number of days, whatever unit it needs and has room in.
std::optional<TimePoint> read_length(std::string_view text) noexcept;

/// Ticks per second; 0 for days.
std::int64_t ticks_per_second(TimeUnit unit) noexcept;

}  // namespace dapple::detail
