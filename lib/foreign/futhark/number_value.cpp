// What elements are worth.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "lib/base/half.h"
#include "lib/base/text.h"
#include "lib/foreign/futhark/number.h"

namespace dapple::detail::futhark {

namespace {

using Form = Numeral::Form;

constexpr std::uint64_t kLargestWord = std::numeric_limits<std::uint64_t>::max();

// Low 64 bits of the magnitude; whether there were more.
std::uint64_t magnitude_of(const Numeral& n, bool& overflow) noexcept {
  std::uint64_t value = 0;
  overflow = false;
  for (const char c : n.digits) {
    if (c == '_') continue;
    std::uint64_t scaled = 0;
    overflow |= __builtin_mul_overflow(value, std::uint64_t{n.base}, &scaled);
    overflow |= __builtin_add_overflow(scaled, std::uint64_t{digit_value(c)}, &value);
  }
  return value;
}

std::uint64_t integer_value(const Numeral& n) noexcept {
  bool overflow = false;
  const std::uint64_t magnitude = magnitude_of(n, overflow);
  const std::uint64_t wrapped = n.negative ? 0 - magnitude : magnitude;
  if (!n.saturates) return wrapped;
  if (n.type == ElementType::u64) return overflow ? kLargestWord : wrapped;
  const std::uint64_t limit = (kLargestWord >> 1) + n.negative;
  if (overflow || magnitude > limit) return n.negative ? 0 - limit : limit;
  return wrapped;
}

template <class F>
F hexadecimal_value(std::string_view digits) {
  std::string plain(digits);
  const std::size_t power = std::min(plain.find_first_of("pP"), plain.size());
  if (plain.substr(power).substr(0, 2).ends_with('+')) plain.erase(power + 1, 1);
  F value = 0;
  const char* const end = plain.data() + plain.size();
  const auto read = std::from_chars(plain.data(), end, value, std::chars_format::hex);
  if (read.ec == std::errc()) return value;
  // Too large or too small: in bits, the place of the first digit that is not zero tells.
  const auto first = static_cast<std::int64_t>(plain.find_first_not_of("0."));
  const auto point = static_cast<std::int64_t>(std::min(plain.find('.'), power));
  const std::int64_t place = 4 * (point - first);
  std::int64_t shift = 0;
  const bool far = power < plain.size() &&
                   std::from_chars(plain.data() + power + 1, end, shift).ec != std::errc();
  const bool down = far ? plain[power + 1] == '-' : shift < -place;
  return down ? 0 : std::numeric_limits<F>::infinity();
}

template <class F>
F decimal_value(std::string_view digits) {
  std::string plain;
  if (digits.find('_') != std::string_view::npos) {
    for (const char c : digits) {
      if (c != '_') plain += c;
    }
    digits = plain;
  }
  F value = 0;
  const NumberText read = read_number(digits.data(), digits.data() + digits.size(), value);
  if (read.error == NumberError::out_of_range) return std::numeric_limits<F>::infinity();
  return value;
}

template <class F>
F real_value(const Numeral& n) {
  F magnitude = 0;
  if (n.form == Form::nan) {
    magnitude = std::numeric_limits<F>::quiet_NaN();
  } else if (n.form == Form::infinity) {
    magnitude = std::numeric_limits<F>::infinity();
  } else {
    magnitude = n.base == 16 ? hexadecimal_value<F>(n.digits) : decimal_value<F>(n.digits);
  }
  return std::copysign(magnitude, n.negative ? F{-1} : F{1});
}

// The untyped readers make every real a double first, and round that to the smaller types.
template <Dialect dialect>
float single_value(const Numeral& n) {
  if constexpr (dialect == Dialect::typed) return real_value<float>(n);
  return static_cast<float>(real_value<double>(n));
}

template <Dialect dialect>
float half_value(const Numeral& n) {
  if constexpr (dialect == Dialect::typed) {
    return half_to_float(float_to_half_truncated(real_value<float>(n)));
  }
  const double value = real_value<double>(n);
  if (value == 0) return 0;  // they lose the sign of an exact zero here
  return half_to_float(float_to_half_nearest(static_cast<float>(value)));
}

}  // namespace

template <Dialect dialect>
std::uint64_t value_of(const Numeral& n) {
  switch (n.type) {
    case ElementType::f16:
      return std::bit_cast<std::uint32_t>(half_value<dialect>(n));
    case ElementType::f32:
      return std::bit_cast<std::uint32_t>(single_value<dialect>(n));
    case ElementType::f64:
      return std::bit_cast<std::uint64_t>(real_value<double>(n));
    case ElementType::boolean:
      return n.negative ? 0 : 1;
    default:
      return integer_value(n);
  }
}

std::optional<std::uint64_t> dimension_of(Numeral numeral) {
  numeral.type = ElementType::u64;
  numeral.saturates = true;  // too large, and negative, is too large
  const std::uint64_t value = integer_value(numeral);
  return value > kLargestWord >> 1 ? std::nullopt : std::optional(value);
}

template std::uint64_t value_of<Dialect::untyped>(const Numeral&);
template std::uint64_t value_of<Dialect::typed>(const Numeral&);

}  // namespace dapple::detail::futhark
