#include "lib/base/text.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "dapple/error.h"
#include "lib/base/letters.h"
#include "lib/base/utf8.h"

namespace dapple::detail {

namespace {

constexpr std::size_t kShownCharacters = 40;

char* copy(char* to, std::string_view text) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

/// The eight decimal digits of `value` < 10^8, a byte each, the first one lowest. Halves, pairs and
/// digits are divided side by side, by products: 5243 / 2^19 is 1/100 for numbers of four digits,
/// 103 / 2^10 is 1/10 for those of two.
std::uint64_t eight_digits(std::uint32_t value) noexcept {
  const std::uint64_t fours = value / 10'000 | std::uint64_t{value % 10'000} << 32;
  const std::uint64_t hundreds = fours * 5243 >> 19 & 0x0000007F0000007F;
  const std::uint64_t pairs = hundreds | (fours - 100 * hundreds) << 16;
  const std::uint64_t tens = pairs * 103 >> 10 & 0x000F000F000F000F;
  return tens | (pairs - 10 * tens) << 8;
}

/// Appends the digits after the point, without zeros at their end. REQUIRES one that is not zero.
template <class Digits>
char* write_places(char* to, Digits digits) noexcept {
  constexpr auto kZeros = static_cast<Digits>(0x3030303030303030);
  const Digits text = digits | kZeros;
  *to++ = '.';
  std::memcpy(to, &text, sizeof text);
  return to + (std::bit_width(digits) + 7) / 8;
}

/// Writes decimal / 10^4, which is no integer. REQUIRES decimal < 10^8. Takes no branch for the
/// number of digits, which differs from value to value.
char* write_four_places(char* to, std::uint32_t decimal) noexcept {
  constexpr std::uint32_t kLastDigit = 1U << 24;  // is written even if it is zero
  const std::uint64_t digits = eight_digits(decimal);
  const auto front = static_cast<std::uint32_t>(digits);
  const auto behind = static_cast<std::uint32_t>(digits >> 32);
  const int zeros = std::countr_zero(front | kLastDigit) / 8;
  const std::uint32_t text = (front | 0x30303030U) >> 8 * zeros;
  std::memcpy(to, &text, sizeof text);
  return write_places(to + 4 - zeros, behind);
}

/// Writes `value` when it has at most kPlaces decimals, the usual case in tables, at a sixth of the
/// general algorithm's cost (three decimals: std::to_chars 104 ns, one digit after the other 24,
/// all of them side by side 18; Xeon of family 6, model 167); nullptr when it has more, or is so
/// small or large that fewer characters may do with an exponent. REQUIRES 0.001 <= value < 2^20, no
/// integer below 10^5.
template <int kPlaces>
char* write_short_decimal(char* to, double value) noexcept {
  static_assert(kPlaces == 4 || kPlaces == 8);
  constexpr std::int64_t kScale = kPlaces == 4 ? 10'000 : 100'000'000;
  // Values this size lie closer together than decimals of eight places, so at most one such
  // decimal reads back to `value`, and without its trailing zeros it is the shortest.
  const auto decimal = static_cast<std::int64_t>(value * kScale + 0.5);
  if (static_cast<double>(decimal) / kScale != value) return nullptr;
  if (kPlaces == 4 && decimal < 100'000'000) {
    return write_four_places(to, static_cast<std::uint32_t>(decimal));
  }
  const auto fraction = static_cast<std::uint32_t>(decimal % kScale);
  if (fraction == 0) return nullptr;
  to = std::to_chars(to, to + kNumberRoom, static_cast<std::uint32_t>(decimal / kScale)).ptr;
  return write_places(to, eight_digits(fraction) >> 8 * (8 - kPlaces));
}

/// The integers whose text std::to_chars would not shorten with an exponent.
template <class F>
bool plain_integer(F value) noexcept {
  constexpr F kExact = static_cast<F>(std::uint64_t{1} << std::numeric_limits<F>::digits);
  if (!(value > -kExact && value < kExact)) return false;
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<F>(whole) == value && whole % 100'000 != 0;
}

template <class F>
char* write_float(char* to, F value) noexcept {
  if (plain_integer(value)) {
    return std::to_chars(to, to + kNumberRoom, static_cast<std::int64_t>(value)).ptr;
  }
  if constexpr (std::is_same_v<F, double>) {
    const double magnitude = std::fabs(value);
    if (magnitude >= 0.001 && magnitude < 0x1p20) {
      *to = '-';
      char* const start = to + (value < 0);
      if (char* const end = write_short_decimal<4>(start, magnitude)) return end;
      if (char* const end = write_short_decimal<8>(start, magnitude)) return end;
    }
  }
  if (std::isnan(value)) return copy(to, "nan");
  return std::to_chars(to, to + kNumberRoom, value).ptr;
}

/// True when the number at [p, end), which std::from_chars found out of range, is too large
/// rather than too close to zero.
bool is_overflow(const char* p, const char* end) noexcept {
  std::int64_t magnitude = 0;  // decimal places of the first digit that is not zero
  bool point = false, found = false;
  for (; p != end && (is_digit(*p) || *p == '.'); ++p) {
    if (*p == '.') {
      point = true;
      continue;
    }
    found = found || *p != '0';
    if (!point && found) ++magnitude;
    if (point && !found) --magnitude;
  }
  std::int64_t exponent = 0;
  if (p != end) {
    ++p;
    const bool down = *p == '-';
    if (*p == '+') ++p;
    if (std::from_chars(p, end, exponent).ec != std::errc()) return !down;
  }
  return exponent > -magnitude;  // their sum may be beyond 2^63
}

}  // namespace

