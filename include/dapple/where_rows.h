// Rows of a frame that meet a condition on its columns.
//
//   const dapple::Frame people = dapple::Frame::open("people.dbdf");
//   const auto wanted = dapple::Expression::parse(
//       R"(age > 30 and city in ("Oslo", "Bergen") and not name prefix "A")");
//   dapple::count_where(people, wanted);
//
// A missing cell meets no test but `missing`, and makes every other one neither true nor false, as
// in SQL: `age > 30` and `not age > 30` both leave it out. NaN is a value that no bound includes:
// `not x > 3` finds it. Each different word is compared once, however many rows have it. Blocks
// whose statistics decide the whole condition are not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/frame.h"
#include "dapple/where.h"

namespace dapple {

namespace detail {
class ColumnMatch;
struct ExpressionNode;
class RowSearch;
}  // namespace detail

/// A test of the cells of one column. Columns of numbers take a Condition. The others take bounds
/// as text, which is read as the column's meaning says:
///   - text: in the order of its bytes;
///   - an ordered category: in the order of its dictionary, and the bounds must be words of it;
///   - any other category: `equal`, `one_of` and `prefix` only;
///   - timestamps: ISO 8601, such as "2024-01-31" (its midnight) or "2024-01-31T12:30:00.5Z"; a
///     bound without a zone is UTC if the column has a zone;
///   - durations: "36:00:00", "-00:00:00.25" or "3 days";
///   - Booleans: `equal` of "true" or "false".
class ColumnCondition {
 public:
  /// Not explicit, so that a Condition can be given where one of these is wanted.
  ColumnCondition(const Condition& numbers) : how_(How::numbers), numbers_({numbers}) {}

  static ColumnCondition above(std::string_view bound) { return {How::above, bound, {}}; }
  static ColumnCondition at_least(std::string_view bound) { return {How::at_least, bound, {}}; }
  static ColumnCondition below(std::string_view bound) { return {How::below, {}, bound}; }
  static ColumnCondition at_most(std::string_view bound) { return {How::at_most, {}, bound}; }
  static ColumnCondition equal(std::string_view value) { return {How::equal, value, value}; }
  static ColumnCondition above(std::nullptr_t) = delete;
  static ColumnCondition at_least(std::nullptr_t) = delete;
  static ColumnCondition below(std::nullptr_t) = delete;
  static ColumnCondition at_most(std::nullptr_t) = delete;
  static ColumnCondition equal(std::nullptr_t) = delete;
  /// Of numbers, the same as that of `Condition`; a 0 is never taken for a text at no address.
  template <BoundValue T>
  static ColumnCondition above(T bound) {
    return Condition::above(bound);
  }
  template <BoundValue T>
  static ColumnCondition at_least(T bound) {
    return Condition::at_least(bound);
  }
  template <BoundValue T>
  static ColumnCondition below(T bound) {
    return Condition::below(bound);
  }
  template <BoundValue T>
  static ColumnCondition at_most(T bound) {
    return Condition::at_most(bound);
  }
  template <BoundValue T>
  static ColumnCondition equal(T value) {
    return Condition::equal(value);
  }
  template <BoundValue Low, BoundValue High>
  static ColumnCondition between(Low low, High high) {
    return Condition::between(low, high);
  }
  /// Both bounds included.
  static ColumnCondition between(std::string_view low, std::string_view high) {
    return {How::between, low, high};
  }
  /// Equal to one of some values.
  static ColumnCondition one_of(std::vector<std::string> values);
  static ColumnCondition one_of(std::vector<Condition> equals);
  /// Words that start with these bytes.
  static ColumnCondition prefix(std::string_view start) { return {How::prefix, start, {}}; }
  /// Met by missing cells, and by nothing else.
  static ColumnCondition missing() { return {How::missing, {}, {}}; }

 private:
  friend class detail::ColumnMatch;
  enum class How : std::uint8_t {
    numbers,
    above,
    at_least,
    below,
    at_most,
    equal,
    between,
    one_of,
    prefix,
    missing
  };

