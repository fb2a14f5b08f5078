#include "lib/base/utf16.h"

#include <string>
#include <vector>

#include "lib/base/utf8.h"
#include "tests/check.h"

using namespace dapple::detail;

namespace {

std::vector<std::byte> units(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) {
    bytes.push_back(static_cast<std::byte>(value >> 8));
    bytes.push_back(static_cast<std::byte>(value & 0xFF));
  }
  return bytes;
}

std::string utf8(char32_t c) {
  std::string text;
  append_utf8(text, c);
  return text;
}

bool is_scalar(char32_t c) { return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF); }

}  // namespace

TEST_CASE("utf16: every code point survives UTF-8 and UTF-16") {
  std::size_t wrong = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (!is_scalar(c)) continue;
    const std::string text = utf8(c);
    const auto back = next_utf8(text);
    std::vector<std::byte> pairs;
    std::string again;
    const bool good = back && back->value == c && back->size == text.size() &&
                      !append_utf8_as_utf16be(text, pairs) &&
                      pairs.size() == (c < 0x10000 ? 2 : 4) &&
                      !append_utf16be_as_utf8(pairs, again) && again == text;
    wrong += !good;
  }
  CHECK(wrong == 0);
}

TEST_CASE("utf16: known sequences come out byte for byte") {
  CHECK(utf8(0x24) == "$");
  CHECK(utf8(0xA3) == "\xC2\xA3");
  CHECK(utf8(0x20AC) == "\xE2\x82\xAC");
  CHECK(utf8(0x1D11E) == "\xF0\x9D\x84\x9E");
  std::string text;
  CHECK_FALSE(append_utf16be_as_utf8(units({0x24, 0xA3, 0x20AC, 0xD834, 0xDD1E}), text));
  CHECK(text == "$\xC2\xA3\xE2\x82\xAC\xF0\x9D\x84\x9E");
}

TEST_CASE("utf16: all sequences of two bytes, and what is wrong with three and four") {
  std::size_t accepted = 0;
  for (unsigned a = 0x80; a < 0x100; ++a) {
    for (unsigned b = 0; b < 0x100; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b)};
      const auto c = next_utf8(text);
      accepted += c && c->size == 2;
    }
  }
  CHECK(accepted == 0x800 - 0x80);
  for (const std::string text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xE2\x82", "\xE2", "\xE2\x28\xA1", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x9D\x84", "\xF8\x88\x80\x80\x80", "\xFE",
        "\xFF"}) {
    CAPTURE(text);
    CHECK_FALSE(next_utf8(text));
    CHECK_FALSE(is_utf8("ab" + text));
    std::vector<std::byte> out;
    CHECK(append_utf8_as_utf16be("ab" + text, out) == 2);
    CHECK(out.size() == 4);
  }
  CHECK(is_utf8(""));
  CHECK(is_utf8("\xEF\xBF\xBF\xF4\x8F\xBF\xBF"));
}

TEST_CASE("utf16: a surrogate without its partner is named by its byte") {
  const auto bad = [](std::initializer_list<unsigned> values) {
    std::string out;
    return append_utf16be_as_utf8(units(values), out);
  };
  CHECK(bad({0x41, 0xD800}) == 2);
  CHECK(bad({0xD800, 0x41}) == 0);
  CHECK(bad({0xDC00, 0xD800}) == 0);
  CHECK(bad({0xD834, 0xDD1E, 0xDD1E}) == 4);
  CHECK(bad({0xDBFF, 0xDBFF, 0xDFFF}) == 0);
  CHECK_FALSE(bad({0xD7FF, 0xE000, 0xDBFF, 0xDFFF}));
}
