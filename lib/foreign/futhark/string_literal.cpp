#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/utf8.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

namespace {

constexpr std::uint32_t kLastCodePoint = 0x10FFFF;

constexpr std::string_view kControlNames[] = {
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS",  "HT",  "LF",
    "VT",  "FF",  "CR",  "SO",  "SI",  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK",
    "SYN", "ETB", "CAN", "EM",  "SUB", "ESC", "FS",  "GS",  "RS",  "US",  "SP"};

/// White space, or a character of Latin-1 that can be printed: others end the text for the
/// original.
bool may_stand_in_text(unsigned char c) noexcept {
  constexpr unsigned char kSoftHyphen = 0xAD;
  if (c >= 0x20 && c < 0x7F) return true;
  return (c >= '\t' && c <= '\r') || (c >= 0xA0 && c != kSoftHyphen);
}

std::optional<std::uint32_t> numeric_escape(const char*& p, const char* end) noexcept {
  const char kind = static_cast<char>(*p | 0x20);
  const unsigned base = kind == 'o' ? 8 : kind == 'x' ? 16 : 10;
  const char* q = base == 10 ? p : p + 1;
  const char* const first = q;
  std::uint64_t code = 0;  // ten digits at most
  for (; q != end; ++q) {
    const unsigned digit = digit_value(*q);
    if (digit >= base) break;
    code = code * base + digit;
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

std::string next_character(const char*& p, const char* end) {
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
  const bool half_of_a_pair = *code >= 0xD800 && *code < 0xE000;
  std::string character;
  append_utf8(character, half_of_a_pair ? 0xFFFD : *code);
  return character;
}

}  // namespace dapple::detail::futhark
