#include "lib/foreign/csv/csv_types.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "lib/base/bytes.h"
#include "lib/base/text.h"
#include "lib/foreign/csv/csv_tiles.h"

namespace dapple::detail::csv {

namespace {

/// What no integer is.
constexpr std::uint16_t kFloats = flag::fraction | flag::nan;

/// The type of columns in which all this was seen.
ValueType inferred_type(std::uint16_t seen, bool any_rows) noexcept {
  constexpr std::uint16_t kOnlyFloats = kFloats | flag::beyond;
  if (!any_rows || (seen & kOnlyFloats) != 0) return ValueType::f64;
  if ((seen & flag::missing) != 0) {
    if ((seen & flag::rounded) == 0 || !integer_mark(seen)) return ValueType::f64;
  }
  if ((seen & flag::above_i64) == 0) return ValueType::i64;
  return (seen & flag::negative) == 0 ? ValueType::u64 : ValueType::f64;
}

/// How the option csv.type names a column, if there is a way that can be typed.
std::optional<std::string> type_key(const std::vector<Column>& columns, std::size_t col) {
  constexpr std::size_t kLongest = 32;
  const auto first_of = [&](std::string_view label) {
    return std::find_if(columns.begin(), columns.end(),
                        [label](const Column& column) { return column.label == label; });
  };
  const std::string number = std::to_string(col);
  if (columns.empty()) return number;
  const std::string& label = columns[col].label;
  const bool plain = !label.empty() && label.size() <= kLongest &&
                     std::all_of(label.begin(), label.end(), [](char c) {
                       return c >= ' ' && c <= '~' && c != '\'' && c != '\\';
                     });
  if (plain && first_of(label) - columns.begin() == static_cast<std::ptrdiff_t>(col)) return label;
  if (first_of(number) == columns.end()) return number;
  return std::nullopt;
}

Place place_of(const NumberAt& at, std::size_t col, const ScanInput& input) {
  return {input.file, at.offset, input.line_at(at.offset), col, label_of(input.columns, col)};
}

/// Throws type_mismatch when an integer of the column would be rounded to f64 unasked. Beside
/// fractions it is a float like these.
void require_exact_integers(const Rows& rows, std::size_t col, const ScanInput& input) {
  const std::optional<ValueType> given = input.given[col];
  const bool asked = given && is_float(*given);
  const bool whole = (rows.seen.flags[col] & kFloats) == 0;
  if (asked || !whole || (rows.seen.flags[col] & flag::rounded) == 0) return;
  const NumberAt& at = rows.seen.rounded.at(col);
  const bool alone = is_float(inferred_type(rows.seen.flags[col], true));
  std::string ways_out = alone ? "" : "a header line makes it a frame";
  const std::optional<std::string> key = type_key(input.columns, col);
  const bool rounds = key && at.text.size() <= std::numeric_limits<double>::max_exponent10;
  if (rounds) {
    ways_out += (alone ? "the type " : ", the type ") + shown(*key + "=f64") + " rounds it";
  }
  fail_at(Errc::type_mismatch, place_of(at, col, input),
          shown(at.text) +
              (alone ? " is not exact as f64, and neither i64 nor u64 holds all of the column"
                     : " is not exact as f64, the type of the other columns") +
              (ways_out.empty() ? "" : "; " + ways_out),
          rounds ? "csv.type" : "");
}

}  // namespace

std::optional<std::uint64_t> integer_mark(std::uint16_t seen) noexcept {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63, kMost = ~std::uint64_t{0};
  const auto free = [seen](std::uint16_t flags) { return (seen & flags) == 0; };
  if (free(flag::above_i64)) {
    if (free(flag::least_i64)) return kHalf;
    if (free(flag::greatest_i64)) return kHalf - 1;
  } else {
    if (free(flag::greatest_u64)) return kMost;
    if (free(flag::beyond_i64)) return kHalf;
  }
  return std::nullopt;
}

std::optional<ValueType> type_that_holds(const std::vector<ValueType>& types) {
  std::vector<ValueType> candidates = types;
  candidates.insert(candidates.end(), {ValueType::i64, ValueType::u64, ValueType::f64});
  for (const ValueType wide : candidates) {
    const auto held = [&](ValueType type) { return holds_all(wide, type); };
    if (std::all_of(types.begin(), types.end(), held)) return wide;
  }
  return std::nullopt;
}

Plan make_plan(const Rows& rows, const ScanInput& input, bool frame,
               const std::vector<std::string>& labels) {
  Plan plan{frame, labels, std::vector<ColumnPlan>(input.cols())};
  for (std::size_t c = 0; c < input.cols(); ++c) {
    ColumnPlan& column = plan.columns[c];
    column.given = input.given[c].has_value();
    const std::uint16_t seen = rows.seen.flags[c];
    if (rows.meanings[c]) {
      column.kind = rows.meanings[c]->kind;
      column.unit = rows.meanings[c]->unit;
      column.type = stored_type(*rows.meanings[c]);
    } else {
      column.type = input.given[c].value_or(inferred_type(seen, true));
      const bool whole = !is_float(column.type) && !column.given;
      if (whole && (seen & flag::missing) != 0) column.mark = integer_mark(seen);
    }
  }
  return plan;
}

bool keeps_all(const Plan& plan, const Tiles& tiles, const Rows& rows, const ScanInput& input) {
  for (std::size_t c = 0; c < input.cols(); ++c) {
    if (plan.columns[c].kind != MeaningKind::number || input.given[c]) continue;
    const std::uint16_t seen = rows.seen.flags[c];
    const bool floats = is_float(inferred_type(seen, true));
    if (!floats && tiles.put_floats(c)) return false;
    if (floats && tiles.put_integers(c) && (seen & flag::rounded) != 0) return false;
    const bool marked = !floats && (seen & flag::missing) != 0;
    if (marked && plan.columns[c].mark != integer_mark(seen)) return false;
  }
  return true;
}

void require_numbers(const Rows& rows, const ScanInput& input) {
  const auto first = [&](const NumbersAt& numbers, const auto& counts) {
    auto found = numbers.end();
    for (auto it = numbers.begin(); it != numbers.end(); ++it) {
      const bool earlier = found == numbers.end() || it->second.offset < found->second.offset;
      if (counts(it->first) && earlier) found = it;
    }
    return found;
  };
  const auto place = [&](const auto& found) {
    return place_of(found->second, found->first, input);
  };
  const auto misfit =
      first(rows.seen.misfits, [&](std::size_t c) { return !rows.meanings[c].has_value(); });
  if (misfit != rows.seen.misfits.end()) {
    fail_at(Errc::type_mismatch, place(misfit),
            shown(misfit->second.text) + " is out of range for f64");
  }
  const auto mark = first(rows.seen.marks,
                          [&](std::size_t c) { return (rows.seen.flags[c] & flag::missing) != 0; });
  if (mark != rows.seen.marks.end()) {
    fail_at(Errc::type_mismatch, place(mark),
            shown(mark->second.text) + " is what marks a missing cell in a column of " +
                std::string(name(*input.given[mark->first])));
  }
}

ValueType column_type(const Rows& rows, std::size_t col, const ScanInput& input) {
  if (input.given[col]) return *input.given[col];
  const ValueType type = inferred_type(rows.seen.flags[col], rows.rows > 0);
  if (is_float(type)) require_exact_integers(rows, col, input);
  return type;
}

ValueType matrix_type(const Rows& rows, const ScanInput& input) {
  const auto& given = input.given;
  const auto require_exact = [&] {
    for (std::size_t c = 0; c < given.size(); ++c) require_exact_integers(rows, c, input);
  };
  // Columns without a given type are one as far as types go.
  std::uint16_t seen = 0;
  bool any_seen = false;
  std::vector<ValueType> types;
  for (std::size_t c = 0; c < given.size(); ++c) {
    if (!given[c]) {
      seen |= rows.seen.flags[c];
      any_seen = true;
    } else if (std::find(types.begin(), types.end(), *given[c]) == types.end()) {
      types.push_back(*given[c]);
    }
  }
  if (any_seen) types.push_back(inferred_type(seen, rows.rows > 0));
  const std::optional<ValueType> wide = type_that_holds(types);
  if (!wide || is_float(*wide)) require_exact();
  return wide.value_or(ValueType::f64);
}

std::string note_of_rounding(const Rows& rows, const Schema& schema, const ScanInput& input) {
  std::string note;
  std::uint64_t others = 0;
  for (const auto& [col, at] : rows.seen.rounded) {
    const bool number = !rows.meanings[col];
    if (input.given[col] || !number || !is_float(schema.type_of(col))) continue;
    if (!note.empty()) {
      ++others;
      continue;
    }
    note = place_text(place_of(at, col, input)) + ": " + shown(at.text) + " is rounded to " +
           std::string(name(schema.type_of(col))) + ", because the column has " +
           ((rows.seen.flags[col] & flag::fraction) != 0
                ? "numbers that are no integers, such as 0.5 or -0"
                : "missing values that are read as NaN") +
           "; as text it keeps its digits";
  }
  if (others > 0) {
    note += " (so are integers of " + std::to_string(others) + " more column" +
            (others == 1 ? "" : "s") + ")";
  }
  return note;
}

}  // namespace dapple::detail::csv
