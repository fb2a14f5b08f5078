// The C++ types of the ten value types as a list, for explicit instantiations.
#pragma once

#include <cstdint>

// clang-format off
/// M(T) for each of them.
#define DAPPLE_FOR_EACH_VALUE(M)                                            \
  M(std::uint8_t) M(std::uint16_t) M(std::uint32_t) M(std::uint64_t)        \
  M(std::int8_t) M(std::int16_t) M(std::int32_t) M(std::int64_t)            \
  M(float) M(double)
// clang-format on
