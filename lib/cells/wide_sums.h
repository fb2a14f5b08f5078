// Unsigned integers beyond 128 bits, in words of 64 with the lowest one first: sums of squares of
// 64-bit integers, and what is made of them. No real sum overflows; forged statistics may.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace dapple::detail {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

/// The sum modulo 2^64 or 2^128.
template <class Sum>
constexpr Sum wrapping_sum(Sum a, Sum b) noexcept {
  using Unsigned = std::conditional_t<sizeof(Sum) == 8, std::uint64_t, Uint128>;
  return static_cast<Sum>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}

/// A sum of squares, up to that of 2^64 integers of 64 bits.
struct Uint192 {
  Uint128 low = 0;
  std::uint64_t high = 0;

  Uint192& operator+=(Uint128 term) noexcept {
    low += term;
    high += low < term ? 1U : 0U;
    return *this;
  }
  Uint192& operator+=(const Uint192& other) noexcept {
    *this += other.low;
    high += other.high;
    return *this;
  }
  friend bool operator==(const Uint192&, const Uint192&) = default;
};

template <std::size_t N>
using Words = std::array<std::uint64_t, N>;

inline Words<2> words_of(Uint128 v) noexcept {
  return {static_cast<std::uint64_t>(v), static_cast<std::uint64_t>(v >> 64)};
}
inline Words<3> words_of(const Uint192& v) noexcept {
  return {words_of(v.low)[0], words_of(v.low)[1], v.high};
}

template <std::size_t A, std::size_t B>
Words<A + B> multiplied(const Words<A>& a, const Words<B>& b) noexcept {
  Words<A + B> out{};
  for (std::size_t i = 0; i < A; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < B; ++j) {
      const Uint128 sum = Uint128{a[i]} * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    out[i + B] = carry;
  }
  return out;
}

/// a - b, or 0 where that is negative.
template <std::size_t N>
Words<N> difference(const Words<N>& a, const Words<N>& b) noexcept {
  Words<N> out;
  unsigned borrow = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const Uint128 wide = Uint128{a[i]} - b[i] - borrow;
    out[i] = static_cast<std::uint64_t>(wide);
    borrow = wide >> 64 != 0 ? 1 : 0;
  }
  return borrow == 0 ? out : Words<N>{};
}

/// words / n, rounded once. REQUIRES n > 0.
template <std::size_t N>
double rounded_quotient(Words<N> words, std::uint64_t n) noexcept {
  std::uint64_t rest = 0;
  std::size_t top = 0;
  for (std::size_t i = N; i-- > 0;) {
    const Uint128 part = Uint128{rest} << 64 | words[i];
    words[i] = static_cast<std::uint64_t>(part / n);
    rest = static_cast<std::uint64_t>(part % n);
    if (words[i] != 0 && top == 0) top = i;
  }
  // The highest 64 bits, the last of which is also set when any bit below is. A quotient of one
  // word that has fewer takes further ones from the remainder.
  const int shift = std::countl_zero(words[top]);
  if (shift == 64) {
    const Uint128 part = Uint128{rest} << 64;
    const auto bits = static_cast<std::uint64_t>(part / n);
    return std::ldexp(static_cast<double>(bits | (part % n != 0 ? 1U : 0U)), -64);
  }
  std::uint64_t head = words[top] << shift;
  std::uint64_t below = 0;  // the word after the head
  if (top > 0) {
    below = shift == 0 ? words[top - 1] : words[top - 1] << shift;
    if (shift != 0) head |= words[top - 1] >> (64 - shift);
    for (std::size_t i = 0; i + 1 < top; ++i) rest |= words[i];
  } else if (shift != 0) {
    const Uint128 part = Uint128{rest} << shift;
    head |= static_cast<std::uint64_t>(part / n);
    rest = static_cast<std::uint64_t>(part % n);
  }
  if ((below | rest) != 0) head |= 1;
  return std::ldexp(static_cast<double>(head), static_cast<int>(64 * top) - shift);
}

}  // namespace dapple::detail
