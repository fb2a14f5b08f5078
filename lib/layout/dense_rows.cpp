#include "lib/layout/dense_rows.h"

#include <array>
#include <bit>
#include <cstring>

#include "lib/base/ask_ahead.h"
#include "lib/base/bytes.h"
#include "lib/base/vectors.h"

namespace dapple::detail {

namespace {

/// Which of 64 cells are not zero.
template <class Bits>
inline std::uint64_t nonzero_mask(const std::byte* cells) noexcept {
  std::array<std::uint8_t, 64> flags;
  for (std::size_t i = 0; i < 64; ++i) flags[i] = load_le<Bits>(cells + i * sizeof(Bits)) != 0;
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < 64; i += 8) {
    // Eight bytes of 0 or 1 become eight bits: byte i, times 2^(7 * (8 - i)), is bit 56 + i.
    const auto eight = load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(&flags[i]));
    mask |= eight * 0x0102040810204080U >> 56 << i;
  }
  return mask;
}

/// One hard-to-predict branch in 64 cells.
template <class Bits>
DAPPLE_VECTORS std::uint64_t take_row(const std::byte* row, std::uint32_t width,
                                      std::uint32_t* cols, std::byte* values) {
  std::uint64_t k = 0;
  const auto take = [&](std::uint32_t c) {
    cols[k] = c;
    std::memcpy(values + k * sizeof(Bits), row + std::size_t{c} * sizeof(Bits), sizeof(Bits));
    ++k;
  };
  const auto take_64 = [&](std::uint32_t c, std::uint64_t wanted) {
    const std::byte* const cells = row + std::size_t{c} * sizeof(Bits);
    ask_ahead(cells, 64 * sizeof(Bits));  // wins a quarter of a conversion to BTable
    for (std::uint64_t mask = nonzero_mask<Bits>(cells) & wanted; mask != 0; mask &= mask - 1) {
      take(c + static_cast<std::uint32_t>(std::countr_zero(mask)));
    }
  };
  std::uint32_t c = 0;
  for (; width - c >= 64; c += 64) take_64(c, ~std::uint64_t{0});
  if (width >= 64 && c < width) {
    // The last 64, of which some are done.
    take_64(width - 64, ~std::uint64_t{0} << (64 - (width - c)));
    c = width;
  }
  for (; c < width; ++c) {
    if (load_le<Bits>(row + std::size_t{c} * sizeof(Bits)) != 0) take(c);
  }
  return k;
}

}  // namespace

std::uint64_t take_nonzero(std::size_t size, const std::byte* row, std::uint32_t width,
                           std::uint32_t* cols, std::byte* values) {
  return visit_size(size,
                    [&](auto bits) { return take_row<decltype(bits)>(row, width, cols, values); });
}

}  // namespace dapple::detail
