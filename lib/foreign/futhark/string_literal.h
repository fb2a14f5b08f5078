// "..." in untyped text is an array of u8: the UTF-8 of its characters, which are written as in
// Haskell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dapple::detail::futhark {

/// One character of a string as bytes of an array.
struct Utf8 {
  std::array<std::uint8_t, 4> bytes{};
  unsigned size = 0;  // 0: there is no character
};

/// A character is looked for in this many bytes, so a number has nine digits at most.
inline constexpr std::ptrdiff_t kLongestCharacter = 10;

/// The character at `p`, which is then moved past it. REQUIRES that p is inside the quotes,
/// on none of them. A byte of the file above 127 is a character of its own (Latin-1), as the
/// reader of `futhark dataset` has it.
Utf8 next_character(const char*& p, const char* end) noexcept;

}  // namespace dapple::detail::futhark
