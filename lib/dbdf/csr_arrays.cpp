#include "lib/dbdf/csr_arrays.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "lib/ask_ahead.h"
#include "lib/dbdf/entry_stream.h"
#include "lib/dbdf/split_entries.h"
#include "lib/object/convert_cells.h"
#include "lib/object/misfit.h"
#include "lib/object/row_columns.h"
#include "lib/object/stream_copy.h"

namespace dapple::detail::dbdf {

namespace {

// The values of a row as another type than the stored one.
void convert_row(const Stream& s, std::uint32_t row, const std::byte* entries, std::uint32_t count,
                 ValueType type, std::byte* out) {
  const ValueType stored = s.entry.value_type;
  const std::size_t stride = 4 + size_of(stored);
  const std::size_t fitting =
      convert_cells(stored, entries + 4, stride, type, out, size_of(type), count);
  if (fitting < count) {
    const std::byte* bad = entries + fitting * stride;
    fail_misfit(s.store, s.entry, {row, load_le<std::uint32_t>(bad)}, bad + 4, type);
  }
}

// Rows of their own type on their way into arrays larger than the caches: put together in the
// nearest one and written past them, many whole lines at once (10^7 entries of f64, warm: with
// ordinary stores, and nothing asked for ahead, 2.0 times a memcpy of their bytes, so 1.7, and 1.35
// since they are taken apart four at a time; Xeon of family 6, model 167).
template <std::size_t kSize>
class RowStream {
 public:
  static constexpr std::uint32_t kLongestRow = 512;

  explicit RowStream(const CsrTarget& out) noexcept
      : out_(out), cols_(reinterpret_cast<std::byte*>(out.col_idx)), values_(out.values) {}

  /// Where the columns and values of the next row go. REQUIRES at most kLongestRow of them.
  std::uint32_t* cols() noexcept { return reinterpret_cast<std::uint32_t*>(cols_.room()); }
  std::byte* values() noexcept { return values_.room(); }

  void added(std::uint32_t count) noexcept {
    cols_.added(count * 4);
    values_.added(count * kSize);
  }
  /// Writes what is left; the next row comes as entry `k` of the result.
  void restart_at(std::uint64_t k) noexcept {
    cols_.restart_at(reinterpret_cast<std::byte*>(out_.col_idx + k));
    values_.restart_at(out_.values + k * kSize);
  }

