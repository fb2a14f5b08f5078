#include "lib/base/utf16.h"

#include <cstdint>

#include "lib/base/bytes.h"
#include "lib/base/utf8.h"

namespace dapple::detail {

namespace {

constexpr bool is_high_surrogate(char32_t unit) noexcept { return unit >> 10 == 0xd800 >> 10; }
constexpr bool is_low_surrogate(char32_t unit) noexcept { return unit >> 10 == 0xdc00 >> 10; }

void append_unit(char32_t unit, std::vector<std::byte>& out) {
  out.push_back(static_cast<std::byte>(unit >> 8));
  out.push_back(static_cast<std::byte>(unit & 0xff));
}

}  // namespace

std::optional<std::size_t> append_utf16be_as_utf8(std::span<const std::byte> units,
                                                  std::string& out) {
  const std::size_t end = units.size() & ~std::size_t{1};
  for (std::size_t at = 0; at < end; at += 2) {
    const char32_t unit = load_be<std::uint16_t>(units.data() + at);
    if (!is_high_surrogate(unit) && !is_low_surrogate(unit)) {
      append_utf8(out, unit);
      continue;
    }
    if (!is_high_surrogate(unit) || end - at < 4) return at;
    const char32_t low = load_be<std::uint16_t>(units.data() + at + 2);
    if (!is_low_surrogate(low)) return at;
    append_utf8(out, 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff)));
    at += 2;
  }
  return std::nullopt;
}

std::optional<std::size_t> append_utf8_as_utf16be(std::string_view text,
                                                  std::vector<std::byte>& out) {
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_utf8(text.substr(at));
    if (!c) return at;
    if (c->value < 0x10000) {
      append_unit(c->value, out);
    } else {
      append_unit(0xd800 | (c->value - 0x10000) >> 10, out);
      append_unit(0xdc00 | ((c->value - 0x10000) & 0x3ff), out);
    }
    at += c->size;
  }
  return std::nullopt;
}

}  // namespace dapple::detail
