#include "lib/rows/row_reader.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "lib/base/ask_ahead.h"
#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/layout/dense_rows.h"
#include "lib/object/sparse.h"

namespace dapple::detail {

namespace {

/// Cells that are decoded at once where they cannot be looked at in place.
constexpr std::uint64_t kDecodedAtOnce = std::uint64_t{32} << 10;

}  // namespace

template <class Col>
RowReader<Col>::RowReader(const Store& store, std::optional<ValueType> type)
    : store_(store), type_(type), out_type_(type.value_or(ValueType::u64)) {
  const Schema& schema = store.schema();
  if (!type || schema.kind != ObjectKind::matrix) return;
  for (const ValueType stored : kValueTypes) {
    is_certain_[static_cast<std::size_t>(stored)] =
        holds_all(schema.value_type, stored) && holds_all(*type, stored);
  }
}

template <class Col>
void RowReader<Col>::append(const BlockRows& block, Range rows, RowCursor start,
                            std::uint64_t stored, const WantedCols<Col>& wanted, RowSink<Col>& out,
                            std::uint64_t* ends) {
  switch (block.way()) {
    case BlockRows::Way::empty:
      std::fill_n(ends, rows.size(), out.size);
      return;
    case BlockRows::Way::csr:
      each_csr_row(block.payload(), rows, start, [&](const StoredRow& row) {
        if (row.count > stored) fail_row_counts(store_, block.entry());
        stored -= row.count;
        append(block, row, wanted, out, kAskAhead);
        *ends++ = out.size;
      });
      if (stored != 0) fail_row_counts(store_, block.entry());
      return;
    case BlockRows::Way::encoded:
      return append_encoded(block, rows, start, stored, wanted, out, ends);
    case BlockRows::Way::arrays:
      return append_arrays(block, rows, start, stored, wanted, out, ends);
    case BlockRows::Way::dense:
      return append_dense(block, rows, wanted, out, ends);
    case BlockRows::Way::kept:
      return append_kept(block, rows, wanted, out, ends);
  }
}

template <class Col>
void RowReader<Col>::append(const BlockRows& block, const StoredRow& row,
                            const WantedCols<Col>& wanted, RowSink<Col>& out, std::size_t ahead) {
  const Entry& entry = block.entry();
  if (wanted.cols.size() == entry.cols && keep_.empty()) {
    if (is_certain_[static_cast<std::size_t>(entry.value_type)] &&
        split_row(row.entries, row.count, entry.cols, entry.value_type, wanted.at,
                  out.cols + out.size, out_type_, out.values + out.size * size_of(out_type_),
                  ahead)) {
      out.size += row.count;
      return;
    }
  }
  picked_cols_.reset(row.count);
  picked_.reset(row.count * size_of(entry.value_type));
  const auto begin = static_cast<std::uint32_t>(wanted.cols.begin);
  const auto width = static_cast<std::uint32_t>(wanted.cols.size());
  const std::uint8_t* const keep = keep_.empty() ? nullptr : keep_.data() + wanted.at;
  std::uint64_t n = 0;
  bool ascending = true;
  visit_bits(entry.value_type, [&](auto tag) {
    using Bits = decltype(tag);
    ascending = row.each<sizeof(Bits)>([&](int, std::uint32_t col, const std::byte* value) {
      picked_cols_[n] = col - begin;
      store_le(picked_.data() + n * sizeof(Bits), load_le<Bits>(value));
      n += col - begin < width && (keep == nullptr || keep[col - begin] != 0) ? 1 : 0;
    });
  });
  if (!ascending) sort_row(picked_cols_.data(), entry.value_type, picked_.data(), n);
  put(block, row.row,
      {picked_cols_.data(), picked_.data(), size_of(entry.value_type), n, entry.value_type}, wanted,
      out);
}

/// Straight to the result where all columns are wanted and no value needs a look.
template <class Col>
void RowReader<Col>::append_encoded(const BlockRows& block, Range rows, RowCursor start,
                                    std::uint64_t stored, const WantedCols<Col>& wanted,
                                    RowSink<Col>& out, std::uint64_t* ends) {
  const Entry& entry = block.entry();
  const auto first = static_cast<std::uint32_t>(start.entries);
  encoded_starts_.reset(rows.size() + 1);
  encoded_starts_[0] = first;
  encoded_starts_[rows.size()] = first + static_cast<std::uint32_t>(stored);
  if (rows.size() > 1) {
    block.encoded().starts(static_cast<std::uint32_t>(rows.begin),
                           static_cast<std::uint32_t>(rows.end), encoded_starts_.data());
  }
  if (encoded_starts_[0] != start.entries || encoded_starts_[rows.size()] - first != stored) {
    store_.file().fail_changed("block " + text(entry.pos));
  }
  const std::span<const std::uint32_t> starts(encoded_starts_.begin(), encoded_starts_.end());
  if (keep_.empty() && wanted.cols.size() == entry.cols &&
      is_certain_[static_cast<std::size_t>(entry.value_type)]) {
    std::byte* const values = out.values + out.size * size_of(out_type_);
    Col* const cols = out.cols + out.size;
    if constexpr (sizeof(Col) == 8) cols_.reset(stored);
    std::uint32_t* from = cols_.data();
    if constexpr (sizeof(Col) == 4) from = cols;
    if (block.encoded().entries(starts, from, out_type_, values) == stored &&
        !has_zeros(out_type_, values, stored)) {
      if (sizeof(Col) == 8 || wanted.at != 0) {
        for (std::uint64_t k = 0; k < stored; ++k) cols[k] = wanted.at + from[k];
      }
      for (const std::uint32_t next : starts.subspan(1)) *ends++ = out.size + (next - first);
      out.size += stored;
      return;
    }
  }
  const std::size_t size = size_of(entry.value_type);
  cols_.reset(stored);
  values_.reset(stored * size);
  block.encoded().entries(starts, cols_.data(), entry.value_type, values_.data());
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t k = starts[i] - first;
    const Picked row{cols_.data() + k, values_.data() + k * size, size, starts[i + 1] - starts[i],
                     entry.value_type};
    put(block, rows.begin + i, pick(block, row, wanted), wanted, out);
    *ends++ = out.size;
  }
}

