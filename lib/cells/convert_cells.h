// Converting runs of cells from one value type to another, exactly (R6).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/value_type.h"
#include "lib/base/bytes.h"

namespace dapple::detail {

/// Copies `n` values of type `from`, `from_step` bytes apart, to values of type `to`, `to_step`
/// bytes apart. Returns how many were converted: fewer than `n` when the next value does not fit
/// `to` exactly (out of range, a fraction, minus zero to an integer, a float that would be
/// rounded). Equal types are copied bit for bit; a NaN fits a float type that holds its payload.
/// Addresses and steps need no alignment; source and target must not overlap. After an early stop,
/// the remaining target values are unspecified. O(n); values that fit take one branch-free pass.
std::size_t convert_cells(ValueType from, const std::byte* source, std::size_t from_step,
                          ValueType to, std::byte* target, std::size_t to_step, std::size_t n);

/// The same, rounding as `convert_cell_lossy` does.
std::size_t convert_cells_lossy(ValueType from, const std::byte* source, std::size_t from_step,
                                ValueType to, std::byte* target, std::size_t to_step,
                                std::size_t n);

/// Converts one value, held in the low bytes of a word. False when it does not fit exactly.
bool convert_cell(ValueType from, std::uint64_t bits, ValueType to, std::uint64_t& result) noexcept;

/// The same, rounding to the nearest value of `to`, ties to even. False when the rounded number is
/// outside the range of `to` (a finite value never becomes infinity), or a NaN has to become an
/// integer.
bool convert_cell_lossy(ValueType from, std::uint64_t bits, ValueType to,
                        std::uint64_t& result) noexcept;

/// Calls f with an unsigned integer as wide as the values of `type`. Code that only moves bits is
/// instantiated per width, not per type.
template <class F>
auto visit_bits(ValueType type, const F& f) {
  return visit_size(size_of(type), f);
}

/// The value at `p`, in the low bytes of a word.
inline std::uint64_t load_bits(ValueType type, const std::byte* p) noexcept {
  return visit_bits(type, [&](auto tag) -> std::uint64_t { return load_le<decltype(tag)>(p); });
}

inline void store_bits(ValueType type, std::byte* p, std::uint64_t bits) noexcept {
  visit_bits(type, [&](auto tag) { store_le(p, static_cast<decltype(tag)>(bits)); });
}

/// True when any of `n` contiguous values is positive zero. Reads all of them: a loop without an
/// early exit vectorises.
bool has_zeros(ValueType type, const std::byte* values, std::size_t n) noexcept;

}  // namespace dapple::detail
