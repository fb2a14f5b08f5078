// The twelve element types of Futhark and what dapple reads them as; half-precision numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/value_type.h"

namespace dapple::detail::futhark {

enum class ElementType : std::uint8_t {
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  f32,
  f64,
  boolean
};

struct ElementInfo {
  std::string_view name;  // in types and after numbers
  std::string_view code;  // in the header of a binary value
  std::uint8_t size;      // bytes of a binary element
  ValueType cell;         // what it is read as
};

inline constexpr std::array<ElementInfo, 12> kElements = {{
    {"i8", "  i8", 1, ValueType::i8},
    {"i16", " i16", 2, ValueType::i16},
    {"i32", " i32", 4, ValueType::i32},
    {"i64", " i64", 8, ValueType::i64},
    {"u8", "  u8", 1, ValueType::u8},
    {"u16", " u16", 2, ValueType::u16},
    {"u32", " u32", 4, ValueType::u32},
    {"u64", " u64", 8, ValueType::u64},
    {"f16", " f16", 2, ValueType::f32},
    {"f32", " f32", 4, ValueType::f32},
    {"f64", " f64", 8, ValueType::f64},
    {"bool", "bool", 1, ValueType::u8},
}};

constexpr const ElementInfo& info(ElementType type) noexcept {
  return kElements[static_cast<std::size_t>(type)];
}

constexpr bool is_real(ElementType type) noexcept {
  return type >= ElementType::f16 && type <= ElementType::f64;
}

/// The type whose `word` (name or code) is `wanted`, or nothing.
constexpr std::optional<ElementType> find_element(std::string_view ElementInfo::*word,
                                                  std::string_view wanted) noexcept {
  for (std::size_t i = 0; i < kElements.size(); ++i) {
    if (kElements[i].*word == wanted) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

/// Most dimensions that any reader of the format takes (the rank is a signed byte).
inline constexpr unsigned kMaxRank = 127;

/// What a compiled program expects: "[][]f32" is {f32, 2}.
struct Type {
  ElementType element = ElementType::i32;
  unsigned rank = 0;
};

/// The types in a list such as "[][]f32, i32"; commas and blanks separate. Throws
/// invalid_argument.
std::vector<Type> parse_types(std::span<const std::string> lists);

/// "[][]f32".
std::string text(const Type& type);
/// "[3][4]f32".
std::string text(ElementType element, std::span<const std::uint64_t> dims);

/// Rounds toward zero; 65536 and above become infinity.
std::uint16_t float_to_half_truncated(float value) noexcept;

/// Rounds to the nearest half, ties to even.
std::uint16_t float_to_half_nearest(float value) noexcept;

}  // namespace dapple::detail::futhark
