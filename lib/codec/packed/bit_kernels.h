// Runs of integers of a few bits each, one after the other from the lowest bit of the first byte
// on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/bytes.h"

namespace dapple::detail::packed {

/// What is computed with: 32 bits for values of up to four bytes, else 64.
template <class W>
concept Word = std::same_as<W, std::uint32_t> || std::same_as<W, std::uint64_t>;

/// Bytes after packed integers that `unpack` may read.
inline constexpr std::size_t kSlack = 64;

/// Which instructions loops use.
enum class Instructions : std::uint8_t { plain, avx2, avx512 };
/// The widest that the processor has.
Instructions best_instructions() noexcept;

/// The lowest `width` bits of a word.
constexpr std::uint64_t low_bits(unsigned width) noexcept {
  return width == 0 ? 0 : ~std::uint64_t{0} >> (64 - width);
}

constexpr std::size_t packed_bytes(std::size_t n, unsigned width) noexcept {
  return (n * width + 7) / 8;
}

/// out[i] = add + the i-th of `n` integers of `width` bits. Writes up to 7 words after the last.
/// REQUIRES width <= bits of W; kSlack readable bytes after the integers; `by` that the processor
/// has.
template <Word W>
void unpack(const std::byte* in, std::size_t n, unsigned width, W add, W* out,
            Instructions by = best_instructions()) noexcept;

/// The same, modulo 2^8.
void unpack(const std::byte* in, std::size_t n, unsigned width, std::uint8_t add, std::uint8_t* out,
            Instructions by = best_instructions()) noexcept;

/// The lowest `width` bits of each value. REQUIRES packed_bytes(n, width) bytes at `out`.
template <Word W>
void pack(const W* values, std::size_t n, unsigned width, std::byte* out) noexcept;

/// Gaps to columns, in place: each is its gap plus 1 plus the one before it, the first after
/// `before`. False, and what was written is unspecified, if a column is not less than `width`.
bool gaps_to_columns(std::uint32_t* gaps, std::size_t n, std::uint32_t before, std::uint32_t width,
                     Instructions by = best_instructions()) noexcept;

}  // namespace dapple::detail::packed
