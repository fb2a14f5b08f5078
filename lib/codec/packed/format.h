// The constants of packed payloads, which FORMAT.md describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "lib/base/bytes.h"

namespace dapple::detail::packed {

inline constexpr std::uint8_t kVersion = 1;

/// How the values of a stream are encoded.
enum class Kind : std::uint8_t { raw, constant, integers, dictionary, decimal, split, marked };

/// What the integers of a group are relative to.
enum class Mode : std::uint8_t {
  offsets,  // the reference and the group's base
  deltas,   // the integer before, plus the reference
  zigzag,   // an integer before, such as the pixel to the left; differences in zigzag order: 0, -1,
            // 1, -2, ...
};

inline constexpr std::size_t kGroup = 128;
/// Groups that are found at once, and decompressed at once.
inline constexpr std::size_t kPlainPiece = 8, kZstdPiece = 32;
inline constexpr std::uint8_t kZstdFlag = 4;  // beside the mode
inline constexpr unsigned kLagShift = 3;      // of the lag of zigzag, less 1
inline constexpr std::uint8_t kMostLag = 4;
inline constexpr std::size_t kGroupHead = 3;  // and the bytes of the base
/// Bytes of the largest piece before compression.
inline constexpr std::size_t kMostPiece =
    kZstdPiece * (kGroupHead + 8 + kGroup * 8 + kGroup + kGroup * 8);

inline constexpr std::size_t kMostWords = 65536;  // of a dictionary

/// Integers of `decimal` are biased, so that they are not negative: 2^30 or, of f64, 2^51.
inline constexpr std::uint64_t kBias32 = std::uint64_t{1} << 30, kBias64 = std::uint64_t{1} << 51;
inline constexpr int kMostExponent = 22;  // powers of ten up to here are exact in f64

/// A packed payload in memory, and where it is, for errors.
struct Source {
  std::span<const std::byte> bytes;
  std::uint64_t offset;     // of the first byte in the file
  const std::string* file;  // its name

  /// Reads a part of the payload from its start on.
  ByteReader reader(std::span<const std::byte> part) const noexcept {
    return {part, offset_of(part.data()), *file};
  }
  std::uint64_t offset_of(const std::byte* at) const noexcept {
    return offset + static_cast<std::uint64_t>(at - bytes.data());
  }
  /// Throws corrupt for that byte of the payload.
  [[noreturn]] void fail(const std::byte* at, std::string detail) const {
    reader(bytes).fail(offset_of(at), std::move(detail));
  }
};

/// The lowest `size` bytes of a word.
inline std::uint64_t load_word(const std::byte* p, std::size_t size) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, p, size);
  return word;
}

}  // namespace dapple::detail::packed
