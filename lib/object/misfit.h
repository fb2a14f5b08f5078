// The error for a stored value that does not fit the type it is read as (R6).
#pragma once

#include <cstdint>
#include <string>

#include "lib/object/store.h"

namespace dapple::detail {

/// A cell inside a block, counted from the block's first.
struct CellInBlock {
  std::uint64_t row, col;
};

/// A value that is not one of `wanted`: "300 in cell (0, 1) does not fit u8", or "0.5 in cell (0,
/// 1) is not exact as u8", which rounds.
struct Misfit {
  std::string text;
  bool rounds;
};
Misfit misfit_of(ValueType type, std::uint64_t bits, BlockPos cell, ValueType wanted);

/// `value` points to the value in the mapped file, of the entry's type. Throws corrupt when
/// `wanted` is the type that the cell's column declares, type_mismatch otherwise.
[[noreturn]] void fail_misfit(const Store& store, const Entry& entry, CellInBlock cell,
                              const std::byte* value, ValueType wanted);

/// The same for a value at byte `at` of the file that has another byte order; `value` is a copy in
/// the machine's.
[[noreturn]] void fail_misfit_at(std::uint64_t at, const Store& store, const Entry& entry,
                                 CellInBlock cell, const std::byte* value, ValueType wanted);

}  // namespace dapple::detail