  ColumnCondition(How how, std::string_view low, std::string_view high)
      : how_(how), low_(low), high_(high) {}

  How how_;
  std::vector<Condition> numbers_{};  // one, or of `one_of` those that it takes
  std::vector<std::string> words_{};  // of `one_of`
  std::string low_{}, high_{};
};

/// Tests of columns, put together by and, or, not. Cheap to copy.
class Expression {
 public:
  /// A column by its label, or by its number.
  Expression(std::string label, ColumnCondition condition);
  Expression(std::uint64_t col, ColumnCondition condition);

  /// Reads text, such as `age >= 30 and not (city in ("Oslo", "Bergen") or name prefix "A")`.
  ///   - Tests: `=`, `==`, `!=`, `<`, `<=`, `>`, `>=` with a value on the right, or on the left, or
  ///     on both sides of a column (`3 <= x < 9`); `in (...)`, `not in (...)`, `prefix "..."`,
  ///     `missing`, `nan`. `and` binds closer than `or`, `not` closest.
  ///   - Columns: a name of letters, digits, `_` and `.`; any other in `` `backquotes` ``; or `#N`,
  ///     column number N, counted from 0.
  ///   - Values: numbers, true, false; words, times and durations in 'quotes' or "quotes". A quote
  ///     inside its own kind is doubled.
  /// Throws invalid_argument, which says what was expected at which character.
  static Expression parse(std::string_view text);

  /// O(1) each: thousands of tests may be joined one by one. Throw invalid_argument when and, or
  /// and not would be inside each other more than 1,000 times.
  friend Expression operator&&(const Expression& a, const Expression& b);
  friend Expression operator||(const Expression& a, const Expression& b);
  friend Expression operator!(const Expression& a);

  /// The same with column numbers in the place of labels for which `number` gives one: names that a
  /// program has of its own, say, for columns that have the label of another one.
  Expression numbered(
      const std::function<std::optional<std::uint64_t>(const std::string&)>& number) const;

  /// The labels that it names, each once, in the order of their first appearance.
  std::vector<std::string> labels() const;
  /// The columns that it tests, likewise. Throws absent, out_of_range.
  std::vector<std::uint64_t> columns(const Frame& frame) const;

 private:
  friend class detail::RowSearch;
  explicit Expression(std::shared_ptr<const detail::ExpressionNode> node)
      : node_(std::move(node)) {}

  std::shared_ptr<const detail::ExpressionNode> node_;
};

/// Receives the numbers of some of the rows found; the span is valid during the call.
using TakeRows = std::function<void(std::span<const std::uint64_t>)>;

/// Calls `take` in this thread with every row that meets the condition, in ascending order. Throws
/// absent when a column is not there; out_of_range; invalid_argument when a column's meaning has no
/// such test, or is no number and WhereOptions::nonzero is set; absent (R7), io; corrupt, also when
/// a column that is tested holds a code without a word, or a truth value that is none; and what
/// `take` throws. O(rows + size of the dictionaries).
void where(const Frame& frame, const Expression& expression, const TakeRows& take,
           const WhereOptions& options = {});

/// The number of rows that meet the condition. Time and errors as `where`.
std::uint64_t count_where(const Frame& frame, const Expression& expression,
                          const WhereOptions& options = {});

/// For each row, 1 if it meets the condition, else 0. Time and errors as `where`, and no_memory.
std::vector<std::uint8_t> rows_where(const Frame& frame, const Expression& expression,
                                     const WhereOptions& options = {});

/// What a search would do with each block that holds cells of a column that is tested, in ascending
/// order of positions: Skipped::statistics where they rule out a match, or all rows match. Reads no
/// payload. Throws what `where` throws.
std::vector<BlockVerdict> explain_where(const Frame& frame, const Expression& expression,
                                        const WhereOptions& options = {});

}  // namespace dapple
