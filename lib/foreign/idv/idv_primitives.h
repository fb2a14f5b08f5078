// The two variable-length primitives of the format: LEB128 numbers, and UTF-8 strings that start
// with one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lib/base/bytes.h"

namespace dapple::detail::idv {

/// .NET keeps lengths in signed 32-bit integers; so do the fields of this format.
inline constexpr std::uint64_t kMaxInt = 0x7fffffff;

/// An unsigned LEB128 number: seven bits a byte, lowest first, at most ten bytes of which the
/// tenth is at most 1. Throws corrupt when it is longer or cut off; `what` names it.
std::uint64_t read_leb128(ByteReader& in, std::string_view what);

/// The length of a string in bytes as LEB128, at most 2^31 - 1. Throws corrupt.
std::uint64_t read_string_length(ByteReader& in, std::string_view what);

/// A string: its length, then UTF-8. Throws corrupt when it is too long, cut off, or not UTF-8.
std::string read_string(ByteReader& in, std::string_view what);

/// A signed number that may not be negative. Throws corrupt; `what` names it.
template <std::signed_integral T>
std::make_unsigned_t<T> read_natural(ByteReader& in, std::string_view what) {
  const std::uint64_t at = in.offset();
  const T value = in.le<T>(what);
  if (value < 0) {
    in.fail(at, std::string(what) + " cannot be negative: " + std::to_string(value));
  }
  return static_cast<std::make_unsigned_t<T>>(value);
}

void put_leb128(std::vector<std::byte>& out, std::uint64_t value);
void put_string(std::vector<std::byte>& out, std::string_view text);

}  // namespace dapple::detail::idv
