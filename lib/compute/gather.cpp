#include "dapple/gather.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/gather_parts.h"
#include "lib/compute/row_sweep.h"
#include "lib/object/fill.h"

namespace dapple::detail {

void fail_outside(const Store& store, const char* what, std::uint64_t number, std::size_t at,
                  std::uint64_t limit) {
  throw Error(Errc::out_of_range, store.file().name(), std::nullopt,
              std::string(what) + " " + std::to_string(number) + ", number " + std::to_string(at) +
                  " of the list, is outside the " + std::to_string(limit) + " " + what + "s");
}

void require_rows(const Store& store, std::span<const std::uint64_t> rows) {
  const std::uint64_t limit = store.schema().rows;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k] >= limit) fail_outside(store, "row", rows[k], k, limit);
  }
}

Range require_columns(const Store& store, const GatherOptions& options) {
  const Range cols = options.cols.value_or(Range{0, store.schema().cols});
  store.require_inside({{0, 0}, cols});
  return cols;
}

void require_apart(const Store& store, const void* list, std::size_t list_bytes, const void* out,
                   std::size_t out_bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(list), b = reinterpret_cast<std::uintptr_t>(out);
  if (list_bytes == 0 || out_bytes == 0 || (a < b ? b - a >= list_bytes : a - b >= out_bytes)) {
    return;
  }
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
              "the output overlaps the list of what to gather");
}

void copy_dense(const Store& store, const FoundRow& row, const Target& out) {
  const BlockRows& block = *row.block;
  const std::size_t size = size_of(out.type);
  if (block.data != nullptr && block.entry.value_type == out.type &&
      holds_all(store.schema().value_type, out.type)) {
    std::memcpy(out.data, block.data + row.row * block.row_step + row.cols.begin * size,
                row.cols.size() * size);
  } else {
    store.driver().read(store, block.entry, {{row.row, row.row + 1}, row.cols}, out);
  }
}

namespace {

void require_room(const Store& store, std::size_t size, std::uint64_t needed) {
  if (size >= needed) return;
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
              "the output has room for " + counted(size, "value") + ", " + std::to_string(needed) +
                  " are needed");
}

/// Calls f(chunk, first, worker) for pieces of the list that `find` is called with; false, and some
/// may be done, when one of them cannot be found.
template <class T, class F>
bool for_each_chunk(std::span<const T> list, std::uint64_t at_once, const GatherOptions& options,
                    const F& f) {
  const std::uint64_t chunks = list.size() / at_once + (list.size() % at_once != 0 ? 1 : 0);
  std::atomic<bool> all{true};
  parallel_for(chunks, options.threads, [&](std::uint64_t i, unsigned worker) {
    if (!all.load(std::memory_order_relaxed)) return;
    const std::size_t first = i * at_once;
    report(options, worker, first, list.size());
    if (!f(list.subspan(first, std::min<std::size_t>(at_once, list.size() - first)), first,
           worker)) {
      all = false;
    }
  });
  return all;
}

template <class Col>
void scatter(ValueType type, const Col* cols, const std::byte* values, std::uint64_t count,
             std::byte* out) {
  visit_bits(type, [&](auto tag) {
    using Bits = decltype(tag);
    for (std::uint64_t k = 0; k < count; ++k) {
      store_le(out + cols[k] * sizeof(Bits), load_le<Bits>(values + k * sizeof(Bits)));
    }
  });
}

/// Puts the wanted cells of a row of one tile to `out`.
void put_cells(const Store& store, const RowFinder& finder, const FoundRow& row, const Target& out,
               RowScratch& scratch) {
  const Entry& entry = row.block->entry;
  if (entry.kind == BlockKind::dense) return copy_dense(store, row, out);
  std::memset(out.data, 0, row.cols.size() * size_of(out.type));
  if (entry.kind == BlockKind::empty || row.entries == 0) return;
  const CsrTarget target = scratch.target(row, out.type);
  const std::uint64_t count = finder.decode(row, target);
  scatter(out.type, target.col_idx, target.values, count, out.data);
}

/// What one worker needs.
struct WorkerScratch {
  RowScratch found;
  Array<std::uint64_t> cols;  // of a row that was found directly
  Array<std::byte> values;
};

/// Puts the cells of a row that was found directly in a CSR block to `out`; false when its entries
/// need a closer look.
bool put_direct_csr(const RowFinder& finder, const DirectRow& part, ValueType type, Range cols,
                    std::byte* out, WorkerScratch& scratch) {
  if (load_le<std::uint32_t>(part.at) != part.entries) return false;
  scratch.cols.reset(part.entries);
  scratch.values.reset(part.entries * size_of(type));
  const auto decode = finder.decoder(part.block->value_type);
  if (!decode(part.at + 4, part.entries, part.block->cols, 0, scratch.cols.data(),
              scratch.values.data())) {
    return false;
  }
  std::memset(out, 0, cols.size() * size_of(type));
  scatter(type, scratch.cols.data(), scratch.values.data(), part.entries, out);
  return true;
}

