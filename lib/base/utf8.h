// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dapple::detail {

struct Utf8Char {
  char32_t value;
  std::size_t size;  // bytes
};

/// The first character of `text`; nothing when it is not UTF-8 (truncated, overlong, a surrogate,
/// or above U+10FFFF). REQUIRES that `text` is not empty.
std::optional<Utf8Char> next_utf8(std::string_view text) noexcept;

bool is_ascii(std::string_view text) noexcept;

/// True for what Python prints as it is: no controls, format characters (marks of direction among
/// them), line separators, spaces beyond ASCII, or private use. Of what is unassigned, too.
bool is_printable(char32_t c) noexcept;

/// True when all of `text` is UTF-8.
bool is_utf8(std::string_view text) noexcept;

/// Appends a character. REQUIRES at most U+10FFFF, and no surrogate.
void append_utf8(std::string& out, char32_t value);

}  // namespace dapple::detail
