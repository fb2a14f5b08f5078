// Iterating over the stored entries of a CSR or COO block, each a column and a value, in place.
// Every index is checked as it is used (R5). For drivers with `sparse_in_place`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/cells/convert_cells.h"
#include "lib/object/misfit.h"
#include "lib/object/row_access.h"
#include "lib/object/store.h"

namespace dapple::detail {

// The stored entries of one block, as bytes.
struct Stream {
  const Store& store;
  const Entry& entry;
  HeldBytes held;
  const std::byte* data;  // after the block header
  std::size_t size;

  Stream(const Store& s, const Entry& e)
      : store(s), entry(e), held(s.payload(e)), data(held.data()), size(held.size()) {}

  // A cursor at `row` of a CSR block, or above it.
  RowCursor cursor(std::uint64_t row) const {
    return row < RowAccess::kNear ? RowCursor{} : store.row_access().cursor(entry, row);
  }

  // Not inlined into the loops below, which are compiled for every size of value.
  [[noreturn]] void fail(const std::byte* at, const std::string& detail) const;
  [[noreturn]] void fail_row(const std::byte* at, std::uint32_t row) const;
  [[noreturn]] void fail_col(const std::byte* at, std::uint32_t col) const;
  [[noreturn]] void fail_count(const std::byte* at, std::uint32_t row, std::uint32_t count,
                               std::uint64_t left) const;
  [[noreturn]] void fail_sum(std::uint64_t sum) const;

  // Throw when the entries of a row (of a COO block) that are not in ascending order contain a
  // column (a cell) twice.
  void require_distinct_columns(const std::byte* entries, std::uint32_t count, std::size_t stride,
                                std::uint32_t row) const;
  void require_distinct_cells(std::size_t stride, bool with_col) const;
};

// Calls take(row, entries, count) for these rows of a CSR block, skipping the rows between the
// cursor and the first of them. Throws if the counts of all rows do not add up when the last row is
// among them.
template <std::size_t kSize, class Take>
void each_csr_row(const Stream& s, Range rows, RowCursor& cursor, Take take) {
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
    if (row >= rows.begin) take(row, p, count);
    p += std::size_t{count} * (4 + kSize);
  }
  cursor = {last, s.entry.stored - left};
  if (last == s.entry.rows && left != 0) s.fail_sum(s.entry.stored - left);
}

// Calls take(reach(row, at), col, value bytes) for the entries of a CSR block inside `part`, where
// reach is called once per row; `at` points to the row's count. A row in ascending order costs one
// comparison per entry.
template <std::size_t kSize, class Take, class Reach>
void each_csr(const Stream& s, const Part& part, Take take, Reach reach) {
  constexpr std::size_t stride = 4 + kSize;
  const auto cols = s.entry.cols;
  const auto begin = static_cast<std::uint32_t>(part.cols.begin);
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  RowCursor cursor = s.cursor(part.rows.begin);
  each_csr_row<kSize>(s, part.rows, cursor,
                      [&](std::uint32_t row, const std::byte* entries, std::uint32_t count) {
                        const auto reached = reach(row, entries - 4);
                        std::uint32_t i = 0;
                        std::uint64_t next = 0;  // lowest column that keeps ascending order
                        // While columns ascend and all are wanted, one comparison checks both order
                        // and range.
                        for (; i < count && width == cols; ++i) {
                          const std::byte* q = entries + i * stride;
                          const auto col = load_le<std::uint32_t>(q);
                          const auto least = static_cast<std::uint32_t>(next);
                          if (col - least >= cols - least) break;
                          take(reached, col, q + 4);
                          next = col + 1;  // at most `cols`
                        }
                        bool ascending = true;
                        for (; i < count; ++i) {
                          const std::byte* q = entries + i * stride;
                          const auto col = load_le<std::uint32_t>(q);
                          ascending &= col >= next;
                          next = std::uint64_t{col} + 1;
                          if (col - begin < width) {
                            take(reached, col, q + 4);
                          } else if (col >= cols) {
                            s.fail_col(q, col);
                          }
                        }
                        if (!ascending) s.require_distinct_columns(entries, count, stride, row);
                      });
}

// The same for a COO block, whose rows may recur: reach may be called several times for a row.
template <std::size_t kSize, bool kWithCol, class Take, class Reach>
void each_coo(const Stream& s, const Part& part, Take take, Reach reach) {
  constexpr std::size_t stride = (kWithCol ? 8 : 4) + kSize;
  const std::uint32_t rows = s.entry.rows, cols = s.entry.cols;
  const auto first_row = static_cast<std::uint32_t>(part.rows.begin);
  const auto first_col = static_cast<std::uint32_t>(part.cols.begin);
  const auto height = static_cast<std::uint32_t>(part.rows.size());
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  std::uint64_t next = 0;  // lowest row << 32 | column that keeps ascending order
  bool ascending = true;
  const std::byte* const end = s.data + s.entry.stored * stride;
  for (const std::byte* p = s.data; p != end;) {
    const auto row = load_le<std::uint32_t>(p);
    std::uint32_t col = kWithCol ? load_le<std::uint32_t>(p + 4) : 0;
    const std::uint64_t cell = std::uint64_t{row} << 32 | col;
    ascending &= cell >= next;
    next = cell + 1;
    if (row - first_row < height && col - first_col < width) {
      const auto reached = reach(row, p);
      take(reached, col, p + (kWithCol ? 8 : 4));
      p += stride;
      if (!kWithCol || width != cols) continue;
      // The rest of the row, as in `each_csr`.
      for (; p != end && load_le<std::uint32_t>(p) == row; p += stride) {
        const std::uint32_t least = col + 1, further = load_le<std::uint32_t>(p + 4);
        if (further - least >= cols - least) break;
        col = further;
        take(reached, col, p + 8);
      }
      next = (std::uint64_t{row} << 32 | col) + 1;
    } else {
      if (row >= rows) s.fail_row(p, row);
      if (col >= cols) s.fail_col(p + 4, col);
      p += stride;
    }
  }
  if (!ascending) s.require_distinct_cells(stride, kWithCol);
}

// A `reach` that passes the row's number to `take`.
inline constexpr auto kRowNumber = [](std::uint32_t row, const std::byte*) { return row; };

template <std::size_t kSize, class Take, class Reach = decltype(kRowNumber)>
void each_coo(const Stream& s, const Part& part, Take take, Reach reach = {}) {
  if (s.entry.cols == 1) {
    each_coo<kSize, false>(s, part, take, reach);
  } else {
    each_coo<kSize, true>(s, part, take, reach);
  }
}

// Calls take(reach(row, at), col, value bytes) for every entry inside `part`; values have `kSize`
// bytes.
template <std::size_t kSize, class Take, class Reach = decltype(kRowNumber)>
void each(const Stream& s, const Part& part, Take take, Reach reach = {}) {
  if (s.entry.kind == BlockKind::csr) {
    each_csr<kSize>(s, part, take, reach);
  } else {
    each_coo<kSize>(s, part, take, reach);
  }
}

// Calls take(row, col, value bytes) for every entry inside `part`, whatever the value type.
template <class Take>
void each_value(const Stream& stream, const Part& part, Take take) {
  visit_bits(stream.entry.value_type, [&](auto bits) { each<sizeof bits>(stream, part, take); });
}

// The value as `type`, in the low bytes of a word. Throws when it does not fit.
std::uint64_t value_as(const Stream& s, CellInBlock cell, const std::byte* value, ValueType type);

}  // namespace dapple::detail