/// The same of a dense block.
bool put_direct_dense(const DirectRow& part, ValueType type, std::uint64_t count, std::byte* out) {
  const ValueType stored = part.block->value_type;
  const std::size_t size = size_of(type);
  if (stored != type) {
    return convert_cells(stored, part.at, size_of(stored), type, out, size, count) == count;
  }
  std::memcpy(out, part.at, count * size);
  return true;
}

/// Puts the wanted cells of rows that were found directly to `out`, from row `first` on.
void put_direct_rows(const Store& store, const RowFinder& finder,
                     std::span<const std::uint64_t> rows, const Target& out, std::size_t first,
                     WorkerScratch& scratch) {
  const std::size_t tiles = finder.tiles_per_row(), size = size_of(out.type);
  const DirectRow* part = finder.direct().data();
  AskAhead ahead(finder);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t j = 0; j < tiles; ++j, ++part) {
      ahead.use(r * tiles + j);
      const Range cols = finder.cols(j);
      std::byte* const cells = out.cell(first + r, finder.at(j));
      bool done = true;
      if (part->at == nullptr) {
        std::memset(cells, 0, cols.size() * size);
      } else if (part->block->by_row) {
        done = put_direct_csr(finder, *part, out.type, cols, cells, scratch);
      } else {
        done = put_direct_dense(*part, out.type, cols.size(), cells);
      }
      if (done) continue;
      put_cells(store, finder, finder.as_found(*part, rows[r], j), {cells, out.type, 0, size},
                scratch.found);
    }
  }
}

bool gather_tiled_rows(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                       const Target& out, const GatherOptions& options) {
  if (!RowFinder::possible(store)) return false;
  std::vector<RowFinder> finders;
  for (unsigned i = 0; i < worker_limit(options.threads); ++i) {
    finders.emplace_back(store, cols, out.type);
  }
  std::vector<WorkerScratch> scratch(finders.size());
  const auto gather = [&](std::span<const std::uint64_t> chunk, std::size_t first,
                          unsigned worker) {
    RowFinder& finder = finders[worker];
    return store.watched([&] {
      const RowFinder::Hold hold(finder);
      if (finder.find_direct(chunk, RowFinder::Dense::yes)) {
        put_direct_rows(store, finder, chunk, out, first, scratch[worker]);
        return true;
      }
      if (!finder.find(chunk)) return false;
      const auto found = finder.found();
      for (std::size_t i = 0; i < std::min(kPartsAhead, found.size()); ++i)
        finder.prefetch(found[i]);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (i + kPartsAhead < found.size()) finder.prefetch(found[i + kPartsAhead]);
        Target cell = out;
        cell.data = out.cell(first + i / finder.tiles_per_row(), found[i].at);
        put_cells(store, finder, found[i], cell, scratch[worker].found);
      }
      return true;
    });
  };
  return for_each_chunk(rows, rows_at_once(finders[0].tiles_per_row(), cols.size()), options,
                        gather);
}

void gather_any_rows(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                     const Target& out, const GatherOptions& options) {
  const std::size_t size = size_of(out.type);
  const bool as_nan = options.absent == Absent::nan;
  RowSweep sweep(store, cols, out.type, as_nan ? Absent::zero : options.absent);
  std::optional<std::uint64_t> last;
  std::uint64_t done = 0;
  for (const std::size_t at : ascending(rows, std::less<>())) {
    report(options, 0, done++, rows.size());
    if (last != rows[at]) sweep.move_to(rows[at]);
    last = rows[at];
    std::byte* const row = out.cell(at, 0);
    std::memset(row, 0, cols.size() * size);
    if (as_nan) {
      for (const Range& gap : sweep.gaps()) {
        std::byte* const to = row + (gap.begin - cols.begin) * size;
        store.read({{rows[at], rows[at] + 1}, gap}, {to, out.type, 0, size}, {Absent::nan, 1});
      }
    }
    for (std::uint64_t k = 0; k < sweep.size(); ++k) {
      std::memcpy(row + sweep.cols()[k] * size, sweep.values() + k * size, size);
    }
  }
}

/// Puts one value to `out`; false when it does not fit.
bool put_value(ValueType stored, const std::byte* value, ValueType type, std::byte* out) {
  std::uint64_t bits = load_bits(stored, value);
  if (stored != type && !convert_cell(stored, bits, type, bits)) return false;
  store_bits(type, out, bits);
  return true;
}

/// Puts the cell in column `col` of a row that was found directly in a CSR block to `out`; false
/// when its entries need a closer look.
bool put_direct_entry(const DirectRow& part, std::uint32_t col, ValueType type, std::byte* out) {
  const ValueType stored = part.block->value_type;
  const std::size_t stride = 4 + size_of(stored);
  if (load_le<std::uint32_t>(part.at) != part.entries) return false;
  const std::byte *entry = part.at + 4, *hit = nullptr;
  std::int64_t last = -1, rising = -1;  // negative while columns ascend
  for (std::uint32_t k = 0; k < part.entries; ++k, entry += stride) {
    const auto here = load_le<std::uint32_t>(entry);
    rising &= last - std::int64_t{here};
    last = here;
    if (here == col) hit = entry + 4;
  }
  if (rising >= 0 || last >= std::int64_t{part.block->cols}) return false;
  if (hit != nullptr) return put_value(stored, hit, type, out);
  std::memset(out, 0, size_of(type));
  return true;
}

