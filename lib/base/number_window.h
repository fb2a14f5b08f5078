// Recognising plain decimal numbers in text, 64 characters at a time.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/base/text.h"

namespace dapple::detail {

/// 10^0 to 10^16.
inline constexpr std::uint64_t kPowersOfTen[] = {1,
                                                 10,
                                                 100,
                                                 1000,
                                                 10000,
                                                 100000,
                                                 1000000,
                                                 10000000,
                                                 100000000,
                                                 1000000000,
                                                 10000000000,
                                                 100000000000,
                                                 1000000000000,
                                                 10000000000000,
                                                 100000000000000,
                                                 1000000000000000,
                                                 10000000000000000};

/// `n` <= 8 characters, the last one highest, after zeros. Loads eight bytes.
inline std::uint64_t shifted_digits(const char* p, std::uint64_t n) noexcept {
  // In two halves, since a shift by 64 is undefined.
  const std::uint64_t half = 4 * (8 - n);
  return load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(p)) << half << half;
}

/// The value of `n` <= 8 digits. Loads eight bytes.
inline std::uint64_t read_eight(const char* p, std::uint64_t n) noexcept {
  return combine_eight(shifted_digits(p, n) & 0x0F0F0F0F0F0F0F0FU);
}

/// The values of two numbers of `n` <= 8 digits each, combined side by side. Loads eight bytes of
/// each.
struct TwoNumbers {
  std::uint64_t first, second;
};
inline TwoNumbers read_two(const char* p, std::uint64_t n, const char* q,
                           std::uint64_t m) noexcept {
#if defined(__SSE2__)
  const auto front = static_cast<long long>(shifted_digits(p, n));
  const auto back = static_cast<long long>(shifted_digits(q, m));
  // As `combine_eight`, in both halves of a vector.
  __m128i digits = _mm_and_si128(_mm_set_epi64x(back, front), _mm_set1_epi8(0x0F));
  digits = _mm_srli_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(1 + (10 << 8))), 8);
  digits = _mm_madd_epi16(digits, _mm_set1_epi32(100 + (1 << 16)));
  digits = _mm_packs_epi32(digits, digits);
  digits = _mm_madd_epi16(digits, _mm_set1_epi32(10000 + (1 << 16)));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(digits));
  return {both & 0xFFFFFFFFU, both >> 32};
#else
  return {read_eight(p, n), read_eight(q, m)};
#endif
}

/// Which of 64 characters are no digits, found from the first to the last.
class DigitBits {
 public:
  /// True when the characters at `p` are before `end`, and eight more.
  static bool may_look(const char* p, const char* end) noexcept {
    return kVectors && end - p >= kWidth + 8;
  }
  /// REQUIRES may_look(p, <end of the text>).
  explicit DigitBits(const char* p) noexcept {
#if defined(__SSE2__)
    for (int i = 0; i < kWidth; i += 16) {
      const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
      const __m128i value = _mm_sub_epi8(sixteen, _mm_set1_epi8('0'));
      const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
      ends_ ^= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(digit)))
               << i;
    }
#else
    static_cast<void>(p);
#endif
  }

  /// The number of the next character that is no digit; the last one when there is no other.
  std::uint64_t next_end() noexcept {
    const auto at =
        static_cast<std::uint64_t>(__builtin_ctzll(ends_ | std::uint64_t{1} << (kWidth - 1)));
    ends_ &= ends_ - 1;
    return at;
  }

 private:
  static constexpr int kWidth = 64;
#if defined(__SSE2__)
  static constexpr bool kVectors = true;
#else
  static constexpr bool kVectors = false;
#endif
  std::uint64_t ends_ = ~std::uint64_t{0};
};

/// An optional minus, then digits with at most one point.
struct PlainNumber {
  std::uint64_t length = 0;  // characters; 0: no plain number, or not known
  std::uint64_t point = 0;   // where the point is; `length` without one
  std::uint64_t minus = 0;   // characters

  bool has_point() const noexcept { return point < length; }
  std::uint64_t whole_digits() const noexcept { return point - minus; }
  std::uint64_t places() const noexcept { return length - point - has_point(); }
};

/// The plain number that `size` characters at `p` are, in a text that ends at `end`; none when they
/// are no such number, are many, or are close to the end, and on processors other than x86-64.
inline PlainNumber plain_number(const char* p, std::uint64_t size, const char* end) noexcept {
  PlainNumber number;
#if defined(__SSE2__)
  if (size >= 32 || end - p < 64) return number;
  std::uint64_t digits = 0;
  for (std::uint64_t i = 0; i < size; i += 16) {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
    const __m128i value = _mm_sub_epi8(sixteen, _mm_set1_epi8('0'));
    const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
    digits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(digit))) << i;
  }
  number.minus = *p == '-' ? 1 : 0;
  const std::uint64_t others = ~digits & ((std::uint64_t{1} << size) - 1) & ~number.minus;
  number.point = others == 0 ? size : static_cast<std::uint64_t>(__builtin_ctzll(others));
  const bool none = (others & (others - 1)) != 0 || (others != 0 && p[number.point] != '.');
  if (!none && size > number.minus + (others != 0)) number.length = size;
#else
  static_cast<void>(p), static_cast<void>(size), static_cast<void>(end);
#endif
  return number;
}