 private:
  const CsrTarget& out_;
  LineStage<kLongestRow * 4> cols_;
  LineStage<kLongestRow * kSize> values_;
};

// Columns are checked row by row behind the loop that copies, which so keeps up with memory (10^7
// entries of f64: 10.2 ms, a memcpy of their bytes 9.8 ms, checked one by one 12.4 ms).
template <std::size_t kSize>
bool csr_to_arrays(const Stream& s, Range rows, RowCursor& cursor, const CsrTarget& out) {
  constexpr std::size_t stride = 4 + kSize;
  const bool same = out.type == s.entry.value_type;
  const bool streamed =
      same && rows.size() == s.entry.rows && s.entry.stored >= kStreamBytes / stride;
  RowStream<kSize> stream(out);
  std::uint64_t k = 0;
  bool fits = true;
  const auto take = [&](std::uint32_t row, const std::byte* entries, std::uint32_t count) {
    if (count > out.room - k) fits = false;
    if (!fits) return;
    const bool held = streamed && count <= RowStream<kSize>::kLongestRow;
    std::uint32_t* const cols = held ? stream.cols() : out.col_idx + k;
    std::byte* const values = held ? stream.values() : out.values + k * size_of(out.type);
    if (same) {
      ask_ahead(entries, count * stride);
      split_entries<kSize>(entries, count, cols, values);
    } else {
      for (std::uint32_t i = 0; i < count; ++i) std::memcpy(cols + i, entries + i * stride, 4);
    }
    const RowColumns check(cols, count, s.entry.cols);
    if (!check.inside) {
      const auto* const bad =
          std::find_if(cols, cols + count, [&](auto c) { return c >= s.entry.cols; });
      s.fail_col(entries + static_cast<std::size_t>(bad - cols) * stride, *bad);
    }
    if (!same) convert_row(s, row, entries, count, out.type, values);
    if (!check.ascending) {
      s.require_distinct_columns(entries, count, stride, row);
      sort_row(cols, out.type, values, count);
    }
    k += count;
    if (held) {
      stream.added(count);
    } else if (streamed) {
      stream.restart_at(k);
    }
    out.row_ptr[row - rows.begin + 1] = k;
  };
  out.row_ptr[0] = 0;
  each_csr_row<kSize>(s, rows, cursor, take);
  if (streamed) {
    stream.restart_at(k);
    finish_streams();
  }
  return fits;
}

// Entries of a COO block that stand in ascending order, inside the block, as arrays of their own
// type; false when it turns out that they don't. Everything that changes is a local variable:
// stores of bytes may change any other, which would be loaded again for each entry.
template <std::size_t kSize, bool kWithCol>
bool coo_in_order(const Stream& s, const CsrTarget& out) {
  constexpr std::size_t stride = (kWithCol ? 8 : 4) + kSize;
  const std::uint64_t rows = s.entry.rows, cols = s.entry.cols, stored = s.entry.stored;
  std::uint64_t* const row_ptr = out.row_ptr;
  std::uint32_t* const col_idx = out.col_idx;
  std::byte* const values = out.values;
  std::uint64_t row_end = 0;  // row pointers below it are known
  std::uint64_t next = 0;     // lowest row << 32 | column that keeps ascending order
  bool good = true;
  const std::byte* p = s.data;
  for (std::uint64_t k = 0; k < stored; ++k, p += stride) {
    const auto row = load_le<std::uint32_t>(p);
    const std::uint32_t col = kWithCol ? load_le<std::uint32_t>(p + 4) : 0;
    const std::uint64_t cell = std::uint64_t{row} << 32 | col;
    good &= cell >= next && col < cols;
    next = cell + 1;
    col_idx[k] = col;
    std::memcpy(values + k * kSize, p + stride - kSize, kSize);
    if (row >= row_end) {
      if (row >= rows) return false;
      while (row_end <= row) row_ptr[row_end++] = k;
    }
  }
  while (row_end <= rows) row_ptr[row_end++] = stored;
  return good;
}

template <std::size_t kSize>
bool coo_to_arrays(const Stream& s, Range rows, const CsrTarget& out) {
  if (rows.size() == s.entry.rows && s.entry.stored <= out.room && out.type == s.entry.value_type) {
    const bool done =
        s.entry.cols == 1 ? coo_in_order<kSize, false>(s, out) : coo_in_order<kSize, true>(s, out);
    if (done) return true;
  }
  struct Place {
    std::uint64_t cell;  // row << 32 | column
    const std::byte* value;
  };
  std::vector<Place> places;
  places.reserve(std::min(s.entry.stored, out.room));
  const Part part{rows, {0, s.entry.cols}};
  each<kSize>(s, part, [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
    if (places.size() <= out.room) places.push_back({std::uint64_t{row} << 32 | col, value});
  });
  if (places.size() > out.room) return false;
  const auto before = [](const Place& a, const Place& b) { return a.cell < b.cell; };
  if (!std::is_sorted(places.begin(), places.end(), before)) {
    std::sort(places.begin(), places.end(), before);
  }
  const std::size_t size = size_of(out.type);
  std::uint64_t row_end = 0;  // row pointers below it are known
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto row = static_cast<std::uint32_t>(places[k].cell >> 32);
    const auto col = static_cast<std::uint32_t>(places[k].cell);
    while (row_end <= row - rows.begin) out.row_ptr[row_end++] = k;
    out.col_idx[k] = col;
    store_bits(out.type, out.values + k * size, value_as(s, {row, col}, places[k].value, out.type));
  }
  while (row_end <= rows.size()) out.row_ptr[row_end++] = places.size();
  return true;
}

}  // namespace

bool csr_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                const CsrTarget& out) {
  const Stream stream(store, entry);
  return visit_bits(entry.value_type, [&](auto bits) {
    return entry.kind == BlockKind::csr ? csr_to_arrays<sizeof bits>(stream, rows, cursor, out)
                                        : coo_to_arrays<sizeof bits>(stream, rows, out);
  });
}

}  // namespace dapple::detail::dbdf
