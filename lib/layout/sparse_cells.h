// The stored entries of a part of a CSR or COO block, in place. Every index is checked as it is
// used (R5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "lib/layout/csr_rows.h"

namespace dapple::detail {

/// Calls take(reach(row, at), col, value bytes) for the entries of a CSR block inside `part`, where
/// reach is called once per row; `at` points to the row's count. The cursor is at the first row or
/// above.
template <std::size_t kSize, class Take, class Reach>
void each_csr(const SparsePayload& s, const Part& part, RowCursor cursor, Take take, Reach reach) {
  const auto begin = static_cast<std::uint32_t>(part.cols.begin);
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  each_csr_row<kSize>(s, part.rows, cursor, [&](const StoredRow& row) {
    const auto reached = reach(row.row, row.entries - 4);
    if (width == s.entry.cols) {
      row.each<kSize>(
          [&](int, std::uint32_t col, const std::byte* value) { take(reached, col, value); });
    } else {
      row.each<kSize>([&](int, std::uint32_t col, const std::byte* value) {
        if (col - begin < width) take(reached, col, value);
      });
    }
  });
}

/// The same for a COO block, whose rows may recur: reach may be called several times for a row.
template <std::size_t kSize, bool kWithCol, class Take, class Reach>
void each_coo(const SparsePayload& s, const Part& part, Take take, Reach reach) {
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
  if (!ascending) s.require_distinct_cells(part, stride, kWithCol);
}

/// A `reach` that passes the row's number to `take`.
inline constexpr auto kRowNumber = [](std::uint32_t row, const std::byte*) { return row; };

template <std::size_t kSize, class Take, class Reach = decltype(kRowNumber)>
void each_coo(const SparsePayload& s, const Part& part, Take take, Reach reach = {}) {
  if (s.entry.cols == 1) {
    each_coo<kSize, false>(s, part, take, reach);
  } else {
    each_coo<kSize, true>(s, part, take, reach);
  }
}

/// Calls take(reach(row, at), col, value bytes) for every entry inside `part`; values have `kSize`
/// bytes.
template <std::size_t kSize, class Take, class Reach = decltype(kRowNumber)>
void each_entry(const SparsePayload& s, const Part& part, RowCursor cursor, Take take,
                Reach reach = {}) {
  if (s.entry.kind == BlockKind::csr) {
    each_csr<kSize>(s, part, cursor, take, reach);
  } else {
    each_coo<kSize>(s, part, take, reach);
  }
}

/// Calls take(row, col, value bytes) for every entry inside `part`, whatever the value type: for
/// what need not be fast, since it is compiled once.
void each_value(
    const SparsePayload& s, const Part& part, RowCursor cursor,
    const std::function<void(std::uint32_t row, std::uint32_t col, const std::byte* value)>& take);

}  // namespace dapple::detail
