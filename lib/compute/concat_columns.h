// Merging the columns of frames that are put together by rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/object/store.h"

namespace dapple::detail {

/// The narrowest type that holds both. Where there is none, i64 for integers and f64 with floats:
/// a value that it does not hold exactly is an error when it is read (rule R6).
ValueType common_type(ValueType a, ValueType b) noexcept;

/// What the stored numbers of one frame's column are in the merged column.
struct Recode {
  std::vector<std::uint32_t> codes{};      // of words, by code
  std::optional<std::uint64_t> missing{};  // every cell is this mark, a value of `type`
  ValueType type = ValueType::u32;

  /// True when they stay what they are.
  bool keeps() const noexcept { return codes.empty() && !missing; }
};

/// The column that column `col` of all these frames makes, and how the numbers of each frame
/// change. A column of numbers all of which are missing has no meaning of its own, and takes that
/// of the others. Throws invalid_argument when labels or meanings differ. O(words); O(rows) for
/// columns that may be such.
Column merge_column(std::span<const Store* const> frames, std::size_t col,
                    std::vector<Recode>& recode);

}  // namespace dapple::detail
