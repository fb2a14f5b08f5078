// Numbers as text: floats in the fewest characters that read back to the same bits, integers
// plain; never dependent on a locale. Pure functions, any thread.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "dapple/value_type.h"
#include "lib/base/bytes.h"

namespace dapple::detail {

/// Room for any number: "-2.2250738585072014e-308" has 24 characters.
inline constexpr std::size_t kNumberRoom = 24;

/// Writes `value` at `to`, which has kNumberRoom bytes, and returns the end of the text. Floats
/// come out as std::to_chars has them, NaN of any sign and payload as "nan", infinities as "inf"
/// and "-inf", minus zero as "-0".
template <Value T>
char* write_number(char* to, T value) noexcept {
  return std::to_chars(to, to + kNumberRoom, value).ptr;
}
template <>
char* write_number(char* to, double value) noexcept;
template <>
char* write_number(char* to, float value) noexcept;

/// Writes a cell's value where the text has no value types. Readers of such text take every real
/// number as f64: an f32 gets the digits that give back the same value as f64 (0.1f as
/// 0.10000000149011612), or only those that tell it from other f32 when `short_floats` is set.
template <Value T>
char* write_cell(char* to, T value, bool short_floats = false) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (!short_floats) return write_number(to, static_cast<double>(value));
  }
  return write_number(to, value);
}

enum class NumberError : std::uint8_t {
  none,
  no_number,     // no number starts here
  out_of_range,  // a number that the type does not reach
};

struct NumberText {
  const char* end;  // after the longest text that makes a number
  NumberError error;
};

/// Reads the number that starts at `p`. Integers: an optional sign and decimal digits. Floats:
/// the same with a fraction and a decimal exponent, rounded to the nearest value (to zero where
/// there is none nearer), or nan, inf, infinity in any case. No blanks are skipped; the caller
/// looks at what follows `end`. A float beyond the largest finite value is out of range.
template <Value T>
NumberText read_number(const char* p, const char* end, T& value) noexcept;

/// The same to a value of type `type` at `cell`, at any address.
NumberText read_number(const char* p, const char* end, ValueType type, std::byte* cell) noexcept;

/// `text` as an error message shows it: in single quotes, bytes of what is not UTF-8 or cannot be
/// printed as \xNN, cut after 40 characters.
std::string shown(std::string_view text);

/// Throws invalid_argument, which names `file` if there is one, for a number that is none of the
/// enumerators.
void require_known(ValueType type, const std::string& file = {});

// Below: the fast paths, inline because they are what reading text spends its time in.

constexpr bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }

/// Powers of ten that are exact as a double.
inline constexpr double kExactPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

template <class F>
NumberText read_float_slowly(const char* p, const char* end, F& value) noexcept;

/// Adds the digits at `p` to `number` and returns their end. Wraps after 19 digits.
inline const char* read_digits(const char* p, const char* end, std::uint64_t& number) noexcept {
  while (p != end && is_digit(*p)) {
    number = number * 10 + static_cast<unsigned char>(*p - '0');
    ++p;
  }
  return p;
}

/// The number that eight digits make, the value of one in each byte, the first one lowest: combined
/// pairwise (SWAR).
constexpr std::uint64_t combine_eight(std::uint64_t digits) noexcept {
  digits = digits * (1 + (10 << 8)) >> 8 & 0x00FF00FF00FF00FFU;
  digits = digits * (1 + (100 << 16)) >> 16 & 0x0000FFFF0000FFFFU;
  return digits * (1 + (std::uint64_t{10000} << 32)) >> 32;
}

/// digits / 10^places where that is rounded once; false, and no value, where it is not: digits and
/// power of ten are both exact, so the one rounding of the quotient gives the correctly rounded
/// value (W. Clinger, 1990).
template <class F>
bool exact_fraction(std::uint64_t digits, std::uint64_t places, bool negative, F& value) noexcept {
  constexpr bool is_double = std::is_same_v<F, double>;
  constexpr std::uint64_t kExactDigits = std::uint64_t{1} << (is_double ? 53 : 24);
  constexpr std::uint64_t kExactPower = is_double ? 22 : 10;
  if (digits > kExactDigits || places > kExactPower) return false;
  // Of a signed number, which processors convert in one step.
  const F whole = static_cast<F>(static_cast<std::int64_t>(digits));
  value = std::copysign(whole / static_cast<F>(kExactPowersOfTen[places]), negative ? F{-1} : F{1});
  return true;
}

/// digits x 10^exponent in the same way.
template <class F>
bool exact_float(std::uint64_t digits, std::ptrdiff_t exponent, bool negative, F& value) noexcept {
  constexpr std::ptrdiff_t kExactPower = std::is_same_v<F, double> ? 22 : 10;
  if (exponent <= 0) {
    return exact_fraction(digits, static_cast<std::uint64_t>(-exponent), negative, value);
  }
  if (exponent > kExactPower || !exact_fraction(digits, 0, negative, value)) return false;
  value *= static_cast<F>(kExactPowersOfTen[static_cast<std::size_t>(exponent)]);
  return true;
}

template <class F>
NumberText read_float(const char* p, const char* end, F& value) noexcept {
  const char* const start = p;
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  std::uint64_t digits = 0;
  const char* const first = p;
  p = read_digits(p, end, digits);
  std::ptrdiff_t count = p - first, exponent = 0;
  if (p != end && *p == '.') {
    const char* const fraction = ++p;
    p = read_digits(p, end, digits);
    exponent = fraction - p;
    count += p - fraction;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    const char* power = p + 1;
    const bool down = power != end && *power == '-';
    if (power != end && (*power == '-' || *power == '+')) ++power;
    std::uint64_t number = 0;
    const char* const stop = read_digits(power, end, number);
    if (stop - power > 4) return read_float_slowly(start, end, value);
    if (stop != power) {  // without digits the number ends before its e
      exponent += down ? -static_cast<std::ptrdiff_t>(number) : static_cast<std::ptrdiff_t>(number);
      p = stop;
    }
  }
  if (count == 0 || count > 19 || !exact_float(digits, exponent, negative, value)) {
    return read_float_slowly(start, end, value);
  }
  return {p, NumberError::none};
}

/// False, and no value, for an integer that the type does not reach.
template <class I>
bool exact_integer(std::uint64_t digits, bool negative, I& value) noexcept {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<I>::max());
  const std::uint64_t limit = !negative ? kMax : std::is_signed_v<I> ? kMax + 1 : 0;
  if (digits > limit) return false;
  value = static_cast<I>(negative ? 0 - digits : digits);
  return true;
}

template <class I>
NumberText read_integer(const char* p, const char* end, I& value) noexcept {
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  std::uint64_t digits = 0;
  const char* const first = p;
  p = read_digits(p, end, digits);
  if (p == first) return {p, NumberError::no_number};
  if (p - first > 19) {  // leading zeros, or close to or beyond the end of 64 bits
    if (std::from_chars(first, p, digits).ec != std::errc()) return {p, NumberError::out_of_range};
  }
  const bool fits = exact_integer(digits, negative, value);
  return {p, fits ? NumberError::none : NumberError::out_of_range};
}

template <Value T>
inline NumberText read_number(const char* p, const char* end, T& value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return read_float(p, end, value);
  } else {
    return read_integer(p, end, value);
  }
}

}  // namespace dapple::detail
