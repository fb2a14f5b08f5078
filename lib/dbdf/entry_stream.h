// The stored entries of a CSR or COO block, one after the other, every index checked as it is used
// (rule R5).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "lib/dbdf/header.h"
#include "lib/object/convert_cells.h"
#include "lib/object/misfit.h"
#include "lib/object/store.h"

namespace dapple::detail::dbdf {

// The stored entries of one block, as bytes: where they are and how wide.
struct Stream {
  const Store& store;
  const Entry& entry;
  const std::byte* data;  // behind the block header
  std::size_t size;

  Stream(const Store& s, const Entry& e)
      : store(s),
        entry(e),
        data(s.file().at(e.offset + header_size(e.kind), e.bytes - header_size(e.kind))),
        size(e.bytes - header_size(e.kind)) {}

  [[noreturn]] void fail(const std::byte* at, const std::string& detail) const {
    const auto offset =
        entry.offset + header_size(entry.kind) + static_cast<std::uint64_t>(at - data);
    store.fail(Errc::corrupt, offset, detail);
  }
  [[noreturn]] void fail_twice(const std::byte* at, std::uint32_t row, std::uint32_t col) const {
    fail(at, "expected each cell once in block " + text(entry.pos) + " (R5), got cell " +
                 text({row, col}) + " of it twice");
  }
};

[[noreturn]] inline void fail_col(const Stream& s, const std::byte* at, std::uint32_t col) {
  s.fail(at, "expected a column below " + std::to_string(s.entry.cols) + " (R5), got " +
                 std::to_string(col));
}

// Throws when a column stands twice among the entries of a row that is not in ascending order.
inline void require_distinct_columns(const Stream& s, const std::byte* entries, std::uint32_t count,
                                     std::size_t stride, std::uint32_t row) {
  std::vector<std::uint32_t> cols(count);
  for (std::uint32_t i = 0; i < count; ++i) cols[i] = load_le<std::uint32_t>(entries + i * stride);
  std::sort(cols.begin(), cols.end());
  const auto twice = std::adjacent_find(cols.begin(), cols.end());
  if (twice != cols.end()) s.fail_twice(entries, row, *twice);
}

// Calls take(row, entries, count) for these rows of a CSR block. Rows in front of them that the
// cursor has not passed are hopped over; that the counts of all rows add up is known when the last
// row is among them.
template <std::size_t kSize, class Take>
void each_csr_row(const Stream& s, Range rows, RowCursor& cursor, Take take) {
  // The block may be another one now, when somebody writes to the file.
  if (cursor.row > std::min<std::uint64_t>(rows.begin, s.entry.rows) ||
      cursor.entries > s.entry.stored) {
    cursor = {};
  }
  const std::byte* p = s.data + cursor.row * 4 + cursor.entries * (4 + kSize);
  std::uint64_t left = s.entry.stored - cursor.entries;  // entries that no row has claimed
  const std::uint64_t last = std::min<std::uint64_t>(rows.end, s.entry.rows);
  for (auto row = static_cast<std::uint32_t>(cursor.row); row < last; ++row) {
    const auto count = load_le<std::uint32_t>(p);
    if (count > left) {
      s.fail(p, "expected row counts that sum to " + std::to_string(s.entry.stored) +
                    " (R5), got " + std::to_string(count) + " in row " + std::to_string(row) +
                    " where " + std::to_string(left) + " are left");
    }
    left -= count;
    p += 4;
    if (row >= rows.begin) take(row, p, count);
    p += std::size_t{count} * (4 + kSize);
  }
  cursor = {last, static_cast<std::uint64_t>(p - s.data), s.entry.stored - left};
  if (last == s.entry.rows && left != 0) {
    s.fail(s.data - 8, "expected row counts that sum to " + std::to_string(s.entry.stored) +
                           " (R5), got " + std::to_string(s.entry.stored - left));
  }
}

// Calls take(row, col, value bytes) for the entries of a CSR block inside `part`. A row that is in
// ascending order costs one comparison an entry.
template <std::size_t kSize, class Take>
void each_csr(const Stream& s, const Part& part, Take take) {
  constexpr std::size_t stride = 4 + kSize;
  const auto cols = s.entry.cols;
  const auto begin = static_cast<std::uint32_t>(part.cols.begin);
  const auto width = static_cast<std::uint32_t>(part.cols.size());
  RowCursor cursor;
  each_csr_row<kSize>(s, part.rows, cursor,
                      [&](std::uint32_t row, const std::byte* entries, std::uint32_t count) {
                        std::uint64_t next = 0;  // lowest column that keeps ascending order
                        bool ascending = true;
                        for (std::uint32_t i = 0; i < count; ++i) {
                          const std::byte* q = entries + i * stride;
                          const auto col = load_le<std::uint32_t>(q);
                          if (col >= cols) fail_col(s, q, col);
                          ascending &= col >= next;
                          next = std::uint64_t{col} + 1;
                          if (col - begin < width) take(row, col, q + 4);
                        }
                        if (!ascending) require_distinct_columns(s, entries, count, stride, row);
                      });
}

inline void require_distinct_cells(const Stream& s, std::size_t stride, bool with_col) {
  std::vector<std::uint64_t> cells(s.entry.stored);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::byte* p = s.data + i * stride;
    const std::uint64_t col = with_col ? load_le<std::uint32_t>(p + 4) : 0;
    cells[i] = std::uint64_t{load_le<std::uint32_t>(p)} << 32 | col;
  }
  std::sort(cells.begin(), cells.end());
  const auto twice = std::adjacent_find(cells.begin(), cells.end());
  if (twice == cells.end()) return;
  s.fail_twice(s.data, static_cast<std::uint32_t>(*twice >> 32),
               static_cast<std::uint32_t>(*twice));
}

