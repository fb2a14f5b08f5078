#include "lib/base/utf8.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dapple::detail {

std::optional<Utf8Char> next_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return Utf8Char{lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return std::nullopt;
  char32_t value = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    value = value << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[size] || surrogate || value > 0x10ffff) return std::nullopt;
  return Utf8Char{value, size};
}

bool is_printable(char32_t c) noexcept {
  constexpr std::pair<char32_t, char32_t> kOthers[] = {
      {0, 0x1f},        {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},   {0x61c, 0x61c},
      {0x6dd, 0x6dd},   {0x70f, 0x70f},     {0x1680, 0x1680},   {0x180e, 0x180e}, {0x2000, 0x200f},
      {0x2028, 0x202f}, {0x205f, 0x206f},   {0x3000, 0x3000},   {0xd800, 0xf8ff}, {0xfeff, 0xfeff},
      {0xfff0, 0xfffb}, {0xe0000, 0xe007f}, {0xf0000, 0x10ffff}};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [c](const auto& others) { return others.first <= c && c <= others.second; });
}

bool is_ascii(std::string_view text) noexcept {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

bool is_utf8(std::string_view text) noexcept {
  if (is_ascii(text)) return true;
  while (!text.empty()) {
    const auto c = next_utf8(text);
    if (!c) return false;
    text.remove_prefix(c->size);
  }
  return true;
}

void append_utf8(std::string& out, char32_t value) {
  const auto add = [&](char32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (value < 0x80) {
    add(value);
  } else if (value < 0x800) {
    add(0xc0 | value >> 6);
    add(0x80 | (value & 0x3f));
  } else if (value < 0x10000) {
    add(0xe0 | value >> 12);
    add(0x80 | (value >> 6 & 0x3f));
    add(0x80 | (value & 0x3f));
  } else {
    add(0xf0 | value >> 18);
    add(0x80 | (value >> 12 & 0x3f));
    add(0x80 | (value >> 6 & 0x3f));
    add(0x80 | (value & 0x3f));
  }
}

}  // namespace dapple::detail
