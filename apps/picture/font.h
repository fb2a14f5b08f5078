// The letters of PNG pictures: printable ASCII in one size.
#pragma once

#include <cstddef>
#include <string_view>

namespace dapple::picture {

inline constexpr std::size_t kLineHeight = 16;

struct Glyph {
  std::size_t width;      // also how far the next one is
  std::size_t top;        // empty lines above it
  std::string_view grey;  // row after row, a hexadecimal digit each: 0 nothing, f ink
};

/// What is not printable ASCII looks like a question mark.
const Glyph& glyph(char c) noexcept;
std::size_t text_width(std::string_view text) noexcept;

}  // namespace dapple::picture
