// Text in which capital ASCII letters are as good as small ones; never dependent on a locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dapple::detail {

constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

inline std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

/// True when `text` starts with this word of small letters.
constexpr bool starts_with_word(std::string_view text, std::string_view word) noexcept {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (to_lower(text[i]) != word[i]) return false;
  }
  return true;
}

}  // namespace dapple::detail
