#include "lib/dbdf/read/csr_arrays.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "lib/base/vectors.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/cells/stream_copy.h"
#include "lib/dbdf/split_entries.h"
#include "lib/object/misfit.h"
#include "lib/object/sparse_stream.h"

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

// Writes columns and values to arrays, at most kMost at a time; with streaming stores of whole
// cache lines if the arrays are larger than the caches.
template <std::size_t kSize, std::uint32_t kMost>
class ArrayStream {
 public:
  ArrayStream(const CsrTarget& out, bool past_caches) noexcept
      : out_(out),
        past_caches_(past_caches),
        cols_(reinterpret_cast<std::byte*>(out.col_idx)),
        values_(out.values) {}

  /// Room for the columns and values of the next `count` entries.
  std::uint32_t* cols(std::uint64_t count) noexcept {
    return held(count) ? reinterpret_cast<std::uint32_t*>(cols_.room()) : out_.col_idx + at_;
  }
  std::byte* values(std::uint64_t count) noexcept {
    return held(count) ? values_.room() : out_.values + at_ * kSize;
  }
  /// They were put there.
  void added(std::uint64_t count) noexcept {
    at_ += count;
    if (held(count)) {
      cols_.added(count * 4);
      values_.added(count * kSize);
    } else if (past_caches_) {
      write();
    }
  }
  /// Call it after the last entry.
  void finish() noexcept {
    if (!past_caches_) return;
    write();
    finish_streams();
  }

 private:
  bool held(std::uint64_t count) const noexcept { return past_caches_ && count <= kMost; }
  void write() noexcept {
    cols_.restart_at(reinterpret_cast<std::byte*>(out_.col_idx + at_));
    values_.restart_at(out_.values + at_ * kSize);
  }

  const CsrTarget& out_;
  const bool past_caches_;
  std::uint64_t at_ = 0;
  LineStage<std::size_t{kMost} * 4> cols_;
  LineStage<std::size_t{kMost} * kSize> values_;
};

// Columns are checked a row at a time, after the loop that copies them: a fifth faster than one by
// one, and within 5 % of a memcpy of the entries.
template <std::size_t kSize>
bool csr_to_arrays(const Stream& s, Range rows, RowCursor& cursor, const CsrTarget& out) {
  constexpr std::size_t stride = 4 + kSize;
  const bool same = out.type == s.entry.value_type, all = rows.size() == s.entry.rows;
  ArrayStream<kSize, 512> arrays(out, same && all && s.entry.stored >= kStreamBytes / stride);
  std::uint64_t k = 0;
  bool fits = true;
  const auto take = [&](std::uint32_t row, const std::byte* entries, std::uint32_t count) {
    if (count > out.room - k) fits = false;
    if (!fits) return;
    std::uint32_t* const cols = arrays.cols(count);
    std::byte* const values = same ? arrays.values(count) : out.values + k * size_of(out.type);
    if (same) {
      split_csr_entries<kSize>(entries, count, cols, values);
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
    arrays.added(count);
    out.row_ptr[row - rows.begin + 1] = k;
  };
  out.row_ptr[0] = 0;
  each_csr_row<kSize>(s, rows, cursor, take);
  arrays.finish();
  return fits;
}

// True when the cells are strictly ascending, not below `next` (row << 32 | column), and inside the
// block. The last of ascending rows is the largest.
DAPPLE_VECTORS bool ascend_inside(const std::uint32_t* rows, const std::uint32_t* cols,
                                  std::uint32_t count, std::uint64_t next,
                                  const Entry& block) noexcept {
  const std::uint32_t width = block.cols;
  unsigned bad = cols[0] >= width ? 1U : 0U;
  for (std::uint32_t i = 1; i < count; ++i) {
    const unsigned above = rows[i] < rows[i - 1], level = rows[i] == rows[i - 1],
                   left = cols[i] <= cols[i - 1], outside = cols[i] >= width;
    bad |= above | (level & left) | outside;
  }
  return bad == 0 && (std::uint64_t{rows[0]} << 32 | cols[0]) >= next &&
         rows[count - 1] < block.rows;
}

// Decodes a COO block as values of its own type if its entries are in ascending order and inside
// the block; false when they turn out not to be. In batches that stay in the L1 cache, a third
// faster than one by one.
template <std::size_t kSize, bool kWithCol>
bool coo_in_order(const Stream& s, const CsrTarget& out) {
  constexpr std::size_t stride = (kWithCol ? 8 : 4) + kSize;
  constexpr std::uint32_t kAtOnce = 65;  // 64 pairs of neighbours fill whole vectors
  const std::uint64_t stored = s.entry.stored;
  ArrayStream<kSize, kAtOnce> arrays(out, stored >= kStreamBytes / stride);
  std::array<std::uint32_t, kAtOnce> rows;
  std::uint64_t row_end = 0;  // row pointers below it are known
  std::uint64_t next = 0;     // lowest row << 32 | column that keeps ascending order
  for (std::uint64_t k = 0; k < stored; k += kAtOnce) {
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(kAtOnce, stored - k));
    std::uint32_t* const cols = arrays.cols(count);
    split_coo_entries<kSize, kWithCol>(s.data + k * stride, count, rows.data(), cols,
                                       arrays.values(count));
    if (!ascend_inside(rows.data(), cols, count, next, s.entry)) return false;
    const std::uint32_t last = rows[count - 1];
    next = (std::uint64_t{last} << 32 | cols[count - 1]) + 1;
    for (std::uint32_t i = 0; row_end <= last; ++row_end) {
      while (count - i >= 8 && rows[i + 7] < row_end) i += 8;
      while (rows[i] < row_end) ++i;
      out.row_ptr[row_end] = k + i;
    }
    arrays.added(count);
  }
  while (row_end <= s.entry.rows) out.row_ptr[row_end++] = stored;
  arrays.finish();
  return true;
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

void skip_csr_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor) {
  const Stream stream(store, entry);
  visit_bits(entry.value_type, [&](auto bits) {
    each_csr_row<sizeof bits>(stream, {row, row}, cursor,
                              [](std::uint32_t, const std::byte*, std::uint32_t) {});
  });
}

}  // namespace dapple::detail::dbdf