/// Rows as the driver gives them.
template <class Col>
void RowReader<Col>::append_arrays(const BlockRows& block, Range rows, RowCursor start,
                                   std::uint64_t stored, const WantedCols<Col>& wanted,
                                   RowSink<Col>& out, std::uint64_t* ends) {
  const Entry& entry = block.entry();
  const ValueType type = *declared_type(
      store_.schema(), {entry.pos.cx, entry.pos.cx + entry.cols});  // or there were no arrays
  const std::size_t size = size_of(type);
  row_ptr_.reset(rows.size() + 1);
  cols_.reset(stored);
  values_.reset(stored * size);
  const CsrTarget target{row_ptr_.data(), cols_.data(), values_.data(), type, stored};
  read_arrays(store_, entry, rows, start, target);
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t k = row_ptr_[i];
    const Picked row{cols_.data() + k, values_.data() + k * size, size, row_ptr_[i + 1] - k, type};
    put(block, rows.begin + i, pick(block, row, wanted), wanted, out);
    *ends++ = out.size;
  }
}

template <class Col>
void RowReader<Col>::append_kept(const BlockRows& block, Range rows, const WantedCols<Col>& wanted,
                                 RowSink<Col>& out, std::uint64_t* ends) {
  const Entry& entry = block.entry();
  const KeptCells& kept = block.kept();
  std::optional<ValueType> type;
  if (!kept.declared) type = entry.value_type;
  const Range all = kept.in(rows);
  std::uint64_t k = all.begin;
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    const std::uint64_t begin = k;
    while (k < all.end && kept.rows[k] == row) ++k;
    if (k > begin) {
      const Picked cells{kept.cols.data() + begin,
                         reinterpret_cast<const std::byte*>(kept.bits.data() + begin), 8, k - begin,
                         type};
      put(block, row, pick(block, cells, wanted), wanted, out);
    }
    *ends++ = out.size;
  }
}

