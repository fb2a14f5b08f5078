// A condition on a column as what it asks of the stored values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/where_rows.h"
#include "lib/compute/interval.h"
#include "lib/compute/value_set.h"

namespace dapple::detail {

class ColumnMatch {
 public:
  /// Errors name `file`. Throws invalid_argument when the condition is none for the column; corrupt
  /// for a damaged dictionary. O(words).
  ColumnMatch(const Column& column, const ColumnCondition& condition, bool nonzero,
              const std::string& file);
  ColumnMatch(const ColumnMatch&) = delete;
  ColumnMatch& operator=(const ColumnMatch&) = delete;

  /// Stored values outside do not match.
  const Interval& interval() const noexcept { return *interval_; }
  /// Whether it finds missing cells.
  bool finds_missing() const noexcept { return wanted_.has_value(); }
  /// False when all inside match.
  bool doubtful() const noexcept {
    return wanted_ || excluded_ || !codes_.empty() || !members_.empty();
  }
  /// Whether a value inside matches; `bits` are of the column's type.
  bool confirms(std::uint64_t bits) const noexcept {
    if (wanted_) return bits == *wanted_;
    if (excluded_ && bits == *excluded_) return false;
    if (!members_.empty()) return members_.contains(member(bits));
    return codes_.empty() || (bits < codes_.size() && codes_[bits]);
  }

 private:
  using How = ColumnCondition::How;

  Condition candidates();
  Condition missing_cells();
  Condition members();
  std::uint64_t member(std::uint64_t bits) const noexcept;
  const Condition& hull() const noexcept { return *candidates_; }
  Condition truth() const;
  Condition times() const;
  Condition words();
  Condition codes_where(const std::function<bool(std::uint64_t)>& holds);
  std::uint64_t rank(std::string_view word) const;
  [[noreturn]] void fail(std::string detail) const;
  [[noreturn]] void fail_bound(const std::string& bound) const;
  [[noreturn]] void fail_order(const std::string& what) const;

  const Column& column_;
  const ColumnCondition& condition_;
  const std::string& file_;
  std::optional<std::uint64_t> wanted_, excluded_;  // bits of a missing cell
  std::vector<bool> codes_;                         // that match, unless the interval tells
  ValueSet members_;                                // bits that match, of a list
  std::optional<Condition> candidates_;
  std::optional<Interval> interval_;  // of `candidates_`
};

}  // namespace dapple::detail
