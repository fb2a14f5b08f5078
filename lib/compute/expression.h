// A condition on rows as a tree.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dapple/where_rows.h"

namespace dapple::detail {

struct ExpressionNode {
  enum class Kind : std::uint8_t { test, all, any, negation };
  using Column = std::variant<std::string, std::uint64_t>;  // a label, or a number

  Kind kind = Kind::test;
  Column column{};                                          // of a test
  ColumnCondition condition = Condition::nan();             // of a test
  std::vector<std::shared_ptr<const ExpressionNode>> of{};  // of all others
};

using ExpressionPart = std::shared_ptr<const ExpressionNode>;

ExpressionPart make_test(ExpressionNode::Column column, ColumnCondition condition);

/// Parts side by side, not one inside the other, however many are put together; a single one as it
/// is, unless it is negated.
ExpressionPart join(ExpressionNode::Kind kind, std::span<const ExpressionPart> parts);

/// The number of the column of a test. Throws absent, out_of_range.
std::uint64_t column_of(const Frame& frame, const ExpressionNode& test);

}  // namespace dapple::detail
