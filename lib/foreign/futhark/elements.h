// The elements of a tile of text, one after the other.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "lib/base/text.h"
#include "lib/foreign/futhark/number.h"
#include "lib/foreign/futhark/plain_number.h"
#include "lib/foreign/futhark/string_literal.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

/// Walks over text that a scanner has found good. T is the cell type of `type`.
template <Dialect dialect, class T>
class Elements {
 public:
  /// The text [p, end) starts with an element; `in_string` as in TileStart.
  Elements(const char* p, const char* end, ElementType type, unsigned in_string)
      : p_(p), end_(end), type_(type), plain_(type) {
    if (in_string == 0) return;
    in_string_ = true;
    character_ = next_character(p_, end_);
    next_byte_ = in_string - 1;
  }

  /// The next element's value; false when there is none.
  bool next(T& value) {
    if (!in_string_ && quick(value)) return true;
    if constexpr (dialect == Dialect::typed) {
      return next_token_as(value);
    } else {
      return next_untyped(value);
    }
  }

 private:
  // Plain numbers: what is read here has the same value by the rules of number.h.
  bool quick(T& value) {
    using Read =
        std::conditional_t<dialect == Dialect::untyped && std::is_same_v<T, float>, double, T>;
    if (!plain_.plain()) return false;
    const char* p = p_;
    while (p != end_ && (is_space<dialect>(*p) || *p == ',' || *p == ']' || *p == '[')) ++p;
    if (dialect == Dialect::typed && std::is_integral_v<T> && may_be_octal(p)) return false;
    Read read = 0;
    const NumberText number = read_number(p, end_, read);
    if (number.error != NumberError::none) return false;
    const char* const stop = plain_.end_behind_digits(p, number.end, end_);
    if (stop == nullptr) return false;
    value = static_cast<T>(read);
    p_ = stop;
    return true;
  }

  bool may_be_octal(const char* p) const noexcept {
    if (p != end_ && (*p == '-' || *p == '+')) ++p;
    return end_ - p >= 2 && p[0] == '0' && is_digit(p[1]);
  }

  bool next_token_as(T& value) {
    std::string_view token;
    do {
      token = next_token(p_, end_);
      p_ = token.data() + token.size();
    } while (token == "[" || token == "," || token == "]");
    const Token counted(token, type_);
    return set(value, lex_typed(counted.text(), type_));
  }

  bool next_untyped(T& value) {
    while (true) {
      if (in_string_) {
        if (next_byte_ < character_.size()) {
          value = static_cast<T>(static_cast<unsigned char>(character_[next_byte_++]));
          return true;
        }
        if (p_ == end_) return false;
        if (*p_ != '"') {
          character_ = next_character(p_, end_);
          next_byte_ = 0;
          if (character_.empty()) return false;
          continue;
        }
        in_string_ = false;
        ++p_;
      }
      p_ = skip_blank<dialect>(p_, end_);
      if (p_ == end_) return false;
      if (*p_ == '"') {
        in_string_ = true;
        character_.clear();
        next_byte_ = 0;
      } else if (*p_ != ',' && *p_ != '[' && *p_ != ']') {
        break;
      }
      ++p_;
    }
    const auto numeral = lex_untyped(p_, end_, type_);
    if (numeral) p_ = numeral->end;
    return set(value, numeral);
  }

  static bool set(T& value, const std::optional<Numeral>& numeral) {
    if (!numeral) return false;
    const std::uint64_t bits = value_of<dialect>(*numeral);
    std::memcpy(&value, &bits, sizeof value);
    return true;
  }

  const char* p_;
  const char* end_;
  ElementType type_;
  PlainNumbers plain_;
  bool in_string_ = false;
  std::string character_;  // of the string
  unsigned next_byte_ = 0;
};

}  // namespace dapple::detail::futhark
