// The short cut that reading text lives on: nearly all elements are decimal numbers without
// anything peculiar, which both dialects understand in the same way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "lib/base/text.h"
#include "lib/foreign/futhark/element.h"
#include "lib/foreign/futhark/tokens.h"

namespace dapple::detail::futhark {

/// Reads plain elements of one type. Whatever it does not recognise may still be an element.
class PlainNumbers {
 public:
  explicit PlainNumbers(ElementType type) noexcept
      : plain_(type != ElementType::f16 && type != ElementType::boolean),
        implied_(type == ElementType::i32) {
    const std::string_view name = info(type).name;
    length_ = name.size();
    std::memcpy(&suffix_, name.data(), length_);
    mask_ = (std::uint32_t{1} << (8 * length_ - 1) << 1) - 1;
  }

  /// Reads the element at `p`: perhaps a minus, a decimal number with digits at both ends, perhaps
  /// the suffix, and then white space, a comma or a bracket. Returns its end, or nullptr for all
  /// else; with `telling` also for a number from which the type does not follow. T is the cell
  /// type.
  template <Dialect dialect, class T>
  const char* read(const char* p, const char* end, bool telling, T& value) const noexcept {
    // The untyped readers make every real a double first.
    using Read =
        std::conditional_t<dialect == Dialect::untyped && std::is_same_v<T, float>, double, T>;
    const char* const digits = p != end && *p == '-' ? p + 1 : p;
    if (!plain_ || end - digits < 2 || !is_digit(*digits)) return nullptr;
    if (*digits == '0' && is_digit(digits[1])) return nullptr;  // perhaps octal
    Read read{};
    const NumberText number = read_number(p, end, read);
    if (number.error != NumberError::none || !is_digit(number.end[-1])) return nullptr;
    const char* const stop = end_behind(p, number.end, end);
    if (stop == nullptr) return nullptr;
    if (telling && !implied_ && (stop == number.end || has_exponent(p, stop))) return nullptr;
    value = static_cast<T>(read);
    return stop;
  }

 private:
  static bool ends_element(char c) noexcept {
    return c == ',' || c == ']' || c == ' ' || c == '\n';
  }
  static bool has_exponent(const char* p, const char* end) noexcept {
    return std::any_of(p, end, [](char c) { return (c | 0x20) == 'e'; });
  }

  /// The end of an element whose number is [p, q).
  const char* end_behind(const char* p, const char* q, const char* end) const noexcept {
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

  bool plain_;
  bool implied_;              // by a number without a suffix
  std::size_t length_;        // of the suffix: two or three characters of
  std::uint32_t suffix_ = 0;  //   this word,
  std::uint32_t mask_ = 0;    //   which these bits select
};

}  // namespace dapple::detail::futhark
