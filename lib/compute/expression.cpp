#include "lib/compute/expression.h"

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "dapple/error.h"

namespace dapple {

using detail::ExpressionNode;
using Kind = ExpressionNode::Kind;

namespace {

/// Calls f(test) for each test, from left to right.
template <class F>
void each_test(const ExpressionNode& node, const F& f) {
  if (node.kind == Kind::test) return f(node);
  for (const ExpressionNode* part : detail::parts_of(node)) each_test(*part, f);
}

using FindNumber = std::function<std::optional<std::uint64_t>(const std::string&)>;

detail::ExpressionPart numbered_part(const ExpressionNode& node, const FindNumber& number) {
  if (node.kind == Kind::test) {
    const auto* const label = std::get_if<std::string>(&node.column);
    const auto found = label != nullptr ? number(*label) : std::nullopt;
    return detail::make_test(found ? ExpressionNode::Column(*found) : node.column, node.condition);
  }
  std::vector<detail::ExpressionPart> parts;
  for (const ExpressionNode* part : detail::parts_of(node)) {
    parts.push_back(numbered_part(*part, number));
  }
  return detail::join(node.kind, parts);
}

/// For each level, searches need some of the stack. The text form has fewer.
constexpr std::uint32_t kMostLevels = 1000;

}  // namespace

namespace detail {

ExpressionPart make_test(ExpressionNode::Column column, ColumnCondition condition) {
  auto node = std::make_shared<ExpressionNode>();
  node->column = std::move(column);
  node->condition = std::move(condition);
  return node;
}

/// Chains are destroyed from the outside in: recursion would need as much stack as they have parts.
ExpressionNode::~ExpressionNode() {
  std::vector<ExpressionPart> left = std::move(of);
  while (!left.empty()) {
    const ExpressionPart part = std::move(left.back());
    left.pop_back();
    if (part.use_count() > 1) continue;
    const ExpressionPart acquired = part;  // what the last other owner did has happened
    auto& inner = const_cast<ExpressionNode&>(*acquired).of;
    try {
      left.insert(left.end(), inner.begin(), inner.end());
      inner.clear();
    } catch (const std::bad_alloc&) {  // by recursion, then
    }
  }
}

ExpressionPart join(Kind kind, std::span<const ExpressionPart> parts) {
  if (parts.size() == 1 && kind != Kind::negation) return parts.front();
  if (kind == Kind::negation && parts.front()->kind == kind) return parts.front()->of.front();
  auto node = std::make_shared<ExpressionNode>();
  node->kind = kind;
  node->of.assign(parts.begin(), parts.end());
  for (const auto& part : parts) {
    node->levels = std::max(node->levels, part->levels + (part->kind == kind ? 0 : 1));
  }
  if (node->levels > kMostLevels) {
    throw Error(Errc::invalid_argument,
                "a condition has and, or and not inside each other more than " +
                    std::to_string(kMostLevels) + " times; put more of its tests side by side");
  }
  return node;
}

std::vector<const ExpressionNode*> parts_of(const ExpressionNode& node) {
  std::vector<const ExpressionNode*> parts, left{&node};
  while (!left.empty()) {
    const ExpressionNode* const part = left.back();
    left.pop_back();
    if (part->kind != node.kind) {
      parts.push_back(part);
      continue;
    }
    for (auto inner = part->of.rbegin(); inner != part->of.rend(); ++inner) {
      left.push_back(inner->get());
    }
  }
  return parts;
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

Expression Expression::numbered(const FindNumber& number) const {
  return Expression(numbered_part(*node_, number));
}

std::vector<std::string> Expression::labels() const {
  std::vector<std::string> labels;
  std::set<std::string_view> known;
  each_test(*node_, [&](const ExpressionNode& test) {
    const auto* label = std::get_if<std::string>(&test.column);
    if (label != nullptr && known.insert(*label).second) labels.push_back(*label);
  });
  return labels;
}

std::vector<std::uint64_t> Expression::columns(const Frame& frame) const {
  std::vector<std::uint64_t> columns;
  std::set<std::uint64_t> known;
  each_test(*node_, [&](const ExpressionNode& test) {
    const std::uint64_t col = detail::column_of(frame, test);
    if (known.insert(col).second) columns.push_back(col);
  });
  return columns;
}

}  // namespace dapple
