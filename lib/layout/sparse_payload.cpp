#include "lib/layout/sparse_cells.h"

#include <algorithm>
#include <vector>

#include "lib/base/bytes.h"

namespace dapple::detail {

namespace {

[[noreturn]] void fail_twice(const SparsePayload& s, const std::byte* at, std::uint32_t row,
                             std::uint32_t col) {
  s.fail(at, "block " + text(s.entry.pos) + " stores its cell " + text({row, col}) + " twice (R5)");
}

}  // namespace

void SparsePayload::fail(const std::byte* at, const std::string& detail) const {
  // Bytes that were made are at no offset of the file: the block is to blame.
  const std::uint64_t where =
      held.is_mapped() ? offset + static_cast<std::uint64_t>(at - data) : entry.offset;
  const BytePlace place = file.place(where);
  throw Error(Errc::corrupt, place.name, place.offset, detail);
}

void SparsePayload::fail_row(const std::byte* at, std::uint32_t row) const {
  fail(at, "row " + std::to_string(row) + " is outside a block of " + counted(entry.rows, "row") +
               " (R5)");
}

void SparsePayload::fail_col(const std::byte* at, std::uint32_t col) const {
  fail(at, "column " + std::to_string(col) + " is outside a block of " +
               counted(entry.cols, "column") + " (R5)");
}

void SparsePayload::fail_count(const std::byte* at, std::uint32_t row, std::uint32_t count,
                               std::uint64_t left) const {
  fail(at, "row " + std::to_string(row) + " counts " + std::to_string(count) +
               " entries where only " + std::to_string(left) + " of the block's " +
               std::to_string(entry.stored) + " are left (R5)");
}

void SparsePayload::fail_sum(std::uint64_t sum) const {
  fail(data - 8, "the row counts add up to " + std::to_string(sum) + ", not to the block's " +
                     std::to_string(entry.stored) + " entries (R5)");
}

void SparsePayload::require_distinct_columns(const std::byte* entries, std::uint32_t count,
                                             std::size_t stride, std::uint32_t row) const {
  std::vector<std::uint32_t> cols(count);
  for (std::uint32_t i = 0; i < count; ++i) cols[i] = load_le<std::uint32_t>(entries + i * stride);
  std::sort(cols.begin(), cols.end());
  const auto twice = std::adjacent_find(cols.begin(), cols.end());
  if (twice != cols.end()) fail_twice(*this, entries, row, *twice);
}

void SparsePayload::require_distinct_cells(const Part& part, std::size_t stride,
                                           bool with_col) const {
  std::vector<std::uint64_t> cells;
  for (std::uint64_t i = 0; i < entry.stored; ++i) {
    const std::byte* p = data + i * stride;
    const std::uint64_t row = load_le<std::uint32_t>(p);
    const std::uint64_t col = with_col ? load_le<std::uint32_t>(p + 4) : 0;
    if (part.rows.contains(row) && part.cols.contains(col)) cells.push_back(row << 32 | col);
  }
  std::sort(cells.begin(), cells.end());
  const auto twice = std::adjacent_find(cells.begin(), cells.end());
  if (twice == cells.end()) return;
  fail_twice(*this, data, static_cast<std::uint32_t>(*twice >> 32),
             static_cast<std::uint32_t>(*twice));
}

void each_value(
    const SparsePayload& s, const Part& part, RowCursor cursor,
    const std::function<void(std::uint32_t row, std::uint32_t col, const std::byte* value)>& take) {
  visit_bits(s.entry.value_type, [&](auto bits) {
    each_entry<sizeof bits>(s, part, cursor,
                            [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
                              take(row, col, value);
                            });
  });
}

}  // namespace dapple::detail