/// Cells in place where they are of the wanted type, otherwise decoded some rows at a time.
template <class Col>
void RowReader<Col>::append_dense(const BlockRows& block, Range rows, const WantedCols<Col>& wanted,
                                  RowSink<Col>& out, std::uint64_t* ends) {
  const Entry& entry = block.entry();
  const Schema& schema = store_.schema();
  const Range cols{entry.pos.cx + wanted.cols.begin, entry.pos.cx + wanted.cols.end};
  const std::optional<ValueType> declared = declared_type(schema, cols);
  if (block.data() != nullptr && declared && type_ == entry.value_type &&
      holds_all(*declared, entry.value_type)) {
    const std::size_t first =
        rows.begin * block.row_step() + wanted.cols.begin * size_of(entry.value_type);
    return append_cells(block, rows, block.data() + first, block.row_step(), type_, wanted, out,
                        ends);
  }
  const std::uint64_t width = cols.size();
  const std::uint64_t at_once =
      std::max<std::uint64_t>(1, kDecodedAtOnce / std::max<std::uint64_t>(1, width));
  std::optional<ValueType> type = declared;              // of the cells that are decoded
  if (declared && type_ && keep_.empty()) type = type_;  // otherwise some need not fit it
  const std::size_t size = type ? size_of(*type) : 8;
  Array<std::byte> cells;
  for (std::uint64_t row = rows.begin; row < rows.end;) {
    const Range some{row, row + std::min(at_once, rows.end - row)};
    cells.reset(some.size() * width * size);
    if (type) {
      store_.driver().read(store_, entry, {some, wanted.cols},
                           {cells.data(), *type, width * size, size});
    } else {
      std::fill(cells.begin(), cells.end(), std::byte{});
      std::vector<ColumnBuffer> columns;
      for (std::uint64_t c = 0; c < width; ++c) {
        columns.push_back(
            {cols.begin + c, schema.type_of(cols.begin + c), cells.data() + c * 8, width * 8});
      }
      store_.read_rows({entry.pos.rx + some.begin, entry.pos.rx + some.end}, columns, {});
    }
    append_cells(block, some, cells.data(), width * size, type, wanted, out, ends);
    ends += some.size();
    row = some.end;
  }
}

/// Rows of dense cells, `step` bytes apart; of `type`, or words of what each column declares.
template <class Col>
void RowReader<Col>::append_cells(const BlockRows& block, Range rows, const std::byte* cells,
                                  std::size_t step, std::optional<ValueType> type,
                                  const WantedCols<Col>& wanted, RowSink<Col>& out,
                                  std::uint64_t* ends) {
  const auto width = static_cast<std::uint32_t>(wanted.cols.size());
  const std::size_t size = type ? size_of(*type) : 8;
  picked_cols_.reset(width);
  picked_.reset(width * size);
  for (std::uint64_t row = rows.begin; row < rows.end; ++row, cells += step) {
    std::uint64_t count = take_nonzero(size, cells, width, picked_cols_.data(), picked_.data());
    if (!keep_.empty()) count = keep_of(wanted, size, count);
    put(block, row, {picked_cols_.data(), picked_.data(), size, count, type}, wanted, out);
    *ends++ = out.size;
  }
}

/// Leaves the kept ones of entries that were picked; returns how many.
template <class Col>
std::uint64_t RowReader<Col>::keep_of(const WantedCols<Col>& wanted, std::size_t size,
                                      std::uint64_t count) {
  std::uint64_t n = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    if (keep_[wanted.at + picked_cols_[k]] == 0) continue;
    picked_cols_[n] = picked_cols_[k];
    std::memmove(picked_.data() + n * size, picked_.data() + k * size, size);
    ++n;
  }
  return n;
}

/// Those of a row of all columns of the block that are wanted.
template <class Col>
typename RowReader<Col>::Picked RowReader<Col>::pick(const BlockRows& block, const Picked& row,
                                                     const WantedCols<Col>& wanted) {
  if (keep_.empty() && wanted.cols.size() == block.entry().cols) return row;
  const auto begin = static_cast<std::uint32_t>(wanted.cols.begin);
  const auto end = std::lower_bound(row.cols, row.cols + row.count, wanted.cols.end);
  const auto first = std::lower_bound(row.cols, end, begin);
  const auto count = static_cast<std::uint32_t>(end - first);
  const std::byte* const values =
      row.values + static_cast<std::size_t>(first - row.cols) * row.step;
  picked_cols_.reset(count);
  if (keep_.empty()) {
    for (std::uint32_t k = 0; k < count; ++k) picked_cols_[k] = first[k] - begin;
    return {picked_cols_.data(), values, row.step, count, row.type};
  }
  const std::uint8_t* const keep = keep_.data() + wanted.at;
  std::uint32_t n = 0;
  for (std::uint32_t k = 0; k < count; ++k) {  // their places, which are few
    picked_cols_[n] = k;
    n += keep[first[k] - begin] != 0 ? 1 : 0;
  }
  picked_.reset(n * row.step);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t k = picked_cols_[i];
    std::memcpy(picked_.data() + i * row.step, values + k * row.step, row.step);
    picked_cols_[i] = first[k] - begin;
  }
  return {picked_cols_.data(), picked_.data(), row.step, n, row.type};
}

