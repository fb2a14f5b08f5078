// EXPR of dapple where: '> 5', '== Ann', '== " Ann"', 1..5, nan, missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dapple/where_rows.h"

namespace dapple::cli {

/// A condition as it was typed; what its bounds are is decided by what they are compared with.
struct ShortCondition {
  enum class How : std::uint8_t { above, at_least, below, at_most, equal, between, nan, missing };

  struct Bound {
    std::string text;
    bool quoted = false;  // it was in quotes, and is a word, whatever it looks like
  };

  std::string whole;
  How how = How::nan;
  Bound low, high;  // the same one unless `how` is between
};

/// Throws UsageError.
ShortCondition parse_condition(std::string_view text);

/// The condition on cells of a matrix. Throws UsageError when a bound is no number.
Condition number_condition(const ShortCondition& expression);

/// The condition on cells of this column: numbers of one of numbers, text of others. Bounds that
/// are none for the column are reported by the search.
ColumnCondition column_condition(const ShortCondition& expression, const Column& column);

}  // namespace dapple::cli
