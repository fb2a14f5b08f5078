// Columns at random: rows of the copy by column, if there is one. Otherwise each strip of tiles is
// read once for all columns that are wanted of it.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "dapple/gather.h"
#include "lib/base/parallel.h"
#include "lib/base/value_types.h"
#include "lib/rows/gather.h"
#include "lib/rows/row_stream.h"

namespace dapple::detail {

namespace {

/// Columns of dense cells that are so near each other are read together: they share cache lines.
constexpr std::uint64_t kNearColumns = 16;
/// Of at most this many neighbouring columns, a table tells which are wanted.
constexpr std::uint64_t kWidestTable = std::uint64_t{1} << 22;

template <class Col>
class ColumnGather {
 public:
  ColumnGather(const Store& store, std::span<const std::uint64_t> list, const CsrOut<Col>& out,
               const GatherOptions& options)
      : store_(store), list_(list), out_(out), options_(options), cols_(list.begin(), list.end()) {
    std::sort(cols_.begin(), cols_.end());
    cols_.erase(std::unique(cols_.begin(), cols_.end()), cols_.end());
  }

  void run() {
    const auto& grid = store_.index().grid();
    const bool dense = store_.schema().storage == Storage::dense;
    const auto strip_of = [&](std::uint64_t col) { return grid ? col / grid->tile.cols : 0; };
    Range run{0, 0};
    while (run.begin < cols_.size()) {
      const std::uint64_t first = cols_[run.begin];
      run.end = run.begin + 1;
      while (run.end < cols_.size() && strip_of(cols_[run.end]) == strip_of(first) &&
             cols_[run.end] - first < kWidestTable &&
             (!dense || cols_[run.end] - cols_[run.end - 1] <= kNearColumns)) {
        ++run.end;
      }
      stream(run);
      run.begin = run.end;
    }
    finish();
  }

 private:
  /// An entry of wanted column number `slot`.
  struct Found {
    std::uint64_t slot, row, bits;
  };

  void stream(Range slots);
  void tell(unsigned worker, double part, Range slots) const {
    if (cols_.empty()) return;
    const double done = static_cast<double>(slots.begin) + part * static_cast<double>(slots.size());
    report(options_, worker,
           static_cast<std::uint64_t>(done / static_cast<double>(cols_.size()) *
                                      static_cast<double>(list_.size())),
           list_.size());
  }
  void finish() const;

