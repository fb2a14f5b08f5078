// Columns at random: rows of the copy by column, if there is one. Otherwise each strip of tiles is
// read once for all columns that are wanted of it.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "dapple/gather.h"
#include "lib/base/parallel.h"
#include "lib/base/value_types.h"
#include "lib/compute/few_columns.h"
#include "lib/compute/gather_parts.h"
#include "lib/compute/row_stream.h"

namespace dapple::detail {

namespace {

/// Columns of dense cells that are so near each other are read together: they share cache lines.
constexpr std::uint64_t kNearColumns = 16;
/// Strips up to this width have a table of their wanted columns.
constexpr std::uint64_t kWidestTable = std::uint64_t{1} << 22;

class ColumnGather {
 public:
  ColumnGather(const Store& store, std::span<const std::uint64_t> list,
               const CsrOut<std::uint64_t>& out, const GatherOptions& options)
      : store_(store), list_(list), out_(out), options_(options), cols_(list.begin(), list.end()) {
    std::sort(cols_.begin(), cols_.end());
    cols_.erase(std::unique(cols_.begin(), cols_.end()), cols_.end());
  }

  void run() {
    const auto& grid = store_.index().grid();
    for_each_run(
        [&](std::uint64_t last, std::uint64_t next) {
          return !grid || last / grid->tile.cols == next / grid->tile.cols;
        },
        {0, cols_.size()},
        [&](Range strip) {
          if (pick_from_tiles(strip)) return;
          const bool dense = store_.schema().storage == Storage::dense;
          for_each_run([&](std::uint64_t last,
                           std::uint64_t next) { return !dense || next - last <= kNearColumns; },
                       strip, [&](Range run) { stream(run); });
        });
    finish();
  }

 private:
  /// An entry of wanted column number `slot`.
  struct Found {
    std::uint64_t slot, row, bits;
  };

  /// Calls f(run) for runs of the wanted columns with these numbers, each as long as
  /// together(last, next) holds for its last column and the one after it.
  template <class Together, class F>
  void for_each_run(const Together& together, Range slots, const F& f) const {
    while (!slots.empty()) {
      Range run{slots.begin, slots.begin + 1};
      while (run.end < slots.end && together(cols_[run.end - 1], cols_[run.end])) {
        ++run.end;
      }
      f(run);
      slots.begin = run.end;
    }
  }
  bool pick_from_tiles(Range slots);
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
  const CsrOut<std::uint64_t>& out_;
  const GatherOptions& options_;
  std::vector<std::uint64_t> cols_;  // wanted, ascending
  std::vector<Found> found_;         // those of a column in ascending order of rows
};

/// Columns of one strip of CSR tiles, in place. False, and nothing was found, for anything else.
bool ColumnGather::pick_from_tiles(Range slots) {
  const std::uint64_t first = cols_[slots.begin], width = cols_[slots.end - 1] - first + 1;
  if (!possible_to_pick(store_) || width > kWidestTable || store_.schema().rows == 0) return false;
  std::vector<std::uint32_t> table(width, kNoSlot);
  for (std::uint64_t slot = slots.begin; slot < slots.end; ++slot) {
    table[cols_[slot] - first] = static_cast<std::uint32_t>(slot - slots.begin);
  }
  const Grid& grid = *store_.index().grid();
  const std::uint64_t strip = first / grid.tile.cols;
  const auto left = static_cast<std::uint32_t>(first - strip * grid.tile.cols);
  const auto slot_of = [&](std::uint32_t col) {
    return col - left < width ? table[col - left] : kNoSlot;
  };
  const std::size_t before = found_.size();
  std::vector<std::vector<Pick>> memory(worker_limit(options_.threads));
  try {
    parallel_in_order(
        grid.rows, options_.threads, [&](std::uint64_t i, unsigned worker, Turn& turn) {
          tell(worker, static_cast<double>(i) / static_cast<double>(grid.rows), slots);
          store_.watched([&] {
            const Entry tile = store_.confirmed_entry(i * grid.cols + strip);
            std::vector<Pick>& picks = memory[worker];
            HeldBytes held;
            pick_from(store_, tile, {0, tile.rows}, slot_of, picks, held);
            turn.take([&] {
              for (const Pick& p : picks) {
                std::uint64_t bits = load_bits(tile.value_type, p.value);
                if (!convert_cell(tile.value_type, bits, out_.type, bits)) throw NeedsCloserLook();
                found_.push_back({slots.begin + p.slot, tile.pos.rx + p.row, bits});
              }
            });
          });
        });
  } catch (const NeedsCloserLook&) {
    found_.resize(before);
    return false;
  }
  return true;
}

/// Columns of any object: all between the first and the last are read, and dropped if not wanted.
void ColumnGather::stream(Range slots) {
  struct Arrays {
    Array<std::uint64_t> row_ptr, cols;
    Array<std::byte> values;
  };
  const std::uint64_t first = cols_[slots.begin], rows = store_.schema().rows;
  RowStream stream(store_, {{0, rows}, {first, cols_[slots.end - 1] + 1}}, out_.type,
                   options_.absent);
  std::vector<Arrays> memory(worker_limit(options_.threads));
  const std::size_t size = size_of(out_.type);
  stream.for_each(options_.threads, [&](const RowBand& band, unsigned worker, Turn& turn) {
    tell(worker, static_cast<double>(band.rows().begin) / static_cast<double>(rows), slots);
    Arrays& arrays = memory[worker];
    arrays.row_ptr.reset(band.rows().size() + 1);
    arrays.row_ptr[0] = 0;
    arrays.cols.reset(band.entries());
    arrays.values.reset(band.entries() * size);
    band.place(0, arrays.row_ptr.data(), arrays.cols.data(), arrays.values.data());
    turn.take([&] {
      const auto end = cols_.begin() + static_cast<std::ptrdiff_t>(slots.end);
      for (std::uint64_t row = 0; row < band.rows().size(); ++row) {
        auto col = cols_.begin() + static_cast<std::ptrdiff_t>(slots.begin);
        for (std::uint64_t k = arrays.row_ptr[row]; k < arrays.row_ptr[row + 1]; ++k) {
          col = std::lower_bound(col, end, first + arrays.cols[k]);
          if (col == end) break;
          if (*col != first + arrays.cols[k]) continue;
          found_.push_back({static_cast<std::uint64_t>(col - cols_.begin()),
                            band.rows().begin + row,
                            load_bits(out_.type, arrays.values.data() + k * size)});
        }
      }
    });
  });
}

/// Puts what was found where the list wants it: columns that are listed again are copied.
void ColumnGather::finish() const {
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
    out_.col_idx[k] = f.row;
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

bool collect_from_copy(const Store& store, const Region& region, const ReadOptions& options,
                       const CsrOut<std::uint64_t>& out) {
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
      out.col_idx[at] = col;
      std::memcpy(to + at * size, values.data() + k * size, size);
    }
  }
  // Now row_ptr[row + 1] is where the row begins.
  std::copy(row_ptr + 1, row_ptr + n + 1, row_ptr);
  row_ptr[n] = entries;
  return true;
}

}  // namespace dapple::detail

namespace dapple {

template <Value T>
void gather_columns(const BlockedObject& object, std::span<const std::uint64_t> cols, Csr<T>& out,
                    const GatherOptions& options) {
  const detail::Store& store = object.store();
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
  detail::ColumnGather(store, cols, arrays, options).run();
}

#define DAPPLE_INSTANTIATE(T)                                                                 \
  template void gather_columns(const BlockedObject&, std::span<const std::uint64_t>, Csr<T>&, \
                               const GatherOptions&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