/// Puts cells that were found directly to `out`.
void put_direct_cells(const Store& store, const RowFinder& finder, std::span<const CellPos> cells,
                      ValueType type, std::byte* out, RowScratch& scratch) {
  const std::size_t size = size_of(type);
  const DirectRow* part = finder.direct().data();
  for (const CellPos& cell : cells) {
    bool done = true;
    if (part->at == nullptr) {
      std::memset(out, 0, size);
    } else if (part->block->by_row) {
      done = put_direct_entry(*part, finder.col_in_tile(cell), type, out);
    } else {
      done = put_value(part->block->value_type, part->at, type, out);
    }
    if (!done) {
      put_cells(store, finder, finder.as_found(*part, cell), {out, type, size, size}, scratch);
    }
    out += size;
    ++part;
  }
}

bool gather_tiled_cells(const Store& store, std::span<const CellPos> cells, std::byte* out,
                        ValueType type, const GatherOptions& options) {
  if (!RowFinder::possible(store)) return false;
  const std::size_t size = size_of(type);
  std::vector<RowFinder> finders;
  for (unsigned i = 0; i < worker_limit(options.threads); ++i)
    finders.emplace_back(store, Range{0, 0}, type);
  std::vector<RowScratch> scratch(finders.size());
  const auto gather = [&](std::span<const CellPos> chunk, std::size_t first, unsigned worker) {
    RowFinder& finder = finders[worker];
    return store.watched([&] {
      const RowFinder::Hold hold(finder);
      if (finder.find_direct(chunk)) {
        put_direct_cells(store, finder, chunk, type, out + first * size, scratch[worker]);
        return true;
      }
      if (!finder.find(chunk)) return false;
      const auto found = finder.found();
      for (const FoundRow& cell : found) finder.prefetch(cell);
      for (std::size_t k = 0; k < found.size(); ++k) {
        put_cells(store, finder, found[k], {out + (first + k) * size, type, size, size},
                  scratch[worker]);
      }
      return true;
    });
  };
  return for_each_chunk(cells, kPartsAtOnce, options, gather);
}

void gather_any_cells(const Store& store, std::span<const CellPos> cells, std::byte* out,
                      ValueType type, const GatherOptions& options) {
  const auto before = [](const CellPos& a, const CellPos& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  };
  const std::size_t size = size_of(type);
  std::uint64_t done = 0;
  for (const std::size_t at : ascending(cells, before)) {
    report(options, 0, done++, cells.size());
    const CellPos& cell = cells[at];
    store.read({{cell.row, cell.row + 1}, {cell.col, cell.col + 1}},
               {out + at * size, type, size, size}, {options.absent, 1});
  }
}

}  // namespace

void gather_rows_to(const BlockedObject& object, std::span<const std::uint64_t> rows, void* out,
                    std::size_t size, std::size_t row_stride, ValueType type,
                    const GatherOptions& options) {
  const Store& store = object.store();
  const Range cols = require_columns(store, options);
  require_rows(store, rows);
  const std::uint64_t stride = row_stride != 0 ? row_stride : cols.size();
  if (stride < cols.size()) {
    throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
                "rows of " + counted(cols.size(), "value") + " overlap when they are " +
                    counted(stride, "value") + " apart");
  }
  if (rows.empty() || cols.empty()) return;
  std::uint64_t needed = 0;
  if (!multiply(rows.size() - 1, stride, needed) || needed > ~cols.size()) needed = ~cols.size();
  require_room(store, size, needed + cols.size());
  const std::size_t value = size_of(type);
  require_apart(store, rows.data(), rows.size_bytes(), out, size * value);
  const Target target{static_cast<std::byte*>(out), type, stride * value, value};
  if (!gather_tiled_rows(store, rows, cols, target, options)) {
    gather_any_rows(store, rows, cols, target, options);
  }
}

void gather_cells_to(const BlockedObject& object, std::span<const CellPos> cells, void* out,
                     std::size_t size, ValueType type, const GatherOptions& options) {
  const Store& store = object.store();
  const Schema& schema = store.schema();
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (cells[k].row >= schema.rows) fail_outside(store, "row", cells[k].row, k, schema.rows);
    if (cells[k].col >= schema.cols) fail_outside(store, "column", cells[k].col, k, schema.cols);
  }
  require_room(store, size, cells.size());
  require_apart(store, cells.data(), cells.size_bytes(), out, cells.size() * size_of(type));
  const auto to = static_cast<std::byte*>(out);
  if (!gather_tiled_cells(store, cells, to, type, options)) {
    gather_any_cells(store, cells, to, type, options);
  }
}

}  // namespace dapple::detail
