// The rows of a CSR block: each a count of 4 bytes, then that many columns of 4 bytes, every one
// with its value. The only loops over them; every index is checked as it is used (R5).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/base/ask_ahead.h"
#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/layout/part.h"
#include "lib/layout/sparse_payload.h"

namespace dapple::detail {

/// Calls take(lane, column, value bytes) for the entries of a row as long as columns ascend below
/// `width`, and returns how many those are; `lane` goes round from 0 to 3, so that `take` can keep
/// four sums that do not wait for each other.
template <std::size_t kSize, class Take>
[[gnu::always_inline]] inline std::uint32_t take_ascending(const std::byte* entries,
                                                           std::uint32_t count, std::int64_t width,
                                                           const Take& take) {
  constexpr std::size_t kStride = 4 + kSize;
  const auto column = [&](std::uint32_t k) -> std::int64_t {
    return load_le<std::uint32_t>(entries + k * kStride);
  };
  std::int64_t last = -1;  // the column before
  std::uint32_t k = 0;
  for (; count - k >= 4; k += 4) {
    const std::int64_t a = column(k), b = column(k + 1), c = column(k + 2), d = column(k + 3);
    // Negative when columns ascend and are inside: one branch for all.
    const std::int64_t rising = (last - a) & (a - b) & (b - c) & (c - d) & (d - width);
    if (rising >= 0) [[unlikely]]
      break;
    const std::byte* const p = entries + k * kStride;
    ask_ahead(p);
    take(0, static_cast<std::uint32_t>(a), p + 4);
    take(1, static_cast<std::uint32_t>(b), p + kStride + 4);
    take(2, static_cast<std::uint32_t>(c), p + 2 * kStride + 4);
    take(3, static_cast<std::uint32_t>(d), p + 3 * kStride + 4);
    last = d;
  }
  for (; k < count; ++k) {
    const std::int64_t a = column(k), rising = (last - a) & (a - width);
    if (rising >= 0) [[unlikely]]
      break;
    take(0, static_cast<std::uint32_t>(a), entries + k * kStride + 4);
    last = a;
  }
  return k;
}

/// The entries of one row of a block.
struct StoredRow {
  const SparsePayload& block;
  std::uint32_t row;
  const std::byte* entries;
  std::uint32_t count;

  /// Calls take(lane, column, value bytes) for each entry, in stored order; values have `kSize`
  /// bytes. True when columns ascend. Throws corrupt when one is outside the block, or twice.
  template <std::size_t kSize, class Take>
  [[gnu::always_inline]] bool each(const Take& take) const {
    constexpr std::size_t kStride = 4 + kSize;
    std::uint32_t k = take_ascending<kSize>(entries, count, block.entry.cols, take);
    if (k == count) [[likely]]
      return true;
    block.require_distinct_columns(entries, count, kStride, row);
    for (; k < count; ++k) {
      const std::byte* const p = entries + k * kStride;
      const auto col = load_le<std::uint32_t>(p);
      if (col >= block.entry.cols) block.fail_col(p, col);
      take(0, col, p + 4);
    }
    return false;
  }
};

/// Calls take(row) with the StoredRow of each of these rows, skipping those between the cursor and
/// the first of them. Throws corrupt if the counts of all rows do not add up when the last row is
/// among them.
template <std::size_t kSize, class Take>
void each_csr_row(const SparsePayload& s, Range rows, RowCursor& cursor, Take take) {
  // If somebody writes to the file, the block may have changed since the cursor was set.
  if (cursor.row > std::min<std::uint64_t>(rows.begin, s.entry.rows) ||
      cursor.entries > s.entry.stored) {
    cursor = {};
  }
  const std::byte* p = s.data + cursor.row * 4 + cursor.entries * (4 + kSize);
  std::uint64_t left = s.entry.stored - cursor.entries;  // entries that no row has claimed
  const std::uint64_t last = std::min<std::uint64_t>(rows.end, s.entry.rows);
  for (auto row = static_cast<std::uint32_t>(cursor.row); row < last; ++row) {
    const auto count = load_le<std::uint32_t>(p);
    if (count > left) s.fail_count(p, row, count, left);
    left -= count;
    p += 4;
    if (row >= rows.begin) take(StoredRow{s, row, p, count});
    p += std::size_t{count} * (4 + kSize);
  }
  cursor = {last, s.entry.stored - left};
  if (last == s.entry.rows && left != 0) s.fail_sum(s.entry.stored - left);
}

/// The same for values of any type.
template <class Take>
void each_csr_row(const SparsePayload& s, Range rows, RowCursor& cursor, const Take& take) {
  visit_bits(s.entry.value_type,
             [&](auto bits) { each_csr_row<sizeof bits>(s, rows, cursor, take); });
}

/// Splits the entries of a row of a block of `width` columns into columns, to which `first` is
/// added, and values, stored as `from` and wanted as `to`, which holds all of them. False, and what
/// was written is unspecified, unless columns ascend inside the block and no value is positive
/// zero: then the row needs a closer look. Asks for what comes `ahead` bytes later, at any address:
/// where rows are read in order, the processor by itself stops at the end of a page.
template <class Col>
bool split_row(const std::byte* entries, std::uint32_t count, std::uint32_t width, ValueType from,
               Col first, Col* cols, ValueType to, std::byte* values, std::size_t ahead = 0);

}  // namespace dapple::detail
