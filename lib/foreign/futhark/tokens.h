// The parts that a Futhark text is cut into: white space, comments from -- to the end of the line,
// and the tokens of typed text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace dapple::detail::futhark {

/// Who reads the text in Futhark's world.
enum class Dialect : std::uint8_t {
  untyped,  // `futhark dataset` and the data libraries: the text says what it is
  typed,    // compiled programs: the type is known beforehand
};

/// White space of ASCII; the untyped readers take bytes for Latin-1 and its no-break space too.
template <Dialect dialect>
bool is_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r') || (dialect == Dialect::untyped && c == '\xA0');
}

template <Dialect dialect>
const char* skip_spaces(const char* p, const char* end) noexcept {
  while (p != end && is_space<dialect>(*p)) ++p;
  return p;
}

/// `p` is at the first dash.
inline const char* skip_comment(const char* p, const char* end) noexcept {
  const void* const newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return newline != nullptr ? static_cast<const char*>(newline) + 1 : end;
}

inline bool starts_comment(const char* p, const char* end) noexcept {
  return end - p >= 2 && p[0] == '-' && p[1] == '-';
}

/// What a digit is worth, up to base 16; more than that for what is none.
constexpr unsigned digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? static_cast<unsigned>(low - 'a') + 10 : 99;
}

template <Dialect dialect>
const char* skip_blank(const char* p, const char* end) noexcept {
  while (true) {
    p = skip_spaces<dialect>(p, end);
    if (p == end || !starts_comment(p, end)) return p;
    p = skip_comment(p, end);
  }
}

/// A letter, a digit, or one of . - + _: what longer tokens are made of.
inline bool is_constituent(char c) noexcept {
  const char low = static_cast<char>(c | 0x20);
  return (c >= '0' && c <= '9') || (low >= 'a' && low <= 'z') || c == '.' || c == '-' || c == '+' ||
         c == '_';
}

/// Characters of a typed token that are read at once; the last of them does not count.
inline constexpr std::ptrdiff_t kTokenRead = 100;
inline constexpr std::size_t kTokenLimit = kTokenRead - 1;

/// The token after the blank at `p`: a run of constituents, or any other character by itself.
/// Empty only at the end.
inline std::string_view next_token(const char* p, const char* end) noexcept {
  p = skip_blank<Dialect::typed>(p, end);
  if (p == end) return {p, 0};
  const char* stop = p + 1;
  if (is_constituent(*p)) {
    const char* const last = end - p > kTokenRead ? p + kTokenRead : end;
    while (stop != last && is_constituent(*stop)) ++stop;
  }
  return {p, static_cast<std::size_t>(stop - p)};
}

// "..." in untyped text is an array of u8: the UTF-8 of its characters, which are written as in
// Haskell.

/// A character is looked for in this many bytes, so a number has nine digits at most.
inline constexpr std::ptrdiff_t kLongestCharacter = 10;

/// The character at `p`, which is then moved past it, in UTF-8; "" when there is none. REQUIRES
/// that p is inside the quotes, on none of them. A byte of the file above 127 is a character of its
/// own (Latin-1), as the reader of `futhark dataset` has it.
std::string next_character(const char*& p, const char* end);

}  // namespace dapple::detail::futhark
