// Half-precision floats: IEEE 754 binary16.
#pragma once

#include <bit>
#include <cstdint>

namespace dapple::detail {

/// The number that the sixteen bits of a half stand for. Exact; a NaN keeps its payload.
constexpr float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace dapple::detail