  const Store& store_;
  const std::span<const std::uint64_t> list_;
  const CsrOut<Col>& out_;
  const GatherOptions& options_;
  std::vector<std::uint64_t> cols_;  // wanted, ascending
  std::vector<Found> found_;         // those of a column in ascending order of rows
};

/// All columns between the first and the last are read, and dropped if not wanted.
template <class Col>
void ColumnGather<Col>::stream(Range slots) {
  const std::uint64_t first = cols_[slots.begin], width = cols_[slots.end - 1] + 1 - first;
  std::vector<std::uint32_t> table(width);
  std::vector<std::uint8_t> keep(width);
  for (std::uint64_t slot = slots.begin; slot < slots.end; ++slot) {
    table[cols_[slot] - first] = static_cast<std::uint32_t>(slot - slots.begin);
    keep[cols_[slot] - first] = 1;
  }
  const std::uint64_t rows = store_.schema().rows;
  const std::span<const std::uint64_t> wanted(cols_.data() + slots.begin, slots.size());
  const bool any = options_.absent == Absent::zero;
  if (!any && !store_.watched([&] { return store_.covers({0, rows}, wanted); })) {
    for (const std::uint64_t col : wanted) {
      store_.require_covered({{0, rows}, {col, col + 1}}, options_.absent);
    }
  }
  // What is absent now is between them.
  RowStream stream(store_, {{0, rows}, {first, first + width}}, out_.type, Absent::zero);
  stream.keep_only(keep);
  const std::size_t size = size_of(out_.type);
  std::vector<std::vector<Found>> memory(worker_limit(options_.threads));
  stream.for_each<std::uint32_t>(
      options_.threads, [&](BandArrays<std::uint32_t>& band, unsigned worker, Turn& turn) {
        tell(worker, static_cast<double>(band.rows.begin) / static_cast<double>(rows), slots);
        std::vector<Found>& found = memory[worker];
        found.clear();
        for (std::uint64_t row = 0; row < band.rows.size(); ++row) {
          for (std::uint64_t k = band.row_ptr[row]; k < band.row_ptr[row + 1]; ++k) {
            found.push_back({slots.begin + table[band.col_idx[k]], band.rows.begin + row,
                             load_bits(out_.type, band.values.data() + k * size)});
          }
        }
        turn.take([&] { found_.insert(found_.end(), found.begin(), found.end()); });
      });
}

/// Puts what was found where the list wants it: columns that are listed again are copied.
template <class Col>
void ColumnGather<Col>::finish() const {
  std::vector<std::uint64_t> count(cols_.size());
  for (const Found& f : found_) ++count[f.slot];
  std::vector<std::size_t> place(cols_.size(), list_.size());  // where in the list it is first
  std::vector<std::size_t> slots(list_.size());
  out_.row_ptr.reset(list_.size() + 1);
  out_.row_ptr[0] = 0;
  for (std::size_t k = 0; k < list_.size(); ++k) {
    const auto slot = static_cast<std::size_t>(
        std::lower_bound(cols_.begin(), cols_.end(), list_[k]) - cols_.begin());
    slots[k] = slot;
    place[slot] = std::min(place[slot], k);
    out_.row_ptr[k + 1] = out_.row_ptr[k] + count[slot];
  }
  const std::uint64_t entries = out_.row_ptr[list_.size()];
  const std::size_t size = size_of(out_.type);
  out_.col_idx.reset(entries);
  std::byte* const values = out_.resize_values(0, entries);
  std::vector<std::uint64_t> next(cols_.size());
  for (std::size_t slot = 0; slot < cols_.size(); ++slot) next[slot] = out_.row_ptr[place[slot]];
  for (const Found& f : found_) {
    const std::uint64_t k = next[f.slot]++;
    out_.col_idx[k] = static_cast<Col>(f.row);
    store_bits(out_.type, values + k * size, f.bits);
  }
  for (std::size_t k = 0; k < list_.size(); ++k) {
    if (place[slots[k]] == k) continue;
    const std::uint64_t from = out_.row_ptr[place[slots[k]]], n = count[slots[k]];
    std::copy_n(out_.col_idx.data() + from, n, out_.col_idx.data() + out_.row_ptr[k]);
    std::copy_n(values + from * size, n * size, values + out_.row_ptr[k] * size);
  }
}

}  // namespace

template <class Col>
bool collect_from_copy(const Store& store, const Region& region, const ReadOptions& options,
                       const CsrOut<Col>& out) {
  if (options.absent == Absent::nan) return false;  // an error
  std::vector<std::uint64_t> list(region.cols.size());
  std::iota(list.begin(), list.end(), region.cols.begin);
  // Columns as the copy has them.
  Array<std::uint64_t> col_ptr, rows;
  Array<std::byte> values;
  const std::size_t size = size_of(out.type);
  const CsrOut<std::uint64_t> columns{col_ptr, rows, out.type,
                                      [&](std::size_t kept, std::size_t n) {
                                        Array<std::byte> larger(n * size);
                                        std::copy_n(values.data(), kept * size, larger.data());
                                        values.swap(larger);
                                        return values.data();
                                      }};
  if (!store.try_by_column([&](const Store& copy) {
        gather_csr_to(copy, list, region.rows, columns, {.threads = options.threads});
      })) {
    return false;
  }
  const std::uint64_t n = region.rows.size(), entries = rows.size();
  out.row_ptr.reset(n + 1);
  std::uint64_t* const row_ptr = out.row_ptr.data();
  std::fill_n(row_ptr, n + 1, 0);
  for (const std::uint64_t row : rows) ++row_ptr[row + 1];
  for (std::uint64_t row = 0; row < n; ++row) row_ptr[row + 1] += row_ptr[row];
  out.col_idx.reset(entries);
  std::byte* const to = out.resize_values(0, entries);
  // A row is filled from its end, as row_ptr[row + 1] goes down to where it begins.
  for (std::uint64_t col = list.size(); col-- > 0;) {
    for (std::uint64_t k = col_ptr[col]; k < col_ptr[col + 1]; ++k) {
      const std::uint64_t at = --row_ptr[rows[k] + 1];
      out.col_idx[at] = static_cast<Col>(col);
      std::memcpy(to + at * size, values.data() + k * size, size);
    }
  }
  // Now row_ptr[row + 1] is where the row begins.
  std::copy(row_ptr + 1, row_ptr + n + 1, row_ptr);
  row_ptr[n] = entries;
  return true;
}

template bool collect_from_copy(const Store&, const Region&, const ReadOptions&,
                                const CsrOut<std::uint32_t>&);
template bool collect_from_copy(const Store&, const Region&, const ReadOptions&,
                                const CsrOut<std::uint64_t>&);

}  // namespace dapple::detail

namespace dapple {

template <Value T, class Col>
void gather_columns(const BlockedObject& object, std::span<const std::uint64_t> cols,
                    Csr<T, Col>& out, const GatherOptions& options) {
  const detail::Store& store = object.store();
  detail::require_narrow<Col>(store, store.schema().rows);
  for (std::size_t k = 0; k < cols.size(); ++k) {
    if (cols[k] >= store.schema().cols) {
      detail::fail_outside(store, "column", cols[k], k, store.schema().cols);
    }
  }
  detail::require_apart(store, cols, out);
  const auto arrays = detail::csr_out(out);
  if (store.try_by_column([&](const detail::Store& copy) {
        detail::gather_csr_to(copy, cols, {0, copy.schema().cols}, arrays, options);
      })) {
    return;
  }
  detail::ColumnGather<Col>(store, cols, arrays, options).run();
}

#define DAPPLE_INSTANTIATE(T)                                                        \
  template void gather_columns(const BlockedObject&, std::span<const std::uint64_t>, \
                               Csr<T, std::uint32_t>&, const GatherOptions&);        \
  template void gather_columns(const BlockedObject&, std::span<const std::uint64_t>, \
                               Csr<T, std::uint64_t>&, const GatherOptions&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
