// Where elements end. Both grammars are taken from the behaviour of Futhark's own readers, oddities
// included, because files exist that rely on them.
#include <algorithm>
#include <cstring>

#include "lib/base/letters.h"
#include "lib/base/text.h"
#include "lib/foreign/futhark/number.h"

namespace dapple::detail::futhark {

namespace {

using Form = Numeral::Form;

bool starts_with(const char* p, const char* end, std::string_view word) noexcept {
  return static_cast<std::size_t>(end - p) >= word.size() &&
         std::memcmp(p, word.data(), word.size()) == 0;
}

const char* skip_sign(const char* p, const char* end, bool& negative) noexcept {
  negative = p != end && *p == '-';
  return p != end && (*p == '-' || *p == '+') ? p + 1 : p;
}

const char* skip_digits(const char* p, const char* end, unsigned base) noexcept {
  while (p != end && digit_value(*p) < base) ++p;
  return p;
}

std::string_view view(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// f32.nan, f32.inf, -f32.inf.
std::optional<Numeral> lex_named(const char* p, const char* end, ElementType type) noexcept {
  Numeral n;
  n.type = type;
  n.negative = p != end && *p == '-';
  const char* const word = p + n.negative;
  const std::string_view name = info(type).name;
  if (!is_real(type) || !starts_with(word, end, name)) return std::nullopt;
  const char* const kind = word + name.size();
  n.form = starts_with(kind, end, ".inf") ? Form::infinity : Form::nan;
  if (n.form == Form::nan && (n.negative || !starts_with(kind, end, ".nan"))) return std::nullopt;
  n.end = kind + 4;
  return n;
}

std::optional<Numeral> lex_truth(const char* p, const char* end) noexcept {
  Numeral n;
  n.form = Form::truth;
  n.type = ElementType::boolean;
  n.negative = starts_with(p, end, "false");
  if (!n.negative && !starts_with(p, end, "true")) return std::nullopt;
  n.end = p + (n.negative ? 5 : 4);
  return n;
}

// Untyped digits: at least one, then digits and underscores. `p` itself when there are none.
const char* skip_spaced_digits(const char* p, const char* end, unsigned base) noexcept {
  if (p == end || digit_value(*p) >= base) return p;
  while (p != end && (digit_value(*p) < base || *p == '_')) ++p;
  return p;
}

// Sign, perhaps 0b or 0x, digits. Sets all but the type.
bool untyped_integer(const char* p, const char* end, Numeral& n) noexcept {
  p = skip_sign(p, end, n.negative);
  n.form = Form::integer;
  n.base = starts_with(p, end, "0b") ? 2 : starts_with(p, end, "0x") ? 16 : 10;
  if (n.base != 10) p += 2;
  n.end = skip_spaced_digits(p, end, n.base);
  n.digits = view(p, n.end);
  return n.end != p;
}

// Sign and digits, then a fraction, an exponent, or both, where they are complete.
bool untyped_real(const char* p, const char* end, Numeral& n) noexcept {
  p = skip_sign(p, end, n.negative);
  n.form = Form::real;
  n.base = 10;
  n.end = skip_spaced_digits(p, end, 10);
  if (n.end == p) return false;
  if (n.end != end && *n.end == '.') {
    const char* const fraction = n.end + 1;
    const char* const stop = skip_spaced_digits(fraction, end, 10);
    if (stop == fraction) {
      n.digits = view(p, n.end);
      return true;
    }
    n.end = stop;
  }
  if (n.end != end && to_lower(*n.end) == 'e') {
    bool down = false;
    const char* const power = skip_sign(n.end + 1, end, down);
    const char* const stop = skip_spaced_digits(power, end, 10);
    if (stop != power) n.end = stop;
  }
  n.digits = view(p, n.end);
  return true;
}

// Takes the suffix of one of the types [first, last], if one follows.
bool take_suffix(Numeral& n, const char* end, ElementType first, ElementType last) noexcept {
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
    if (!starts_with(n.end, end, kElements[i].name)) continue;
    n.type = static_cast<ElementType>(i);
    n.end += kElements[i].name.size();
    return true;
  }
  return false;
}

}  // namespace

std::optional<Numeral> lex_untyped_integer(const char* p, const char* end) noexcept {
  Numeral n;
  if (!untyped_integer(p, end, n)) return std::nullopt;
  return n;
}

std::optional<Numeral> lex_untyped(const char* p, const char* end) noexcept {
  Numeral n;
  if (untyped_integer(p, end, n)) {
    const char next = n.end == end ? '\0' : *n.end;
    Numeral real = n;
    if (next != '.' && next != 'e' && !take_suffix(real, end, ElementType::f16, ElementType::f64)) {
      if (!take_suffix(n, end, ElementType::i8, ElementType::u64)) n.type = ElementType::i32;
      return n;
    }
  }
  for (const ElementType type : {ElementType::f16, ElementType::f32, ElementType::f64}) {
    if (const auto named = lex_named(p, end, type)) return named;
  }
  if (untyped_real(p, end, n)) {
    if (!take_suffix(n, end, ElementType::f16, ElementType::f64)) n.type = ElementType::f64;
    return n;
  }
  return lex_truth(p, end);
}

std::optional<Numeral> lex_untyped(const char* p, const char* end, ElementType type) noexcept {
  if (type == ElementType::boolean) return lex_truth(p, end);
  Numeral n;
  if (is_real(type)) {
    if (const auto named = lex_named(p, end, type)) return named;
    if (!untyped_real(p, end, n)) return std::nullopt;
  } else if (!untyped_integer(p, end, n)) {
    return std::nullopt;
  }
  n.type = type;
  take_suffix(n, end, type, type);
  return n;
}

Token::Token(std::string_view text, ElementType type) noexcept
    : text_(text.substr(0, kTokenLimit)) {
  if (type == ElementType::boolean || text_.find('_') == std::string_view::npos) return;
  text_ = view(room_, std::remove_copy(text_.begin(), text_.end(), room_, '_'));
}

namespace {

// As scanf's %i, and %u for u64: decimal, 0x hexadecimal, or octal after a leading zero.
bool typed_integer(const char* p, const char* end, Numeral& n) noexcept {
  n.form = Form::integer;
  n.saturates = true;
  p = skip_sign(p, end, n.negative);
  if (n.type != ElementType::u64 && p != end && *p == '0') {
    const bool hexadecimal = p + 1 != end && to_lower(p[1]) == 'x';
    n.base = hexadecimal ? 16 : 8;
    if (hexadecimal) p += 2;
    n.end = skip_digits(p, end, n.base);  // a bare 0x is a zero
    n.digits = view(p, n.end);
    return true;
  }
  n.end = skip_digits(p, end, 10);
  n.digits = view(p, n.end);
  return n.end != p;
}

bool typed_word(const char* p, const char* end, Numeral& n) noexcept {
  n.form = Form::nan;
  n.end = p + 3;
  if (starts_with_word(view(p, end), "nan")) return true;
  n.form = Form::infinity;
  if (!starts_with_word(view(p, end), "inf")) return false;
  if (n.end != end && to_lower(*n.end) == 'i') {
    if (!starts_with_word(view(n.end, end), "inity")) return false;
    n.end += 5;
  }
  return true;
}

// As scanf's %f. An exponent without digits is read and means nothing; so is the point of "0x.".
bool typed_real(const char* p, const char* end, Numeral& n) noexcept {
  p = skip_sign(p, end, n.negative);
  if (p != end && (to_lower(*p) == 'n' || to_lower(*p) == 'i')) return typed_word(p, end, n);
  n.form = Form::real;
  const bool hexadecimal = end - p >= 2 && *p == '0' && to_lower(p[1]) == 'x';
  n.base = hexadecimal ? 16 : 10;
  if (hexadecimal) p += 2;
  const char* q = skip_digits(p, end, n.base);
  std::ptrdiff_t digits = q - p;
  const bool point = q != end && *q == '.';
  if (point) {
    const char* const fraction = q + 1;
    q = skip_digits(fraction, end, n.base);
    digits += q - fraction;
  }
  n.digits = view(p, q);
  n.end = q;
  if (digits == 0) {
    n.digits = "0";
    return hexadecimal && point;
  }
  if (q != end && to_lower(*q) == (hexadecimal ? 'p' : 'e')) {
    bool down = false;
    const char* const power = skip_sign(q + 1, end, down);
    n.end = skip_digits(power, end, 10);
    if (n.end != power) n.digits = view(p, n.end);
  }
  return true;
}

}  // namespace

std::optional<Numeral> lex_typed(std::string_view token, ElementType type) noexcept {
  const char* const p = token.data();
  const char* const end = p + token.size();
  Numeral n;
  n.type = type;
  if (type == ElementType::boolean) {
    const auto truth = lex_truth(p, end);
    return truth && truth->end == end ? truth : std::nullopt;
  }
  if (is_real(type)) {
    const auto named = lex_named(p, end, type);
    if (named && named->end == end) return named;
    if (!typed_real(p, end, n)) return std::nullopt;
  } else if (!typed_integer(p, end, n)) {
    return std::nullopt;
  }
  const std::string_view rest = view(n.end, end);
  if (!rest.empty() && rest != info(type).name) return std::nullopt;
  n.end = end;
  return n;
}

}  // namespace dapple::detail::futhark
