#include "lib/foreign/npy/python_literal.h"

#include <charconv>
#include <optional>

#include "dapple/error.h"
#include "lib/base/utf8.h"

namespace dapple::detail::npy {

namespace {

void append_hex(std::string& out, char32_t c) {
  const int digits = c <= 0xff ? 2 : c <= 0xffff ? 4 : 8;
  out += c <= 0xff ? "\\x" : c <= 0xffff ? "\\u" : "\\U";
  for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[c >> (4 * i) & 0xf];
}

}  // namespace

void LiteralReader::skip_space() {
  while (!at_end() && std::string_view(" \t\n\r\f").find(text_[at_]) != std::string_view::npos) {
    ++at_;
  }
}

std::uint64_t LiteralReader::offset() {
  skip_space();
  return offset_ + at_;
}

void LiteralReader::fail(const std::string& wanted) {
  std::string got = "the header ends";
  if (!at_end()) {
    got.assign(1, '\'');
    for (const char c : text_.substr(at_, 12)) {
      if (c >= ' ' && c <= '~') got += c;
    }
    got += "'";
  }
  throw Error(Errc::corrupt, *file_, offset_ + at_, got + " where " + wanted + " should be");
}

bool LiteralReader::sees(char c) {
  skip_space();
  return !at_end() && text_[at_] == c;
}

bool LiteralReader::take(char c) {
  if (!sees(c)) return false;
  ++at_;
  return true;
}

void LiteralReader::expect(char c) {
  if (!take(c)) fail(std::string("'") + c + "'");
}

bool LiteralReader::sees_string() {
  if (sees('\'') || sees('"')) return true;
  const bool prefix = sees('u') || sees('U');  // as Python 2 wrote text
  return prefix && at_ + 1 < text_.size() && (text_[at_ + 1] == '\'' || text_[at_ + 1] == '"');
}

void LiteralReader::expect_end() {
  skip_space();
  if (!at_end()) fail("the end of the header");
}

std::string LiteralReader::string() {
  if (!sees_string()) fail("a string");
  if (text_[at_] == 'u' || text_[at_] == 'U') ++at_;
  const char quote = text_[at_++];
  std::string out;
  while (true) {
    if (at_end() || text_[at_] == '\n') fail("the closing quote of a string");
    if (text_[at_] == quote) break;
    if (text_[at_] == '\\') {
      ++at_;
      append_escape(out);
    } else {
      append_verbatim(out);
    }
  }
  ++at_;
  return out;
}

void LiteralReader::append_verbatim(std::string& out) {
  if (!utf8_) {
    append_utf8(out, static_cast<unsigned char>(text_[at_++]));
    return;
  }
  const std::optional<Utf8Char> c = next_utf8(text_.substr(at_));
  if (!c) fail("UTF-8");
  out += text_.substr(at_, c->size);
  at_ += c->size;
}

void LiteralReader::append_escape(std::string& out) {
  if (at_end()) fail("an escape sequence");
  const char c = text_[at_];
  constexpr std::string_view letters = "abfnrtv\\'\"", meanings = "\a\b\f\n\r\t\v\\'\"";
  if (const std::size_t i = letters.find(c); i != std::string_view::npos) {
    ++at_;
    out += meanings[i];
  } else if (c == 'x' || c == 'u' || c == 'U') {
    ++at_;
    append_digits(out, c == 'x' ? 2 : c == 'u' ? 4 : 8);
  } else if (c == '0' &&
             (at_ + 1 == text_.size() || text_[at_ + 1] < '0' || text_[at_ + 1] > '7')) {
    ++at_;
    out += '\0';
  } else {
    fail("an escape sequence of a plain string");
  }
}

void LiteralReader::append_digits(std::string& out, int digits) {
  const std::string_view hex = text_.substr(at_, static_cast<std::size_t>(digits));
  std::uint32_t c = 0;
  const auto result = std::from_chars(hex.data(), hex.data() + hex.size(), c, 16);
  const bool all = result.ec == std::errc{} && result.ptr == hex.data() + digits;
  if (!all || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
    fail(std::to_string(digits) + " hexadecimal digits of a character");
  }
  at_ += hex.size();
  append_utf8(out, c);
}

std::uint64_t LiteralReader::integer() {
  skip_space();
  std::uint64_t value = 0;
  const char* const begin = text_.data() + at_;
  const auto result = std::from_chars(begin, text_.data() + text_.size(), value);
  if (result.ec == std::errc::result_out_of_range) fail("a number below 2^64");
  if (result.ec != std::errc{}) fail("a number that is not negative");
  at_ += static_cast<std::size_t>(result.ptr - begin);
  if (!at_end() && text_[at_] == 'L') ++at_;
  return value;
}

bool LiteralReader::boolean() {
  skip_space();
  for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
    if (text_.substr(at_, word.size()) == word) {
      at_ += word.size();
      return word == "True";
    }
  }
  fail("True or False");
}

std::string python_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const Utf8Char c = *next_utf8(text);
    if (c.value == '\\' || c.value == static_cast<char32_t>(quote)) {
      out += '\\';
      out += static_cast<char>(c.value);
    } else if (c.value == '\n' || c.value == '\r' || c.value == '\t') {
      out += c.value == '\n' ? "\\n" : c.value == '\r' ? "\\r" : "\\t";
    } else if (!is_printable(c.value)) {
      append_hex(out, c.value);
    } else {
      out += text.substr(0, c.size);
    }
    text.remove_prefix(c.size);
  }
  return out + quote;
}

}  // namespace dapple::detail::npy