template <>
char* write_number(char* to, double value) noexcept {
  return write_float(to, value);
}

template <>
char* write_number(char* to, float value) noexcept {
  return write_float(to, value);
}

template <class F>
NumberText read_float_slowly(const char* p, const char* end, F& value) noexcept {
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const F sign = negative ? F{-1} : F{1};
  if (p == end) return {p, NumberError::no_number};
  if (!is_digit(*p) && *p != '.') {
    const std::string_view text(p, end);
    for (std::string_view word : {"infinity", "inf"}) {
      if (!starts_with_word(text, word)) continue;
      value = sign * std::numeric_limits<F>::infinity();
      return {p + word.size(), NumberError::none};
    }
    if (!starts_with_word(text, "nan")) return {p, NumberError::no_number};
    value = std::copysign(std::numeric_limits<F>::quiet_NaN(), sign);
    return {p + 3, NumberError::none};
  }
  const auto [stop, error] = std::from_chars(p, end, value);
  if (error == std::errc::invalid_argument) return {p, NumberError::no_number};
  if (error == std::errc::result_out_of_range) {
    if (is_overflow(p, stop)) return {stop, NumberError::out_of_range};
    value = 0;
  }
  value *= sign;
  return {stop, NumberError::none};
}

template NumberText read_float_slowly(const char*, const char*, float&) noexcept;
template NumberText read_float_slowly(const char*, const char*, double&) noexcept;

NumberText read_number(const char* p, const char* end, ValueType type, std::byte* cell) noexcept {
  return visit_type(type, [&](auto value) {
    const NumberText text = read_number(p, end, value);
    if (text.error == NumberError::none) std::memcpy(cell, &value, sizeof value);
    return text;
  });
}

std::string shown(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (std::size_t n = 0; n < kShownCharacters && !text.empty(); ++n) {
    const auto c = next_utf8(text);
    const std::size_t size = c ? c->size : 1;
    if (c && is_printable(c->value)) {
      out += text.substr(0, size);
    } else {
      for (const char part : text.substr(0, size)) {
        const auto byte = static_cast<unsigned char>(part);
        (out += "\\x") += {kHex[byte >> 4], kHex[byte & 15]};
      }
    }
    text.remove_prefix(size);
  }
  if (!text.empty()) out += "...";
  return out + "'";
}

void require_known(ValueType type, const std::string& file) {
  const auto code = static_cast<std::uint8_t>(type);
  if (value_type_of_code(code)) return;
  throw Error(Errc::invalid_argument, file, std::nullopt,
              "there is no value type " + std::to_string(code) + "; they are 1, u8, to 10, f64");
}

}  // namespace dapple::detail
