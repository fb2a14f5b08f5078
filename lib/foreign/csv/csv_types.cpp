#include "lib/foreign/csv/csv_types.h"

#include <algorithm>

namespace dapple::detail::csv {

namespace {

/// A matrix of floats must hold its columns of integers to the last digit.
void require_exact_integers(const std::vector<std::optional<ValueType>>& given, const Rows& rows,
                            const std::string& file) {
  for (std::size_t c = 0; c < given.size(); ++c) {
    const bool asked = given[c] && is_float(*given[c]);
    const bool whole = (rows.seen[c] & flag::fraction) == 0;
    if (asked || !whole || (rows.seen[c] & flag::inexact) == 0) continue;
    throw Error(Errc::type_mismatch, file, std::nullopt,
                "expected columns that one value type holds, got integers beyond 2^53 in column " +
                    std::to_string(c + 1) +
                    " beside columns that are not integers; a header line makes it a frame, and "
                    "the type f64 for that column rounds it");
  }
}

}  // namespace

ValueType column_type(std::optional<ValueType> given, std::uint8_t seen, bool any_rows) noexcept {
  if (given) return *given;
  if (!any_rows || (seen & flag::fraction) != 0) return ValueType::f64;
  if ((seen & flag::above_i64) == 0) return ValueType::i64;
  return (seen & flag::negative) == 0 ? ValueType::u64 : ValueType::f64;
}

ValueType matrix_type(const std::vector<std::optional<ValueType>>& given, const Rows& rows,
                      const std::string& file) {
  // Columns without a given type are one as far as types go.
  std::uint8_t seen = 0;
  bool any_seen = false;
  std::vector<ValueType> types;
  for (std::size_t c = 0; c < given.size(); ++c) {
    if (!given[c]) {
      seen |= rows.seen[c];
      any_seen = true;
    } else if (std::find(types.begin(), types.end(), *given[c]) == types.end()) {
      types.push_back(*given[c]);
    }
  }
  if (any_seen) types.push_back(column_type(std::nullopt, seen, rows.rows > 0));
  std::vector<ValueType> candidates = types;
  candidates.insert(candidates.end(), {ValueType::i64, ValueType::u64, ValueType::f64});
  for (const ValueType wide : candidates) {
    const auto held = [&](ValueType type) { return holds_all(wide, type); };
    if (!std::all_of(types.begin(), types.end(), held)) continue;
    if (is_float(wide)) require_exact_integers(given, rows, file);
    return wide;
  }
  require_exact_integers(given, rows, file);
  return ValueType::f64;
}

ValueType widest_type(const std::vector<Column>& columns) noexcept {
  ValueType widest = columns.empty() ? ValueType::f64 : columns.front().value_type;
  for (const Column& column : columns) {
    const ValueType type = column.value_type;
    if (holds_all(widest, type)) continue;
    widest = holds_all(type, widest) ? type : ValueType::f64;
  }
  return widest;
}

}  // namespace dapple::detail::csv
