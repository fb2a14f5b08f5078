// One element of a text value: where it ends, what kind of number it is, and its value. The two
// ways of reading Futhark text differ here most; FORMAT.md, "Text", has the rules side by side.
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/foreign/futhark/element.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

/// An element whose end is known and whose digits are good, but not computed yet.
struct Numeral {
  enum class Form : std::uint8_t { integer, real, infinity, nan, truth };

  Form form = Form::integer;
  ElementType type = ElementType::i32;
  bool negative = false;
  std::uint8_t base = 10;
  bool saturates = false;     // integers beyond 64 bits stop there; otherwise they wrap
  std::string_view digits;    // integer: of `base`; real: with point and exponent; underscores stay
  const char* end = nullptr;  // after the element
};

/// The untyped element at `p`, whose type follows from its text: the first of its row.
std::optional<Numeral> lex_untyped(const char* p, const char* end) noexcept;
/// The untyped element of known type at `p`: any further one of the row.
std::optional<Numeral> lex_untyped(const char* p, const char* end, ElementType type) noexcept;

/// An untyped integer without a suffix; its type is not set.
std::optional<Numeral> lex_untyped_integer(const char* p, const char* end) noexcept;

/// The dimension that the digits of an integer are, or nothing: it is from 0 to 2^63 - 1.
std::optional<std::uint64_t> dimension_of(Numeral numeral);

/// What counts of a typed token: not more than kTokenLimit characters, and no underscores, which
/// may be anywhere in numbers.
class Token {
 public:
  Token(std::string_view text, ElementType type) noexcept;
  std::string_view text() const noexcept { return text_; }

 private:
  char room_[kTokenLimit];
  std::string_view text_;
};

/// The typed element that `token` is, whole. The result refers to the token.
std::optional<Numeral> lex_typed(std::string_view token, ElementType type) noexcept;

/// The value of the element as its cell type, in the low bytes of a word.
template <Dialect dialect>
std::uint64_t value_of(const Numeral& numeral);

}  // namespace dapple::detail::futhark
