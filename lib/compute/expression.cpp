#include "lib/compute/expression.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dapple {

using detail::ExpressionNode;
using Kind = ExpressionNode::Kind;

namespace {

/// Calls f(test) for each test, from left to right.
template <class F>
void each_test(const ExpressionNode& node, const F& f) {
  if (node.kind == Kind::test) return f(node);
  for (const auto& part : node.of) each_test(*part, f);
}

}  // namespace

namespace detail {

ExpressionPart make_test(ExpressionNode::Column column, ColumnCondition condition) {
  auto node = std::make_shared<ExpressionNode>();
  node->column = std::move(column);
  node->condition = std::move(condition);
  return node;
}

ExpressionPart join(Kind kind, std::span<const ExpressionPart> parts) {
  if (parts.size() == 1 && kind != Kind::negation) return parts.front();
  auto node = std::make_shared<ExpressionNode>();
  node->kind = kind;
  for (const auto& part : parts) {
    if (part->kind == kind && kind != Kind::negation) {
      node->of.insert(node->of.end(), part->of.begin(), part->of.end());
    } else {
      node->of.push_back(part);
    }
  }
  return node;
}

std::uint64_t column_of(const Frame& frame, const ExpressionNode& test) {
  if (const auto* label = std::get_if<std::string>(&test.column)) return frame.column(*label);
  const std::uint64_t col = std::get<std::uint64_t>(test.column);
  frame.column_info(col);  // is there
  return col;
}

}  // namespace detail

ColumnCondition ColumnCondition::one_of(std::vector<std::string> values) {
  ColumnCondition made{How::one_of, {}, {}};
  made.words_ = std::move(values);
  return made;
}

ColumnCondition ColumnCondition::one_of(std::vector<Condition> equals) {
  ColumnCondition made{How::one_of, {}, {}};
  made.numbers_ = std::move(equals);
  return made;
}

Expression::Expression(std::string label, ColumnCondition condition)
    : node_(detail::make_test(std::move(label), std::move(condition))) {}
Expression::Expression(std::uint64_t col, ColumnCondition condition)
    : node_(detail::make_test(col, std::move(condition))) {}

Expression operator&&(const Expression& a, const Expression& b) {
  return Expression(detail::join(Kind::all, std::array{a.node_, b.node_}));
}
Expression operator||(const Expression& a, const Expression& b) {
  return Expression(detail::join(Kind::any, std::array{a.node_, b.node_}));
}
Expression operator!(const Expression& a) {
  return Expression(detail::join(Kind::negation, {&a.node_, 1}));
}

std::vector<std::string> Expression::labels() const {
  std::vector<std::string> labels;
  each_test(*node_, [&](const ExpressionNode& test) {
    const auto* label = std::get_if<std::string>(&test.column);
    if (label == nullptr || std::find(labels.begin(), labels.end(), *label) != labels.end()) return;
    labels.push_back(*label);
  });
  return labels;
}

std::vector<std::uint64_t> Expression::columns(const Frame& frame) const {
  std::vector<std::uint64_t> columns;
  each_test(*node_, [&](const ExpressionNode& test) {
    const std::uint64_t col = detail::column_of(frame, test);
    if (std::find(columns.begin(), columns.end(), col) == columns.end()) columns.push_back(col);
  });
  return columns;
}

}  // namespace dapple
