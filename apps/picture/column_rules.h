// What the cells of a frame's columns are to a picture: words and times are no numbers, and some
// numbers mark missing cells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "scan.h"

namespace dapple::picture {

/// One column of cells stored as T.
template <Value T>
struct ColumnRule {
  bool is_number = true;  // or a truth value
  std::optional<T> missing{};

  /// Adds a cell to a pixel that counts it among its cells already.
  void add(Pixel& pixel, T value) const noexcept {
    const bool is_nan = value != value || (missing && value == *missing);
    pixel.nonzero += !is_number || is_nan || value != 0;
    pixel.known -= !is_number;
    if (!is_number) return;
    pixel.nan += is_nan;
    if (is_nan) return;
    const auto number = static_cast<double>(value);
    pixel.sum += number;
    pixel.least = std::min(pixel.least, number);
    pixel.most = std::max(pixel.most, number);
  }
};

/// Whether a number stored in this column may be anything but itself.
inline bool needs_rule(const Column& column) noexcept {
  return !is_plain(column) && (column.meaning.kind != MeaningKind::number ||
                               !is_float(column.value_type));  // whose mark is a NaN
}

inline bool needs_rules(const Object& object, Range cols) {
  const auto* frame = std::get_if<Frame>(&object);
  for (std::uint64_t c = cols.begin; frame != nullptr && c < cols.end; ++c) {
    if (needs_rule(frame->column_info(c))) return true;
  }
  return false;
}

/// The rules of these columns, whose cells a block stores as T; none where all are plain numbers or
/// in a matrix.
template <Value T>
std::vector<ColumnRule<T>> column_rules(const Object& object, Range cols) {
  if (!needs_rules(object, cols)) return {};
  std::vector<ColumnRule<T>> rules(cols.size());
  for (std::uint64_t c = cols.begin; c < cols.end; ++c) {
    const Column& column = std::get<Frame>(object).column_info(c);
    if (!needs_rule(column)) continue;
    ColumnRule<T>& rule = rules[c - cols.begin];
    rule.is_number =
        column.meaning.kind == MeaningKind::number || column.meaning.kind == MeaningKind::boolean;
    if (!column.meaning.missing) continue;
    visit_type(column.value_type, [&](auto tag) {
      decltype(tag) mark{};
      std::memcpy(&mark, &*column.meaning.missing, sizeof mark);
      // A narrower block may have no room for the mark, and then no cell is missing.
      const auto stored = static_cast<T>(mark);
      if (static_cast<decltype(tag)>(stored) == mark) rule.missing = stored;
    });
  }
  return rules;
}

}  // namespace dapple::picture