template <class Col>
void RowReader<Col>::put(const BlockRows& block, std::uint64_t row, const Picked& picked,
                         const WantedCols<Col>& wanted, RowSink<Col>& out) {
  if (picked.count == 0) return;
  const std::byte* const values = convert(block, row, picked, wanted.cols);
  const std::size_t step = values == picked.values ? picked.step : size_of(out_type_);
  visit_bits(out_type_, [&](auto tag) {
    using Bits = decltype(tag);
    Col* const cols = out.cols;
    std::byte* const to = out.values;
    std::uint64_t n = out.size;
    for (std::uint64_t k = 0; k < picked.count; ++k) {
      const auto bits = load_le<Bits>(values + k * step);
      cols[n] = wanted.at + picked.cols[k];
      store_le(to + n * sizeof(Bits), bits);
      n += bits != 0 ? 1 : 0;
    }
    out.size = n;
  });
}

/// The values as the result wants them.
template <class Col>
const std::byte* RowReader<Col>::convert(const BlockRows& block, std::uint64_t row,
                                         const Picked& picked, Range cols) {
  const Schema& schema = store_.schema();
  const bool matrix = schema.kind == ObjectKind::matrix;
  if (picked.type && picked.type == type_ &&
      (block.way() == BlockRows::Way::dense || (matrix && holds_all(schema.value_type, *type_)))) {
    return picked.values;
  }
  converted_.reset(picked.count * 8);
  if (!matrix || !type_) {
    convert_each(block, row, picked, cols);
    return converted_.data();
  }
  const ValueType declared = schema.value_type, stored = picked.type.value_or(declared);
  const auto to = [&](ValueType type) {
    const std::size_t fit = convert_cells(stored, picked.values, picked.step, type,
                                          converted_.data(), size_of(type), picked.count);
    if (fit < picked.count) fail_cell(block, row, cols.begin + picked.cols[fit], type);
  };
  if (!holds_all(declared, stored)) to(declared);
  to(*type_);
  return converted_.data();
}

/// Of columns that may declare different types.
template <class Col>
void RowReader<Col>::convert_each(const BlockRows& block, std::uint64_t row, const Picked& picked,
                                  Range cols) {
  for (std::uint64_t k = 0; k < picked.count; ++k) {
    const std::uint64_t col = cols.begin + picked.cols[k];
    const ValueType declared = store_.schema().type_of(block.entry().pos.cx + col);
    const ValueType stored = picked.type.value_or(declared);
    std::uint64_t bits = load_bits(stored, picked.values + k * picked.step);
    if (stored != declared && !convert_cell(stored, bits, declared, bits)) {
      fail_cell(block, row, col, declared);
    }
    if (type_ && declared != *type_ && !convert_cell(declared, bits, *type_, bits)) {
      fail_cell(block, row, col, *type_);
    }
    store_bits(out_type_, converted_.data() + k * size_of(out_type_), bits);
  }
}

/// Throws for a value that does not fit, naming its byte if there is one.
template <class Col>
void RowReader<Col>::fail_cell(const BlockRows& block, std::uint64_t row, std::uint64_t col,
                               ValueType type) const {
  const Entry& entry = block.entry();
  const Part part{{row, row + 1}, {col, col + 1}};
  if (entry.kind != BlockKind::dense && store_.driver().sparse_in_place) {
    each_value(sparse_payload(store_, entry), part, {},
               [&](std::uint32_t r, std::uint32_t c, const std::byte* value) {
                 fail_misfit(store_, entry, {r, c}, value, type);
               });
  } else {
    std::array<std::byte, 8> cell;
    store_.driver().read(store_, entry, part, {cell.data(), type, 8, 8});
  }
  store_.file().fail_changed("block " + text(entry.pos));
}

template class RowReader<std::uint32_t>;
template class RowReader<std::uint64_t>;

}  // namespace dapple::detail
