// The search for rows of a frame: a condition bound to its columns, and looked at piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/compute/cell_search.h"
#include "lib/compute/column_match.h"
#include "lib/compute/expression.h"

namespace dapple::detail {

class RowSearch {
 public:
  /// Throws what `where` throws before it reads.
  RowSearch(const Frame& frame, const Expression& expression, const WhereOptions& options);

  /// Cuts rows into pieces that are looked at one after the other.
  std::vector<Range> pieces(Range rows) const;
  /// Sets the entries of those of the rows that match to 1, all others to 0. Throws corrupt when a
  /// tested column holds a code without a word, or a truth value that is none.
  void find(Range rows, std::span<std::uint8_t> found) const;
  /// Asks for what `find` reads of the first of these pieces, where it is far away; returns of how
  /// many.
  std::size_t ask_for_some(std::span<const Range> pieces) const;
  /// What `find` does with each block, in ascending order of positions.
  std::vector<BlockVerdict> explain() const;

 private:
  enum class Truth : std::uint8_t { no, yes, unknown };

  /// A test of a column, or of what it does not hold.
  struct Test {
    std::uint64_t col;
    std::unique_ptr<ColumnMatch> match;
    bool negated;
    std::unique_ptr<ColumnMatch> missing{};  // if it is negated, and some cells may be missing
  };
  /// What the numbers of a tested column of words or truth values cannot be.
  struct Codes {
    std::uint64_t col;
    Condition meaningless;
  };
  /// Negations are in the tests only.
  struct Node {
    ExpressionNode::Kind kind;
    std::size_t test = 0;
    std::vector<Node> of{};
  };
  /// Of the blocks that a search touches, by row and column, why each is skipped.
  class Verdicts;

  std::uint64_t block_rows() const;
  Node bind(const ExpressionNode& node, bool negated, const WhereOptions& options);
  void require_meant(const Codes& codes, Range rows) const;
  Truth judge(const Node& node, Range rows) const;
  Truth judge(const Test& test, Range rows) const;
  void find(const Node& node, Range rows, std::span<std::uint8_t> found) const;
  void find(const Test& test, Range rows, std::span<std::uint8_t> found) const;
  void mark(std::uint64_t col, const ColumnMatch& match, Range rows,
            std::span<std::uint8_t> found) const;
  void explain(const Node& node, Range rows, bool decided, Verdicts& verdicts) const;
  Skipped verdict_on(ValueType type, const ColumnMatch& match, std::uint64_t number,
                     const Entry& entry) const;
  bool all_match(const ColumnMatch& match, std::uint64_t number, const Entry& entry) const;

  const Frame& frame_;
  const Store& store_;
  Expression expression_;  // to which the tests refer
  Absent absent_;
  std::vector<Test> tests_;
  std::vector<std::uint64_t> cols_{};  // that are tested
  std::vector<Codes> codes_{};
  Node root_;
};

}  // namespace dapple::detail