/// Finds where plain numbers end. Classifies 64 characters at once, so that parsing one number does
/// not wait for the previous one: a third faster than character by character. Finds nothing on
/// processors other than x86-64. Not thread-safe.
class NumberWindow {
 public:
  /// Reads nothing at or after `end`.
  explicit NumberWindow(const char* end) noexcept : end_(end), start_(end) {}

  /// The longest plain number at `p`; none when it has 64 characters or more, or is close to the
  /// end of the text. REQUIRES p <= end.
  PlainNumber at(const char* p) noexcept {
    std::uint64_t stops = stops_from(p);
    if (stops == 0) {
      if (!look(p)) return {};
      stops = stops_from(p);
      if (stops == 0) return {};
    }
    const auto offset = static_cast<std::uint64_t>(p - start_);
    PlainNumber number;
    number.minus = minuses_ >> offset & 1;
    number.length = lowest(stops);
    const std::uint64_t end = std::uint64_t{1} << number.length;
    const std::uint64_t points = points_ >> offset & (end - 1);
    number.point = lowest(points | end);
    const bool one_point = (points & (points - 1)) == 0;
    const bool digits = number.whole_digits() + number.places() > 0;
    return one_point && digits ? number : PlainNumber{};
  }

  /// Reads the number's value; false when it has too many digits for T, or a point or a sign that T
  /// cannot hold. `number` is what `at(p)` returned.
  template <Value T>
  static bool read(const char* p, const PlainNumber& number, T& value) noexcept {
    const std::uint64_t whole = number.whole_digits(), places = number.places();
    const bool negative = number.minus != 0;
    if constexpr (std::is_floating_point_v<T>) {
      if (whole <= kSwar && places <= 2 * kSwar && whole + places <= 19) {
        const char* const front = p + number.minus;
        const char* const behind = p + number.point + 1;
        const TwoNumbers two =
            places <= kSwar ? read_two(front, whole, behind, places)
                            : TwoNumbers{read_eight(front, whole), read_sixteen(behind, places)};
        const std::uint64_t digits = two.first * kPowersOfTen[places] + two.second;
        if (exact_fraction(digits, places, negative, value)) return true;
      }
      return std::from_chars(p, p + number.length, value).ec == std::errc();
    } else {
      return whole <= 2 * kSwar && !number.has_point() &&
             exact_integer(read_sixteen(p + number.minus, whole), negative, value);
    }
  }

  /// As `read_number`, for the number at `p`. REQUIRES p <= end.
  template <Value T>
  NumberText read_at(const char* p, T& value) noexcept {
    const PlainNumber plain = at(p);
    if (plain.length > 0) {
      const char* const stop = p + plain.length;
      if ((*stop | 0x20) != 'e' && read(p, plain, value)) return {stop, NumberError::none};
      // That many digits rarely make an exact product: the general algorithm reads them anew.
      if constexpr (std::is_floating_point_v<T>) {
        if (plain.length > 17) return read_float_slowly(p, end_, value);
      }
    }
    return read_number(p, end_, value);
  }

 private:
  static constexpr std::ptrdiff_t kWidth = 64;
  /// `read` may load this many bytes past the end of a number.
  static constexpr std::ptrdiff_t kSlack = 16;
  static constexpr std::uint64_t kSwar = 8;  // digits that are combined at once

  /// The lowest set bit. REQUIRES bits != 0.
  static std::uint64_t lowest(std::uint64_t bits) noexcept {
    return static_cast<std::uint64_t>(__builtin_ctzll(bits));
  }

  /// Bit i is set when character p[i] cannot belong to a plain number that starts at `p`. 0: not
  /// known.
  std::uint64_t stops_from(const char* p) const noexcept {
    const auto offset = static_cast<std::uint64_t>(p - start_);  // huge when p < start_
    if (offset >= kWidth) return 0;
    return stops_ >> offset & ~(minuses_ >> offset & 1);
  }

  /// Moves the window to `p`; false when it would reach beyond the text.
  bool look(const char* p) noexcept {
#if defined(__SSE2__)
    if (end_ - p < kWidth + kSlack) return false;
    start_ = p;
    std::uint64_t numbers = 0;  // characters of them
    points_ = minuses_ = 0;
    for (int i = 0; i < kWidth; i += 16) {
      const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
      const auto bits = [i](__m128i found) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(found)))
               << i;
      };
      const __m128i value = _mm_sub_epi8(sixteen, _mm_set1_epi8('0'));
      const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
      const __m128i point = _mm_cmpeq_epi8(sixteen, _mm_set1_epi8('.'));
      numbers |= bits(_mm_or_si128(digit, point));
      points_ |= bits(point);
      minuses_ |= bits(_mm_cmpeq_epi8(sixteen, _mm_set1_epi8('-')));
    }
    stops_ = ~numbers;
    return true;
#else
    static_cast<void>(p);
    return false;
#endif
  }

  /// The value of `n` <= 16 digits.
  static std::uint64_t read_sixteen(const char* p, std::uint64_t n) noexcept {
    if (n <= kSwar) return read_eight(p, n);
    const std::uint64_t front = n - kSwar;
    return read_eight(p, front) * kPowersOfTen[kSwar] + read_eight(p + front, kSwar);
  }

  const char* end_;
  const char* start_;         // of the window
  std::uint64_t stops_ = 0;   // bit i: character i ends a plain number
  std::uint64_t points_ = 0;  // bit i: character i is a point
  std::uint64_t minuses_ = 0;
};

}  // namespace dapple::detail
