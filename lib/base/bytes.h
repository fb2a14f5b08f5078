// Numbers from and to bytes in both byte orders, and the one bounds check that parsers use.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dapple/error.h"

namespace dapple::detail {

template <class T>
concept Number = std::is_arithmetic_v<T>;

/// The unsigned integer of 1, 2, 4 or 8 bytes.
template <std::size_t kSize>
using BitsOfSize = std::conditional_t<
    kSize == 1, std::uint8_t,
    std::conditional_t<kSize == 2, std::uint16_t,
                       std::conditional_t<kSize == 4, std::uint32_t, std::uint64_t>>>;
/// The one of the same size.
template <class T>
using BitsOf = BitsOfSize<sizeof(T)>;

/// Calls f with an unsigned integer of 1, 2, 4 or 8 bytes.
template <class F>
auto visit_size(std::size_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

/// `value` with its bytes in the opposite order.
template <Number T>
constexpr T swap_bytes(T value) noexcept {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  } else {
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  }
}

// The map is read in place, so the host must have the file's byte order.
static_assert(std::endian::native == std::endian::little, "dapple needs a little-endian machine");
// What a file counts in 64 bits is a size or an index in memory.
static_assert(sizeof(std::size_t) == 8, "dapple needs a 64-bit machine");

template <Number T>
T load_le(const std::byte* p) noexcept {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <Number T>
T load_be(const std::byte* p) noexcept {
  return swap_bytes(load_le<T>(p));
}

template <Number T>
void store_le(std::byte* p, T value) noexcept {
  std::memcpy(p, &value, sizeof value);
}

template <Number T>
void store_be(std::byte* p, T value) noexcept {
  store_le(p, swap_bytes(value));
}

template <Number T>
void append_le(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof value);
  store_le(out.data() + out.size() - sizeof value, value);
}

inline void append_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Reads a run of bytes front to back. Every read is compared with what remains; a read past the
/// end throws corrupt, naming the file, the byte, what was wanted and what is left.
class ByteReader {
 public:
  /// `bytes` starts at byte `offset` of `file`. Both must outlive the reader. Or, in a block that
  /// was inflated from byte `inflated` of the file on, which is what errors name then.
  ByteReader(std::span<const std::byte> bytes, std::uint64_t offset, const std::string& file,
             std::optional<std::uint64_t> inflated = {}) noexcept
      : bytes_(bytes), offset_(offset), file_(&file), inflated_(inflated) {}

  /// Byte of the file that is read next.
  std::uint64_t offset() const noexcept { return offset_ + at_; }
  std::uint64_t remaining() const noexcept { return bytes_.size() - at_; }
  /// The file's name, for messages.
  const std::string& file() const noexcept { return *file_; }

  template <Number T>
  T le(std::string_view what) {
    return load_le<T>(take(sizeof(T), what).data());
  }
  template <Number T>
  T be(std::string_view what) {
    return load_be<T>(take(sizeof(T), what).data());
  }

  /// The next `n` bytes; `what` names them in the error.
  std::span<const std::byte> take(std::uint64_t n, std::string_view what) {
    if (n > remaining()) fail_short(n, what);
    const auto part = bytes_.subspan(at_, n);
    at_ += n;
    return part;
  }

  /// Throws corrupt for the byte at `offset`.
  [[noreturn]] void fail(std::uint64_t offset, std::string detail) const;

 private:
  [[noreturn]] void fail_short(std::uint64_t n, std::string_view what) const;

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t offset_;
  const std::string* file_;
  std::optional<std::uint64_t> inflated_;
};

/// "1 byte", "3 bytes".
std::string counted(std::uint64_t n, std::string_view what);
/// "3 x 4", of any number of them.
std::string extents_text(std::span<const std::uint64_t> extents);
std::string extents_text(std::uint64_t rows, std::uint64_t cols);
/// The message for `n` bytes of `what` of which only `left` are there.
std::string too_short(std::uint64_t n, std::string_view what, std::uint64_t left);
/// The message for `n` bytes after `what`, where nothing should follow.
std::string surplus(std::uint64_t n, std::string_view what);

/// Stores a * b; false on overflow.
inline bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) noexcept {
  return !__builtin_mul_overflow(a, b, &product);
}

/// `n` rounded up to a multiple of the power of two `unit`. REQUIRES no overflow.
constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) noexcept {
  return (n + unit - 1) & ~(unit - 1);
}

}  // namespace dapple::detail