template <std::size_t kSize, bool kWithCol, class Take>
void each_coo(const Stream& s, const Part& part, Take take) {
  constexpr std::size_t stride = (kWithCol ? 8 : 4) + kSize;
  const std::uint64_t rows = s.entry.rows, cols = s.entry.cols;
  std::uint64_t next = 0;  // lowest row << 32 | column that keeps ascending order
  bool ascending = true;
  const std::byte* const end = s.data + s.entry.stored * stride;
  for (const std::byte* p = s.data; p != end; p += stride) {
    const auto row = load_le<std::uint32_t>(p);
    const std::uint32_t col = kWithCol ? load_le<std::uint32_t>(p + 4) : 0;
    if (row >= rows) {
      s.fail(p,
             "expected a row below " + std::to_string(rows) + " (R5), got " + std::to_string(row));
    }
    if (col >= cols) fail_col(s, p + 4, col);
    const std::uint64_t cell = std::uint64_t{row} << 32 | col;
    ascending &= cell >= next;
    next = cell + 1;
    if (part.rows.contains(row) && part.cols.contains(col)) {
      take(row, col, p + (kWithCol ? 8 : 4));
    }
  }
  if (!ascending) require_distinct_cells(s, stride, kWithCol);
}

// Calls take(row, col, value bytes) for every entry inside `part`; `kSize` bytes a value.
template <std::size_t kSize, class Take>
void each(const Stream& s, const Part& part, Take take) {
  if (s.entry.kind == BlockKind::csr) {
    each_csr<kSize>(s, part, take);
  } else if (s.entry.cols == 1) {
    each_coo<kSize, false>(s, part, take);
  } else {
    each_coo<kSize, true>(s, part, take);
  }
}

// Calls take(row, col, value bytes) for every entry inside `part`, whatever the value type.
template <class Take>
void each_value(const Stream& stream, const Part& part, Take take) {
  visit_bits(stream.entry.value_type, [&](auto bits) { each<sizeof bits>(stream, part, take); });
}

// The value as `type`, in the low bytes of a word. Throws when it does not fit.
inline std::uint64_t value_as(const Stream& s, CellInBlock cell, const std::byte* value,
                              ValueType type) {
  std::uint64_t bits = 0;
  const ValueType stored = s.entry.value_type;
  if (!convert_cell(stored, load_bits(stored, value), type, bits)) {
    fail_misfit(s.store, s.entry, cell, value, type);
  }
  return bits;
}

}  // namespace dapple::detail::dbdf
