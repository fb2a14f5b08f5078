// Copying runs of cells from one value type to another, exactly (rule R6).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/value_type.h"
#include "lib/base/bytes.h"

namespace dapple::detail {

/// Copies `n` values of type `from`, `from_step` bytes apart, to values of type `to`, `to_step`
/// bytes apart. Returns how many were copied: less than `n` when the next one does not fit `to`
/// exactly (a number outside its range, a fraction, minus zero to an integer, a rounded float).
/// Equal types are copied bit for bit; NaN fits a float type when its payload does. Any address
/// and any step will do; the memory must not overlap. Bytes behind the count may be overwritten
/// within the `n` values. A run of values that all fit costs one pass without branches.
std::size_t convert_cells(ValueType from, const std::byte* source, std::size_t from_step,
                          ValueType to, std::byte* target, std::size_t to_step, std::size_t n);

/// The same with rounding as `convert_cell_lossy`.
std::size_t convert_cells_lossy(ValueType from, const std::byte* source, std::size_t from_step,
                                ValueType to, std::byte* target, std::size_t to_step,
                                std::size_t n);

/// One value, given and returned in the low bytes of a word. False when it does not fit exactly.
bool convert_cell(ValueType from, std::uint64_t bits, ValueType to, std::uint64_t& result) noexcept;

/// The same with rounding to the nearest value of `to`, ties to even; beyond the largest float
/// lies infinity. False only when the rounded number lies outside the range of an integer type,
/// or is NaN there.
bool convert_cell_lossy(ValueType from, std::uint64_t bits, ValueType to,
                        std::uint64_t& result) noexcept;

/// Calls f with an unsigned number as wide as the values of a type: what only moves bits needs a
/// loop for each width, not for each type.
template <class F>
auto visit_bits(ValueType type, const F& f) {
  switch (size_of(type)) {
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

/// The value at `p`, in the low bytes of a word.
inline std::uint64_t load_bits(ValueType type, const std::byte* p) noexcept {
  return visit_bits(type, [&](auto tag) -> std::uint64_t { return load_le<decltype(tag)>(p); });
}

inline void store_bits(ValueType type, std::byte* p, std::uint64_t bits) noexcept {
  visit_bits(type, [&](auto tag) { store_le(p, static_cast<decltype(tag)>(bits)); });
}

/// True when one of `n` values, one behind the other, is positive zero. Looks at all of them,
/// because a loop without a way out is made of vectors.
bool has_zeros(ValueType type, const std::byte* values, std::size_t n) noexcept;

}  // namespace dapple::detail
