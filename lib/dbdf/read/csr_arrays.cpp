// Decoding a CSR or COO block into the usual three arrays.

#include <algorithm>
#include <cstring>
#include <vector>

#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/dbdf/read/decode_sparse.h"
#include "lib/object/sparse.h"

namespace dapple::detail::dbdf {

namespace {

// The values of a row as another type than the stored one.
void convert_row(const Store& store, const StoredRow& row, ValueType type, std::byte* out) {
  const ValueType stored = row.block.entry.value_type;
  const std::size_t stride = 4 + size_of(stored);
  const std::size_t fitting =
      convert_cells(stored, row.entries + 4, stride, type, out, size_of(type), row.count);
  if (fitting < row.count) {
    const std::byte* bad = row.entries + fitting * stride;
    fail_misfit(store, row.block.entry, {row.row, load_le<std::uint32_t>(bad)}, bad + 4, type);
  }
}

template <std::size_t kSize>
bool csr_to_arrays(const Store& store, const SparsePayload& s, Range rows, RowCursor& cursor,
                   const CsrTarget& out) {
  const bool same = out.type == s.entry.value_type;
  const std::size_t size = size_of(out.type);
  std::uint64_t k = 0;
  bool fits = true;
  out.row_ptr[0] = 0;
  each_csr_row<kSize>(s, rows, cursor, [&](const StoredRow& row) {
    if (row.count > out.room - k) fits = false;
    if (!fits) return;
    std::uint32_t* col = out.col_idx + k;
    std::byte *const values = out.values + k * size, *to = values;
    const bool ascending = row.each<kSize>([&](int, std::uint32_t c, const std::byte* value) {
      *col++ = c;
      if (!same) return;
      std::memcpy(to, value, kSize);
      to += kSize;
    });
    if (!same) convert_row(store, row, out.type, values);
    if (!ascending) sort_row(out.col_idx + k, out.type, values, row.count);
    k += row.count;
    out.row_ptr[row.row - rows.begin + 1] = k;
  });
  return fits;
}

template <std::size_t kSize>
bool coo_to_arrays(const Store& store, const SparsePayload& s, Range rows, const CsrTarget& out) {
  struct Place {
    std::uint64_t cell;  // row << 32 | column
    const std::byte* value;
  };
  std::vector<Place> places;
  places.reserve(std::min(s.entry.stored, out.room));
  const Part part{rows, {0, s.entry.cols}};
  each_coo<kSize>(s, part, [&](std::uint32_t row, std::uint32_t col, const std::byte* value) {
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
    store_bits(out.type, out.values + k * size,
               value_as(store, s.entry, {row, col}, places[k].value, out.type));
  }
  while (row_end <= rows.size()) out.row_ptr[row_end++] = places.size();
  return true;
}

}  // namespace

bool csr_arrays(const Store& store, const Entry& entry, Range rows, RowCursor& cursor,
                const CsrTarget& out) {
  const SparsePayload payload = sparse_payload(store, entry);
  return visit_bits(entry.value_type, [&](auto bits) {
    return entry.kind == BlockKind::csr
               ? csr_to_arrays<sizeof bits>(store, payload, rows, cursor, out)
               : coo_to_arrays<sizeof bits>(store, payload, rows, out);
  });
}

void skip_csr_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor) {
  each_csr_row(sparse_payload(store, entry), {row, row}, cursor, [](const StoredRow&) {});
}

}  // namespace dapple::detail::dbdf
