// What elements are worth.
#include <bit>
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

constexpr unsigned digit_value(char c) noexcept {
  return is_digit(c) ? static_cast<unsigned>(c - '0')
                     : static_cast<unsigned>((c | 0x20) - 'a') + 10;
}

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

// A fraction of `bits` bits, followed by ones somewhere after it if `sticky`, times 2^exponent,
// rounded to the nearest F, ties to even.
template <class F>
F round_binary(std::uint64_t fraction, bool sticky, std::int64_t exponent) noexcept {
  using Limits = std::numeric_limits<F>;
  if (fraction == 0) return 0;
  const int left = std::countl_zero(fraction);
  fraction <<= left;
  exponent -= left;
  const std::int64_t top = exponent + 63;  // of the leading one
  if (top >= Limits::max_exponent) return Limits::infinity();
  constexpr std::int64_t kLowest = Limits::min_exponent - 1;  // of normal numbers
  std::int64_t keep = Limits::digits;
  if (top < kLowest) keep -= kLowest - top;
  if (keep < 0) return 0;
  const auto drop = static_cast<unsigned>(64 - keep);
  std::uint64_t kept = drop == 64 ? 0 : fraction >> drop;
  const std::uint64_t middle = std::uint64_t{1} << (drop - 1);
  const std::uint64_t rest = drop == 64 ? fraction : fraction & (2 * middle - 1);
  if (rest > middle || (rest == middle && (sticky || kept % 2 == 1))) ++kept;
  return std::ldexp(static_cast<F>(kept), static_cast<int>(exponent + drop));
}

template <class F>
F hexadecimal_value(std::string_view digits) noexcept {
  std::uint64_t fraction = 0;
  std::int64_t exponent = 0;
  bool sticky = false, point = false;
  std::size_t i = 0;
  for (; i < digits.size() && digits[i] != 'p' && digits[i] != 'P'; ++i) {
    if (digits[i] == '.') {
      point = true;
      continue;
    }
    const unsigned digit = digit_value(digits[i]);
    if (fraction >> 60 == 0) {
      fraction = fraction << 4 | digit;
      exponent -= point ? 4 : 0;
    } else {
      sticky |= digit != 0;
      exponent += point ? 0 : 4;
    }
  }
  if (i < digits.size()) {
    const bool down = digits[++i] == '-';
    i += digits[i] == '-' || digits[i] == '+';
    constexpr std::int64_t kFarEnough = 1 << 20;  // tokens are short: nothing brings this back
    std::int64_t power = 0;
    for (; i < digits.size(); ++i) {
      power = std::min(power * 10 + digit_value(digits[i]), kFarEnough);
    }
    exponent += down ? -power : power;
  }
  return round_binary<F>(fraction, sticky, exponent);
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

template std::uint64_t value_of<Dialect::untyped>(const Numeral&);
template std::uint64_t value_of<Dialect::typed>(const Numeral&);

}  // namespace dapple::detail::futhark
