// Random conditions for a column, each with a loop over what its cells read like to hold it
// against.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/dapple.h"
#include "tests/every_column.h"
#include "tests/support.h"

namespace dapple::test {

inline std::string shown_cell(const Column& column, std::uint64_t bits) {
  std::string text;
  append_text(column, bits, text);
  return text;
}

/// A time as one of the same width, so that earlier ones compare less.
inline std::string padded_time(std::string text) {
  if (text.size() == 10) text += "T00:00:00";
  if (text.size() == 19) text += ".";
  text.resize(29, '0');
  return text;
}

inline long double duration_seconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  long double seconds = 0;
  if (text.ends_with(" days")) {
    seconds = std::stold(std::string(text)) * 86400;
  } else {
    seconds = std::stold(std::string(text.substr(0, 2))) * 3600 +
              std::stold(std::string(text.substr(3, 2))) * 60 +
              std::stold(std::string(text.substr(6)));
  }
  return negative ? -seconds : seconds;
}

inline std::partial_ordering compare_cells(const Column& column, const std::string& cell,
                                           const std::string& bound) {
  const Meaning& meaning = column.meaning;
  if (meaning.kind == MeaningKind::timestamp) return padded_time(cell) <=> padded_time(bound);
  if (meaning.kind == MeaningKind::duration) {
    return duration_seconds(cell) <=> duration_seconds(bound);
  }
  if (meaning.kind == MeaningKind::number) {
    return std::stold(cell) <=> std::stold(bound);  // all of them small
  }
  if (meaning.ordered) {
    const auto rank = [&](const std::string& word) {
      std::uint64_t i = 0;
      while ((*meaning.words)[i] != word) ++i;
      return i;
    };
    return rank(cell) <=> rank(bound);
  }
  return cell <=> bound;
}

struct ColumnSearch {
  ColumnCondition condition;
  std::function<bool(const std::string&)> holds;  // for a cell that is not missing
};

template <class Bound, class Conditions>
ColumnSearch search_of(const Column& column, std::uint64_t how, const std::string& low,
                       const std::string& high, const Bound& bound) {
  const auto with_low = [=](const std::string& cell) { return compare_cells(column, cell, low); };
  switch (how) {
    case 0:
      return {Conditions::equal(bound(low)), [=](const auto& c) { return with_low(c) == 0; }};
    case 1:
      return {Conditions::above(bound(low)), [=](const auto& c) { return with_low(c) > 0; }};
    case 2:
      return {Conditions::at_least(bound(low)), [=](const auto& c) { return with_low(c) >= 0; }};
    case 3:
      return {Conditions::below(bound(low)), [=](const auto& c) { return with_low(c) < 0; }};
    case 4:
      return {Conditions::at_most(bound(low)), [=](const auto& c) { return with_low(c) <= 0; }};
    default:
      return {Conditions::between(bound(low), bound(high)), [=](const auto& c) {
                return with_low(c) >= 0 && compare_cells(column, c, high) <= 0;
              }};
  }
}

/// A condition that the column takes. Bounds of times are cells of any unit.
inline ColumnSearch random_search(const Column& column, const std::vector<Column>& columns,
                                  Rng& rng) {
  const Meaning& meaning = column.meaning;
  const Column* source = &column;
  while (meaning.has_time()) {
    source = &columns[rng.below(columns.size())];
    if (source->meaning.kind == meaning.kind) break;
  }
  std::string bounds[2];
  for (std::string& bound : bounds) {
    do {
      const std::uint64_t bits = random_stored(*source, rng);
      bound = is_missing(source->meaning, bits) ? "nan" : shown_cell(*source, bits);
    } while (bound == "nan");
  }
  const bool unordered = meaning.kind == MeaningKind::boolean ||
                         (meaning.kind == MeaningKind::category && !meaning.ordered);
  const std::uint64_t how = unordered ? 0 : rng.below(6);
  if (meaning.kind == MeaningKind::number) {
    return search_of<std::function<double(const std::string&)>, Condition>(
        column, how, bounds[0], bounds[1], [](const std::string& text) { return std::stod(text); });
  }
  return search_of<std::function<std::string(const std::string&)>, ColumnCondition>(
      column, how, bounds[0], bounds[1], [](const std::string& text) { return text; });
}

}  // namespace dapple::test
