// Rows of a frame in which a column meets a condition, with bounds as the column shows its values.
//
//   using Is = dapple::ColumnCondition;
//   const dapple::Frame people = dapple::Frame::open("people.dbdf");
//   count_where(people, people.column("age"), dapple::Condition::above(30));
//   count_where(people, people.column("name"), Is::equal("Ann"));
//   count_where(people, people.column("born"), Is::at_least("2001-01-01"));
//   count_where(people, people.column("age"), Is::missing());
//
// A missing cell meets no condition but `missing()`. Each different word is compared once, however
// many rows have it. Blocks whose statistics rule out a match are not read.
#pragma once

#include <cstdint>
#include <functional>
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
}

/// A condition on the cells of a column. Columns of numbers take a Condition. The others take
/// bounds as text, which is read as the column's meaning says:
///   - text: in the order of its bytes;
///   - an ordered category: in the order of its dictionary, and the bounds must be words of it;
///   - any other category: `equal` only;
///   - timestamps: ISO 8601, such as "2024-01-31" (its midnight) or "2024-01-31T12:30:00.5Z"; a
///     bound without a zone is UTC if the column has a zone;
///   - durations: "36:00:00", "-00:00:00.25" or "3 days";
///   - Booleans: `equal` of "true" or "false".
class ColumnCondition {
 public:
  /// Not explicit, so that a Condition can be given to the searches below.
  ColumnCondition(const Condition& numbers) : how_(How::numbers), numbers_(numbers) {}

  static ColumnCondition above(std::string_view bound) { return {How::above, bound, {}}; }
  static ColumnCondition at_least(std::string_view bound) { return {How::at_least, bound, {}}; }
  static ColumnCondition below(std::string_view bound) { return {How::below, {}, bound}; }
  static ColumnCondition at_most(std::string_view bound) { return {How::at_most, {}, bound}; }
  static ColumnCondition equal(std::string_view value) { return {How::equal, value, value}; }
  /// Both bounds included.
  static ColumnCondition between(std::string_view low, std::string_view high) {
    return {How::between, low, high};
  }
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
    missing
  };

  ColumnCondition(How how, std::string_view low, std::string_view high)
      : how_(how), low_(low), high_(high) {}

  How how_;
  std::optional<Condition> numbers_;
  std::string low_, high_;
};

/// A cell that was found. `append_text` (column.h) makes text of `bits`, which are the stored value
/// in the low bytes.
struct ColumnHit {
  std::uint64_t row = 0;
  std::uint64_t bits = 0;
};

/// Receives some of the cells found; the span is valid during the call.
using TakeColumnHits = std::function<void(std::span<const ColumnHit>)>;

/// Calls `take` in this thread with every cell of a column that meets the condition, in order of
/// rows. Throws out_of_range when there is no such column; invalid_argument when the column's
/// meaning has no such condition, or is no number and WhereOptions::nonzero is set; absent (R7),
/// corrupt, io; and what `take` throws. O(rows + size of the dictionary).
void where(const Frame& frame, std::uint64_t col, const ColumnCondition& condition,
           const TakeColumnHits& take, const WhereOptions& options = {});

/// The number of rows in which the column meets the condition. Time and errors as `where`.
std::uint64_t count_where(const Frame& frame, std::uint64_t col, const ColumnCondition& condition,
                          const WhereOptions& options = {});

/// For each row, 1 if the column meets the condition, else 0. Time and errors as `where`.
std::vector<std::uint8_t> rows_where(const Frame& frame, std::uint64_t col,
                                     const ColumnCondition& condition,
                                     const WhereOptions& options = {});

/// What a search would do with each block that holds cells of the column, in ascending order of
/// positions. Reads no payload. Throws what `where` throws.
std::vector<BlockVerdict> explain_where(const Frame& frame, std::uint64_t col,
                                        const ColumnCondition& condition,
                                        const WhereOptions& options = {});

}  // namespace dapple
