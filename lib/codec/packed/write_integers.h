// Packs a stream of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/codec/packed/bit_kernels.h"
#include "lib/codec/packed/format.h"

namespace dapple::detail::packed {

using Bytes = std::vector<std::byte>;

/// The lowest `size` bytes of the word.
void append_word(Bytes& out, std::uint64_t word, std::size_t size);

/// Integers of `size` bytes, in the low bytes of words.
template <Word W>
struct Integers {
  std::span<const W> words;
  unsigned size;
  bool is_signed = false;
};

struct IntegerPlan {
  Mode mode = Mode::offsets;
  std::uint8_t lag = 1;  // of zigzag, up to kMostLag
  bool zstd = false;     // with widths of whole bytes
  int level = 3;         // of zstd
};

/// Appends the stream that `IntegerReader` reads. False, and `out` is unspecified, if it would take
/// 4 GiB or more.
template <Word W>
bool write_integers(const Integers<W>& integers, IntegerPlan plan, Bytes& out);

/// The width that makes 128 integers or fewer smallest, with those that are wider as exceptions.
struct GroupWidth {
  unsigned width = 0, exceptions = 0, high = 0;
  std::size_t bytes = 0;
};
/// `lengths` counts the integers of each bit length; widths are multiples of `step`.
GroupWidth best_width(std::span<const std::uint16_t, 65> lengths, std::size_t n, unsigned step);

}  // namespace dapple::detail::packed
