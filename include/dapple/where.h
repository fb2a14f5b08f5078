// Cells whose values meet a condition: as a stream, a count, or a mask of rows.
//
//   dapple::where<float>(m, dapple::Condition::above(0.5), [](auto hits) {
//     for (const auto& hit : hits) use(hit.row, hit.col, hit.value);
//   });
//
// Zeros that a sparse block does not store are cells too: a condition that zero meets finds them
// all, unless WhereOptions::nonzero is set. NaN meets only `nan()`. Blocks that cannot hold a
// match, by their type or their statistics, are not read.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dapple/matrix.h"

namespace dapple {

namespace detail {
class Interval;
}

/// The C++ types that a bound can have: those of cells, and integers of 64 bits by another name.
template <class T>
concept BoundValue = Value<T> || std::same_as<T, long> || std::same_as<T, unsigned long> ||
    std::same_as<T, long long> || std::same_as<T, unsigned long long>;

/// A condition on values. Comparisons are exact, whatever the types: 2^63 + 1 as a u64 is above
/// 2^63 as a double. A bound that is NaN matches nothing; `nan()` finds NaNs.
class Condition {
 public:
  template <BoundValue T>
  static Condition above(T bound) {
    return {Bound::of(bound, true), {}};
  }
  template <BoundValue T>
  static Condition at_least(T bound) {
    return {Bound::of(bound, false), {}};
  }
  template <BoundValue T>
  static Condition below(T bound) {
    return {{}, Bound::of(bound, true)};
  }
  template <BoundValue T>
  static Condition at_most(T bound) {
    return {{}, Bound::of(bound, false)};
  }
  template <BoundValue T>
  static Condition equal(T value) {
    return {Bound::of(value, false), Bound::of(value, false)};
  }
  /// Both bounds included; each is compared in its own type.
  template <BoundValue Low, BoundValue High>
  static Condition between(Low low, High high) {
    return {Bound::of(low, false), Bound::of(high, false)};
  }
  /// Cells for which `cell RELATION number` holds, where RELATION is one of < <= == >= >, or ".."
  /// for those from `number` to `last`. Numbers are text, and compared exactly however many digits
  /// they have. Nothing when one is no number; throws invalid_argument beyond the range of f64,
  /// but for integers without an exponent, and for another relation.
  static std::optional<Condition> parse(std::string_view relation, std::string_view number,
                                        std::string_view last = {});
  static Condition nan() {
    Condition c({}, {});
    c.nan_ = true;
    return c;
  }

 private:
  friend class detail::Interval;
  struct Bound {
    bool given = false, strict = false;
    ValueType type = ValueType::f64;  // u64, i64 or f64
    std::uint64_t bits = 0;

    template <BoundValue T>
    static Bound of(T value, bool strict) {
      if constexpr (std::is_floating_point_v<T>) {
        const auto wide = static_cast<double>(value);
        Bound bound{true, strict, ValueType::f64};
        std::memcpy(&bound.bits, &wide, sizeof wide);
        return bound;
      } else if constexpr (std::is_signed_v<T>) {
        return {true, strict, ValueType::i64, static_cast<std::uint64_t>(std::int64_t{value})};
      } else {
        return {true, strict, ValueType::u64, value};
      }
    }
  };
  Condition(Bound low, Bound high) : low_(low), high_(high) {}

  Bound low_, high_;
  bool nan_ = false;
};

struct WhereOptions {
  Absent absent = Absent::error;
  unsigned threads = 1;  // `where` uses one; 0: one per processor
  bool nonzero = false;  // only cells that are not zero, of either sign
};

/// A cell that was found.
template <Value T>
using Hit = Triplet<T, std::uint64_t>;

/// Receives some of the cells found; the span is valid during the call.
template <Value T>
using TakeHits = std::function<void(std::span<const Hit<T>>)>;

/// Calls `take` in this thread with every cell that meets the condition: block by block, in
/// ascending order of their positions, row by row within a block; or, if zero meets the condition,
/// row by row over the whole matrix. Throws absent (R7), corrupt, io; type_mismatch when a value
/// found does not fit T exactly; and what `take` throws. O(stored values), or O(cells) if zeros are
/// found.
template <Value T>
void where(const Matrix& matrix, const Condition& condition, const TakeHits<T>& take,
           const WhereOptions& options = {});

/// The number of cells that meet the condition. O(stored values), also where zeros meet it. Throws
/// what `where` throws, and unsupported where zeros meet it and there are more than 2^64 - 1 cells.
std::uint64_t count_where(const Matrix& matrix, const Condition& condition,
                          const WhereOptions& options = {});

/// For each row, 1 if one of its cells meets the condition, else 0. Time and errors as `where`, and
/// no_memory.
std::vector<std::uint8_t> rows_where(const Matrix& matrix, const Condition& condition,
                                     const WhereOptions& options = {});

/// Why a search skips a block.
enum class Skipped : std::uint8_t {
  no,          // it does not
  empty,       // it holds only zeros
  value_type,  // its type has no such value
  statistics,  // its minimum and maximum, or its number of NaNs, rule it out
};

struct BlockVerdict {
  BlockPos pos;
  Skipped skipped = Skipped::no;
};

/// What a search would do with each block, in ascending order of positions. Reads no cells. Throws
/// corrupt, absent, io. O(blocks).
std::vector<BlockVerdict> explain_where(const Matrix& matrix, const Condition& condition,
                                        const WhereOptions& options = {});

}  // namespace dapple
