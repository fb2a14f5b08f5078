// The types of cells, and their C++ types, names and sizes. The enumerators' values are the codes
// that files contain (DAPHNE binary format 1, "Value types").
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace dapple {

enum class ValueType : std::uint8_t {
  u8 = 1,
  u16 = 2,
  u32 = 3,
  u64 = 4,
  i8 = 5,
  i16 = 6,
  i32 = 7,
  i64 = 8,
  f32 = 9,
  f64 = 10,
};

inline constexpr std::array<ValueType, 10> kValueTypes = {
    ValueType::u8,  ValueType::u16, ValueType::u32, ValueType::u64, ValueType::i8,
    ValueType::i16, ValueType::i32, ValueType::i64, ValueType::f32, ValueType::f64};

/// The C++ types that a cell can have.
template <class T>
concept Value = std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || std::same_as<T, float> ||
    std::same_as<T, double>;

template <Value T>
constexpr ValueType value_type_of() noexcept {
  if constexpr (std::same_as<T, float>) {
    return ValueType::f32;
  } else if constexpr (std::same_as<T, double>) {
    return ValueType::f64;
  } else {
    constexpr int log2_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<ValueType>((std::is_signed_v<T> ? 5 : 1) + log2_size);
  }
}

constexpr bool is_float(ValueType type) noexcept { return type >= ValueType::f32; }
constexpr bool is_signed(ValueType type) noexcept { return type >= ValueType::i8; }

/// Bytes of one value.
constexpr std::size_t size_of(ValueType type) noexcept {
  constexpr std::array<std::uint8_t, 11> sizes = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

/// "u8" ... "f64".
constexpr std::string_view name(ValueType type) noexcept {
  constexpr std::array<std::string_view, 11> names = {"",    "u8",  "u16", "u32", "u64", "i8",
                                                      "i16", "i32", "i64", "f32", "f64"};
  return names[static_cast<std::size_t>(type)];
}

/// The type of that name, or nothing.
constexpr std::optional<ValueType> find_value_type(std::string_view wanted) noexcept {
  for (ValueType type : kValueTypes) {
    if (name(type) == wanted) return type;
  }
  return std::nullopt;
}

/// The type of that code in a file, or nothing (rule R1).
constexpr std::optional<ValueType> value_type_of_code(std::uint8_t code) noexcept {
  if (code < 1 || code > 10) return std::nullopt;
  return static_cast<ValueType>(code);
}

/// True when every value of `narrow` is a value of `wide`, exactly.
constexpr bool holds_all(ValueType wide, ValueType narrow) noexcept {
  if (wide == narrow) return true;
  const std::size_t w = size_of(wide), n = size_of(narrow);
  if (is_float(wide)) return n < w;  // f32: 24 bits hold u16, i16; f64: 53 bits hold u32, i32
  if (is_float(narrow)) return false;
  if (is_signed(narrow) && !is_signed(wide)) return false;
  return n < w;
}

/// Calls `f` with a value-initialised object of the C++ type that `type` names:
/// `visit_type(t, [&](auto tag) { using T = decltype(tag); ... })`.
template <class F>
constexpr decltype(auto) visit_type(ValueType type, F&& f) {
  switch (type) {
    case ValueType::u8:
      return f(std::uint8_t{});
    case ValueType::u16:
      return f(std::uint16_t{});
    case ValueType::u32:
      return f(std::uint32_t{});
    case ValueType::u64:
      return f(std::uint64_t{});
    case ValueType::i8:
      return f(std::int8_t{});
    case ValueType::i16:
      return f(std::int16_t{});
    case ValueType::i32:
      return f(std::int32_t{});
    case ValueType::i64:
      return f(std::int64_t{});
    case ValueType::f32:
      return f(float{});
    case ValueType::f64:
      break;
  }
  return f(double{});
}

}  // namespace dapple
