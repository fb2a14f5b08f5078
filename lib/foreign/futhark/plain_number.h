// The short cut that reading text lives on: nearly all elements are decimal numbers without
// anything peculiar, which both dialects understand in the same way.
#pragma once

#include <cstdint>
#include <cstring>

#include "lib/base/text.h"
#include "lib/foreign/futhark/element.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

/// Recognises plain elements of one type. Whatever it does not recognise may still be an element.
class PlainNumbers {
 public:
  explicit PlainNumbers(ElementType type) noexcept
      : plain_(type != ElementType::f16 && type != ElementType::boolean), real_(is_real(type)) {
    const std::string_view name = info(type).name;
    length_ = name.size();
    std::memcpy(&suffix_, name.data(), length_);
    mask_ = (std::uint32_t{1} << (8 * length_ - 1) << 1) - 1;
  }

  /// The end of the element at `p`: perhaps a minus, decimal digits, for reals perhaps a fraction,
  /// perhaps the suffix, and then what `end_behind_digits` asks for. nullptr for all else.
  const char* end_of(const char* p, const char* end) const noexcept {
    if (!plain_) return nullptr;
    const char* const digits = p != end && *p == '-' ? p + 1 : p;
    const char* q = skip_digits(digits, end);
    if (q == digits || (*digits == '0' && q - digits > 1)) return nullptr;  // perhaps octal
    if (real_ && q != end && *q == '.') {
      const char* const fraction = q + 1;
      q = skip_digits(fraction, end);
      if (q == fraction) return nullptr;
    }
    return end_behind_digits(p, q, end);
  }

  /// The end of an element whose digits [p, q) are known, if the suffix or nothing follows them,
  /// and then white space, a comma or a bracket. nullptr otherwise.
  const char* end_behind_digits(const char* p, const char* q, const char* end) const noexcept {
    if (q != end && !ends_element(*q)) {
      std::uint32_t word = 0;  // four characters: the suffix, and at least one after it
      if (end - q < static_cast<std::ptrdiff_t>(sizeof word)) return nullptr;
      std::memcpy(&word, q, sizeof word);
      if ((word & mask_) != suffix_) return nullptr;
      q += length_;
    }
    if (q == end || !ends_element(*q) || q - p > static_cast<std::ptrdiff_t>(kTokenLimit)) {
      return nullptr;
    }
    return q;
  }

  bool plain() const noexcept { return plain_; }

 private:
  static bool ends_element(char c) noexcept {
    return c == ',' || c == ']' || c == ' ' || c == '\n';
  }
  static const char* skip_digits(const char* p, const char* end) noexcept {
    while (p != end && is_digit(*p)) ++p;
    return p;
  }

  bool plain_, real_;
  std::size_t length_;        // of the suffix: two or three characters of
  std::uint32_t suffix_ = 0;  //   this word,
  std::uint32_t mask_ = 0;    //   which these bits select
};

}  // namespace dapple::detail::futhark
