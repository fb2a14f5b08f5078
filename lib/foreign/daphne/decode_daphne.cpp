#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/foreign/daphne/daphne.h"
#include "lib/foreign/daphne/daphne_blocks.h"
#include "lib/object/copy_rows.h"
#include "lib/object/fill.h"
#include "lib/object/misfit.h"

namespace dapple::detail::daphne {

namespace {

void read_dense(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  if (part.rows.empty() || part.cols.empty()) return;
  const std::uint64_t row_step = store.state<RowStep>().row_step;
  const std::size_t size = size_of(entry.value_type);
  const std::byte* const block = store.file().at(entry.offset, entry.bytes);
  const auto cell = [&](std::uint64_t row, std::uint64_t col) {
    return block + (part.rows.begin + row) * row_step + (part.cols.begin + col) * size;
  };
  if (part.cols.size() == 1) {  // down the column in one go: frames interleave theirs
    const std::size_t done = convert_cells(entry.value_type, cell(0, 0), row_step, out.type,
                                           out.data, out.row_step, part.rows.size());
    if (done < part.rows.size()) {
      fail_misfit(store, entry, {part.rows.begin + done, part.cols.begin}, cell(done, 0), out.type);
    }
    return;
  }
  const std::uint64_t rows = part.rows.size(), cols = part.cols.size();
  const std::uint64_t done = copy_rows(out, entry.value_type, cell(0, 0), row_step, rows, cols);
  if (done < rows * cols) {
    fail_misfit(store, entry, {part.rows.begin + done / cols, part.cols.begin + done % cols},
                cell(done / cols, done % cols), out.type);
  }
}

std::optional<DensePlace> dense_in_place(const Store& store, const Entry& entry) {
  return DensePlace{store.file().at(entry.offset, entry.bytes),
                    static_cast<std::size_t>(store.state<RowStep>().row_step)};
}

/// The three arrays of a CSR matrix, row by row.
class CsrRows {
 public:
  CsrRows(const Store& store, const Entry& entry)
      : store_(store),
        arrays_(store.state<CsrArrays>()),
        entry_(entry),
        size_(size_of(entry.value_type)),
        columns_(store.file().at(arrays_.columns_at, arrays_.nnz * kIndexBytes)),
        values_(store.file().at(arrays_.values_at, arrays_.nnz * size_)) {}

  /// Where the entries of a row of the block are; their columns are inside the matrix, each once.
  Range row(std::uint64_t row) {
    const std::uint64_t absolute = entry_.pos.rx + row;
    const Range entries = arrays_.row_range(store_.file(), absolute, absolute + 1);
    bool ascending = true;
    std::uint64_t least = 0;
    for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
      const std::uint64_t col = column(i);
      if (col >= entry_.cols) {
        fail_column(i, " is outside a matrix of " + std::to_string(entry_.cols) + " columns");
      }
      ascending = ascending && col >= least;
      least = col + 1;
    }
    if (!ascending) check_unique(entries);
    return entries;
  }

  std::uint64_t column(std::uint64_t i) const noexcept {
    return load_le<std::uint64_t>(columns_ + i * kIndexBytes);
  }
  const std::byte* value(std::uint64_t i) const noexcept { return values_ + i * size_; }

 private:
  void check_unique(Range entries) {
    order_.resize(entries.size());
    for (std::uint64_t i = 0; i < entries.size(); ++i) order_[i] = entries.begin + i;
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::uint64_t a, std::uint64_t b) { return column(a) < column(b); });
    const auto twice = std::adjacent_find(
        order_.begin(), order_.end(),
        [this](std::uint64_t a, std::uint64_t b) { return column(a) == column(b); });
    if (twice != order_.end()) fail_column(twice[1], " is twice in a row");
  }

  [[noreturn]] void fail_column(std::uint64_t i, const std::string& wrong) const {
    store_.fail(Errc::corrupt, arrays_.columns_at + i * kIndexBytes,
                "column " + std::to_string(column(i)) + wrong);
  }

  const Store& store_;
  const CsrArrays& arrays_;
  const Entry& entry_;
  std::size_t size_;
  const std::byte* columns_;
  const std::byte* values_;
  std::vector<std::uint64_t> order_;
};

