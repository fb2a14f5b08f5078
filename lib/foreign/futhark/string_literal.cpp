#include "lib/foreign/futhark/string_literal.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace dapple::detail::futhark {

namespace {

constexpr std::uint32_t kLastCodePoint = 0x10FFFF;

constexpr std::string_view kControlNames[] = {
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS",  "HT",  "LF",
    "VT",  "FF",  "CR",  "SO",  "SI",  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK",
    "SYN", "ETB", "CAN", "EM",  "SUB", "ESC", "FS",  "GS",  "RS",  "US",  "SP"};

Utf8 encode(std::uint32_t code) noexcept {
  if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;  // half of a surrogate pair
  Utf8 utf8;
  const auto add = [&](std::uint32_t byte) {
    utf8.bytes[utf8.size++] = static_cast<std::uint8_t>(byte);
  };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
  return utf8;
}

/// White space, or a character of Latin-1 that can be printed: others end the text for the
/// original.
bool may_stand_in_text(unsigned char c) noexcept {
  constexpr unsigned char kSoftHyphen = 0xAD;
  if (c >= 0x20 && c < 0x7F) return true;
  return (c >= '\t' && c <= '\r') || (c >= 0xA0 && c != kSoftHyphen);
}

std::optional<unsigned> digit_of(char c, unsigned base) noexcept {
  unsigned value = 99;
  if (c >= '0' && c <= '9') value = static_cast<unsigned>(c - '0');
  const char low = static_cast<char>(c | 0x20);
  if (low >= 'a' && low <= 'f') value = static_cast<unsigned>(low - 'a') + 10;
  if (value >= base) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> numeric_escape(const char*& p, const char* end) noexcept {
  const char kind = static_cast<char>(*p | 0x20);
  const unsigned base = kind == 'o' ? 8 : kind == 'x' ? 16 : 10;
  const char* q = base == 10 ? p : p + 1;
  const char* const first = q;
  std::uint64_t code = 0;  // ten digits at most
  for (; q != end; ++q) {
    const auto digit = digit_of(*q, base);
    if (!digit) break;
    code = code * base + *digit;
  }
  if (q == first || code > kLastCodePoint) return std::nullopt;
  p = q;
  return static_cast<std::uint32_t>(code);
}

std::optional<std::uint32_t> named_escape(const char*& p, const char* end) noexcept {
  constexpr std::string_view kLetters = "abfnrtv\\\"'", kMeant = "\a\b\f\n\r\t\v\\\"'";
  if (const std::size_t i = kLetters.find(*p); i != std::string_view::npos) {
    ++p;
    return static_cast<unsigned char>(kMeant[i]);
  }
  if (*p == '^' && end - p >= 2 && p[1] >= '@' && p[1] <= '_') {
    p += 2;
    return static_cast<std::uint32_t>(p[-1] - '@');
  }
  const std::string_view rest(p, static_cast<std::size_t>(end - p));
  if (rest.starts_with("DEL")) {
    p += 3;
    return 127;
  }
  std::optional<std::uint32_t> code;
  std::size_t length = 0;  // the longest name: SOH, not SO
  for (std::uint32_t i = 0; i < std::size(kControlNames); ++i) {
    if (kControlNames[i].size() <= length || !rest.starts_with(kControlNames[i])) continue;
    code = i;
    length = kControlNames[i].size();
  }
  p += length;
  return code;
}

}  // namespace

Utf8 next_character(const char*& p, const char* end) noexcept {
  end = p + std::min(kLongestCharacter, end - p);
  if (p == end) return {};
  std::optional<std::uint32_t> code;
  if (*p != '\\') {
    const auto c = static_cast<unsigned char>(*p++);
    if (may_stand_in_text(c)) code = c;
  } else if (++p != end) {
    code = numeric_escape(p, end);
    if (!code) code = named_escape(p, end);
  }
  if (!code) return {};
  while (end - p >= 2 && p[0] == '\\' && p[1] == '&') p += 2;
  return encode(*code);
}

}  // namespace dapple::detail::futhark
