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
  std::uint32_t levels = 0;  // of nodes inside each other, without those that join like the outer

  ~ExpressionNode();
};

using ExpressionPart = std::shared_ptr<const ExpressionNode>;

ExpressionPart make_test(ExpressionNode::Column column, ColumnCondition condition);

/// A single part is left as it is, unless it is negated. Throws invalid_argument when parts would
/// be nested too deeply. O(parts), whatever is in them.
ExpressionPart join(ExpressionNode::Kind kind, std::span<const ExpressionPart> parts);

/// What a node joins, from left to right. A chain that was joined one by one has its parts inside
/// each other; here they are side by side, however many.
std::vector<const ExpressionNode*> parts_of(const ExpressionNode& node);

/// The number of the column of a test. Throws absent, out_of_range.
std::uint64_t column_of(const Frame& frame, const ExpressionNode& test);

}  // namespace dapple::detail