void read_csr(const Store& store, const Entry& entry, const Part& part, const Target& out) {
  fill_zero(out, part.rows.size(), part.cols.size());
  CsrRows rows(store, entry);
  for (std::uint64_t row = part.rows.begin; row < part.rows.end; ++row) {
    const Range entries = rows.row(row);
    for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
      const std::uint64_t col = rows.column(i);
      if (!part.cols.contains(col)) continue;
      std::byte* const cell = out.cell(row - part.rows.begin, col - part.cols.begin);
      if (convert_cells(entry.value_type, rows.value(i), 0, out.type, cell, 0, 1) == 0) {
        fail_misfit(store, entry, {row, col}, rows.value(i), out.type);
      }
    }
  }
}

void csr_entries(const Store& store, const Entry& entry, const Part& part, CellRun& take) {
  CsrRows rows(store, entry);
  for (std::uint64_t row = part.rows.begin; row < part.rows.end; ++row) {
    const Range entries = rows.row(row);
    for (std::uint64_t i = entries.begin; i < entries.end; ++i) {
      const std::uint64_t col = rows.column(i);
      if (!part.cols.contains(col)) continue;
      take({entry.pos.rx + row, col, load_bits(entry.value_type, rows.value(i))});
    }
  }
}

bool csr_arrays(const Store& store, const Entry& entry, Range wanted, RowCursor&,
                const CsrTarget& out) {
  CsrRows rows(store, entry);
  const std::size_t size = size_of(out.type);
  std::uint64_t k = 0;
  out.row_ptr[0] = 0;
  for (std::uint64_t row = wanted.begin; row < wanted.end; ++row) {
    const Range entries = rows.row(row);
    const std::uint64_t count = entries.size();
    if (count > out.room - k) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      out.col_idx[k + i] = static_cast<std::uint32_t>(rows.column(entries.begin + i));
    }
    const std::size_t done =
        convert_cells(entry.value_type, rows.value(entries.begin), size_of(entry.value_type),
                      out.type, out.values + k * size, size, count);
    if (done < count) {
      fail_misfit(store, entry, {row, out.col_idx[k + done]}, rows.value(entries.begin + done),
                  out.type);
    }
    if (!ascends(out.col_idx + k, count)) {
      sort_row(out.col_idx + k, out.type, out.values + k * size, count);
    }
    k += count;
    out.row_ptr[row - wanted.begin + 1] = k;
  }
  return true;
}

void skip_rows(const Store& store, const Entry& entry, std::uint64_t row, RowCursor& cursor) {
  const std::uint64_t first = entry.pos.rx;
  cursor.entries +=
      store.state<CsrArrays>().row_range(store.file(), first + cursor.row, first + row).size();
  cursor.row = row;
}

}  // namespace

Range CsrArrays::row_range(const MappedFile& file, std::uint64_t begin,
                           std::uint64_t end_row) const {
  const auto offset_of = [&file](std::uint64_t row) {
    return load_le<std::uint64_t>(file.at(at::csr_row_offsets + row * kIndexBytes, kIndexBytes));
  };
  const Range range{offset_of(begin), offset_of(end_row)};
  if (range.begin > range.end || range.end > nnz) {
    throw Error(Errc::corrupt, file.name(), at::csr_row_offsets + end_row * kIndexBytes,
                "a row ends at value " + std::to_string(range.end) +
                    (range.end > nnz ? " of " + std::to_string(nnz)
                                     : ", but starts at " + std::to_string(range.begin)));
  }
  return range;
}

const Codec kDenseCodec = {.format = "daphne", .read = read_dense, .in_place = dense_in_place};

const Codec kCsrCodec = {.format = "daphne",
                         .read = read_csr,
                         .entries = csr_entries,
                         .csr_arrays = csr_arrays,
                         .skip_rows = skip_rows};

}  // namespace dapple::detail::daphne
