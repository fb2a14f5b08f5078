// "..." in untyped text is an array of u8: the UTF-8 of its characters, which are written as in
// Haskell.
#pragma once

#include <cstddef>
#include <string>

namespace dapple::detail::futhark {

/// A character is looked for in this many bytes, so a number has nine digits at most.
inline constexpr std::ptrdiff_t kLongestCharacter = 10;

/// The character at `p`, which is then moved past it, in UTF-8; "" when there is none. REQUIRES
/// that p is inside the quotes, on none of them. A byte of the file above 127 is a character of its
/// own (Latin-1), as the reader of `futhark dataset` has it.
std::string next_character(const char*& p, const char* end);

}  // namespace dapple::detail::futhark
