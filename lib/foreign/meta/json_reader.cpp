#include "lib/foreign/meta/json_reader.h"

#include <charconv>
#include <utility>

#include "dapple/error.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"

namespace dapple::detail {

void JsonReader::fail(std::uint64_t offset, const std::string& expected) const {
  const std::string got =
      offset < text_.size() ? shown(text_.substr(offset, 1)) : "the end of the file";
  throw Error(Errc::corrupt, file_, offset, "expected " + expected + ", got " + got);
}

char JsonReader::peek() {
  while (at_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
    ++at_;
  }
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonReader::take(char c) {
  if (peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

bool JsonReader::take_word(std::string_view word) {
  peek();
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void JsonReader::open(char bracket) {
  if (!take(bracket)) fail(at_, "JSON with a " + shown({&bracket, 1}));
}

bool JsonReader::more(char closing, bool& first) {
  const bool was_first = std::exchange(first, false);
  if (take(closing)) return false;
  if (!was_first && !take(',')) fail(at_, "a comma or a " + shown({&closing, 1}));
  return true;
}

std::uint64_t JsonReader::offset() {
  peek();
  return at_;
}

std::string JsonReader::key() {
  std::string name = string();
  if (!take(':')) fail(at_, "a colon");
  return name;
}

std::string JsonReader::string() {
  if (!take('"')) fail(at_, "a string");
  std::string out;
  for (;;) {
    if (at_ == text_.size()) fail(at_, "the end of a string");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c == '"') {
      ++at_;
      return out;
    }
    if (c < 0x20) fail(at_, "no control character in a string");
    if (c == '\\') {
      append_escape(out);
      continue;
    }
    const auto character = next_utf8(text_.substr(at_));
    if (!character) fail(at_, "UTF-8");
    out += text_.substr(at_, character->size);
    at_ += character->size;
  }
}

unsigned JsonReader::hex4() {
  unsigned value = 0;
  const std::string_view digits = text_.substr(at_, 4);
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || stop != digits.data() + 4) fail(at_, "four hexadecimal digits");
  at_ += 4;
  return value;
}

void JsonReader::append_escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const std::size_t start = at_++;
  if (at_ == text_.size()) fail(at_, "an escape sequence");
  const char name = text_[at_++];
  if (const auto i = kNames.find(name); i != std::string_view::npos) {
    out += kMeanings[i];
    return;
  }
  if (name != 'u') fail(start + 1, "an escape sequence");
  char32_t value = hex4();
  if (value >= 0xd800 && value < 0xdc00 && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    const char32_t low = hex4();
    if (low < 0xdc00 || low >= 0xe000) fail(start, "a pair of surrogates");
    value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
  } else if (value >= 0xd800 && value < 0xe000) {
    fail(start, "a pair of surrogates");
  }
  append_utf8(out, value);
}

std::int64_t JsonReader::integer() {
  peek();
  const std::size_t start = at_;
  skip_number();
  std::int64_t value = 0;
  const char* const end = text_.data() + at_;
  const auto [stop, error] = std::from_chars(text_.data() + start, end, value);
  if (error != std::errc() || stop != end) fail(start, "a whole number of 64 bits");
  return value;
}

bool JsonReader::take_null() { return take_word("null"); }

void JsonReader::skip_number() {
  const std::size_t start = at_;
  const auto digits = [&] {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == first) fail(start, "a number");
  };
  const auto at = [&](std::string_view any) {
    return at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos;
  };
  if (at("-")) ++at_;
  if (at("0")) {
    ++at_;  // no digit may follow a leading zero
  } else {
    digits();
  }
  if (at(".")) {
    ++at_;
    digits();
  }
  if (at("eE")) {
    ++at_;
    if (at("+-")) ++at_;
    digits();
  }
}

void JsonReader::skip_scalar() {
  const char c = peek();
  if (c == '"') {
    string();
  } else if (c == '-' || is_digit(c)) {
    skip_number();
  } else if (!take_word("null") && !take_word("true") && !take_word("false")) {
    fail(at_, "a JSON value");
  }
}

void JsonReader::skip_value() {
  std::string awaited;  // closing brackets, the innermost last
  do {
    const bool object = take('{');
    bool closed = true;
    if (object || take('[')) {
      awaited += object ? '}' : ']';
      closed = peek() == awaited.back();
      if (!closed && object) key();
    } else {
      skip_scalar();
    }
    while (closed && !awaited.empty()) {
      if (take(awaited.back())) {
        awaited.pop_back();
        continue;
      }
      if (!take(',')) fail(at_, "a comma or a " + shown({&awaited.back(), 1}));
      if (awaited.back() == '}') key();
      closed = false;
    }
  } while (!awaited.empty());
}

void JsonReader::end() {
  peek();
  if (at_ != text_.size()) fail(at_, "the end of the JSON text");
}

std::string json_string(std::string_view text) {
  constexpr std::string_view kPlain = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    if (const auto i = kPlain.find(c); i != std::string_view::npos) {
      out += '\\';
      out += kNames[i];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace dapple::detail
