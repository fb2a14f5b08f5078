#include "dapple/gather.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/csr.h"
#include "lib/compute/row_finder.h"
#include "lib/compute/row_sweep.h"
#include "lib/object/fill.h"

namespace dapple::detail {

namespace {

/// Tiles' rows, and cells, that are found together. Enough for all the misses that a core can have
/// under way, few enough to be in its nearest cache when they are used.
constexpr std::uint64_t kRowsAtOnce = 64;
constexpr std::uint64_t kCellsAtOnce = 256;
/// So many of them ahead of their use, bytes are asked for.
constexpr std::size_t kAhead = 6;
/// Likewise, of parts of rows that are decoded straight to where they are wanted.
constexpr std::uint64_t kPartsAtOnce = 512;
constexpr std::size_t kBytesAhead = 8192;

[[noreturn]] void fail_outside(const Store& store, const char* what, std::uint64_t number,
                               std::size_t at, std::uint64_t limit) {
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

void require_room(const Store& store, std::size_t size, std::uint64_t needed) {
  if (size >= needed) return;
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt,
              "the output has room for " + std::to_string(size) + " values, " +
                  std::to_string(needed) + " are needed");
}

/// Positions of a list in ascending order of what stands there.
template <class T, class Before>
std::vector<std::size_t> ascending(std::span<const T> list, const Before& before) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return before(list[a], list[b]); });
  return order;
}

/// Calls f(chunk, first, worker) for pieces of the list that `find` is called with; false, and some
/// may be done, when one of them cannot be found.
template <class T, class F>
bool for_each_chunk(std::span<const T> list, std::uint64_t at_once, unsigned threads, const F& f) {
  const std::uint64_t chunks = list.size() / at_once + (list.size() % at_once != 0 ? 1 : 0);
  std::atomic<bool> all{true};
  parallel_for(chunks, threads, [&](std::uint64_t i, unsigned worker) {
    if (!all.load(std::memory_order_relaxed)) return;
    const std::size_t first = i * at_once;
    if (!f(list.subspan(first, std::min<std::size_t>(at_once, list.size() - first)), first,
           worker)) {
      all = false;
    }
  });
  return all;
}

std::uint64_t rows_at_once(const RowFinder& finder) {
  return std::max<std::uint64_t>(1,
                                 kRowsAtOnce / std::max<std::uint64_t>(1, finder.tiles_per_row()));
}

/// Room for the entries of a row of one tile.
struct Scratch {
  RowArrays arrays;

  CsrTarget target(const FoundRow& row, ValueType type) {
    const bool dense = row.block->entry.kind == BlockKind::dense;
    return arrays.target(1, dense ? row.cols.size() : row.entries, type);
  }
};

/// Copies the cells of a row of a dense tile.
void copy_dense(const Store& store, const FoundRow& row, const Target& out) {
  const BlockRows& block = *row.block;
  const std::size_t size = size_of(out.type);
  if (block.data != nullptr && block.entry.value_type == out.type &&
      holds_all(store.schema().value_type, out.type)) {
    std::memcpy(out.data, block.data + row.row * block.row_step + row.cols.begin * size,
                row.cols.size() * size);
  } else {
    store.codec().read(store, block.entry, {{row.row, row.row + 1}, row.cols}, out);
  }
}

void scatter(ValueType type, const std::uint32_t* cols, const std::byte* values,
             std::uint64_t count, std::byte* out) {
  visit_bits(type, [&](auto tag) {
    using Bits = decltype(tag);
    for (std::uint64_t k = 0; k < count; ++k) {
      store_le(out + cols[k] * sizeof(Bits), load_le<Bits>(values + k * sizeof(Bits)));
    }
  });
}

/// Puts the wanted cells of a row of one tile to `out`.
void put_cells(const Store& store, const RowFinder& finder, const FoundRow& row, const Target& out,
               Scratch& scratch) {
  const Entry& entry = row.block->entry;
  if (entry.kind == BlockKind::dense) return copy_dense(store, row, out);
  std::memset(out.data, 0, row.cols.size() * size_of(out.type));
  if (entry.kind == BlockKind::empty || row.entries == 0) return;
  const CsrTarget target = scratch.target(row, out.type);
  const std::uint64_t count = finder.decode(row, target);
  scatter(out.type, target.col_idx, target.values, count, out.data);
}

bool gather_tiled_rows(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                       const Target& out, unsigned threads) {
  if (!RowFinder::possible(store)) return false;
  std::vector<RowFinder> finders;
  for (unsigned i = 0; i < worker_limit(threads); ++i) finders.emplace_back(store, cols, out.type);
  std::vector<Scratch> scratch(finders.size());
  const auto gather = [&](std::span<const std::uint64_t> chunk, std::size_t first,
                          unsigned worker) {
    RowFinder& finder = finders[worker];
    return store.watched([&] {
      const RowFinder::Hold hold(finder);
      if (!finder.find(chunk)) return false;
      const auto found = finder.found();
      for (std::size_t i = 0; i < std::min(kAhead, found.size()); ++i) finder.prefetch(found[i]);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (i + kAhead < found.size()) finder.prefetch(found[i + kAhead]);
        Target cell = out;
        cell.data = out.cell(first + i / finder.tiles_per_row(), found[i].at);
        put_cells(store, finder, found[i], cell, scratch[worker]);
      }
      return true;
    });
  };
  return for_each_chunk(rows, rows_at_once(finders[0]), threads, gather);
}

/// The rows of a chunk of the list, one after the other.
struct ChunkRows {
  Scratch scratch;
  std::vector<std::uint64_t> row_ptr;
  Array<std::uint64_t> cols;
  Array<std::byte> values;

  /// Decodes what was found of `count` rows.
  void decode(const Store& store, const RowFinder& finder, std::size_t count, ValueType type);
  /// The same of rows that were found directly.
  void decode_direct(const RowFinder& finder, std::span<const std::uint64_t> rows,
                     std::uint64_t entries, ValueType type);

 private:
  void add_row(const Store& store, const RowFinder& finder, std::span<const FoundRow> row,
               ValueType type);
};

void ChunkRows::decode(const Store& store, const RowFinder& finder, std::size_t count,
                       ValueType type) {
  const auto found = finder.found();
  std::uint64_t room = 0;
  for (const FoundRow& f : found) {
    room += f.block->entry.kind == BlockKind::dense ? f.cols.size() : f.entries;
  }
  cols.reset(room);
  values.reset(room * size_of(type));
  row_ptr.assign(1, 0);
  const std::size_t tiles = finder.tiles_per_row();
  std::size_t asked = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t ahead = std::min((r + 1) * tiles + kAhead, found.size());
    for (; asked < ahead; ++asked) finder.prefetch(found[asked]);
    add_row(store, finder, found.subspan(r * tiles, tiles), type);
  }
}

void ChunkRows::add_row(const Store& store, const RowFinder& finder, std::span<const FoundRow> row,
                        ValueType type) {
  std::uint64_t k = row_ptr.back();
  const std::size_t size = size_of(type);
  for (const FoundRow& part : row) {
    const Entry& entry = part.block->entry;
    if (entry.kind == BlockKind::empty || (part.block->by_row && part.entries == 0)) continue;
    CsrTarget target = scratch.target(part, type);
    std::uint64_t count = 0;
    target.values = values.data() + k * size;
    if (part.block->by_row) {
      count = finder.decode(part, target);
    } else {
      const auto width = static_cast<std::uint32_t>(part.cols.size());
      std::byte* const cells = scratch.arrays.values.data();
      copy_dense(store, part, {cells, type, width * size, size});
      count = append_row(cells, width, target, 0);
    }
    for (std::uint64_t i = 0; i < count; ++i) cols[k + i] = part.at + target.col_idx[i];
    k += count;
  }
  row_ptr.push_back(k);
}

/// A value that a block stores is positive zero, so a row has fewer entries than were counted.
struct FoundZero {};

/// Decodes rows that were found directly to their places in three arrays.
void put_direct(const RowFinder& finder, std::span<const std::uint64_t> rows,
                std::uint64_t* row_ptr, std::uint64_t* cols, std::byte* values, ValueType type,
                Scratch& scratch) {
  const std::size_t tiles = finder.tiles_per_row(), size = size_of(type);
  const std::span<const DirectRow> parts = finder.direct();
  std::size_t asked = 0, ahead = 0;  // parts that were asked for, and their bytes not yet used
  const auto bytes_of = [](const DirectRow& part) {
    return 4 + part.entries * (4 + size_of(part.block->value_type));
  };
  std::uint64_t k = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (; asked < parts.size() && ahead < kBytesAhead; ++asked) {
      finder.prefetch(parts[asked]);
      ahead += bytes_of(parts[asked]);
    }
    const DirectRow& part = parts[i];
    ahead -= bytes_of(part);
    if (part.entries > 0) {
      const std::size_t row = i / tiles, j = i % tiles;
      const auto decode = finder.decoder(part.block->value_type);
      if (load_le<std::uint32_t>(part.at) != part.entries ||
          !decode(part.at + 4, part.entries, part.block->cols, finder.at(j), cols + k,
                  values + k * size)) {
        const FoundRow found = finder.as_found(part, rows[row], j);
        const CsrTarget target = scratch.target(found, type);
        if (finder.decode(found, target) < part.entries) throw FoundZero();
        for (std::uint32_t e = 0; e < part.entries; ++e) {
          cols[k + e] = found.at + target.col_idx[e];
        }
        std::copy_n(target.values, part.entries * size, values + k * size);
      }
      k += part.entries;
    }
    row_ptr[i / tiles + 1] = k;
  }
}

void ChunkRows::decode_direct(const RowFinder& finder, std::span<const std::uint64_t> rows,
                              std::uint64_t entries, ValueType type) {
  cols.reset(entries);
  values.reset(entries * size_of(type));
  row_ptr.assign(rows.size() + 1, 0);
  put_direct(finder, rows, row_ptr.data(), cols.data(), values.data(), type, scratch);
}

enum class Direct : bool { no, yes };

bool gather_tiled_csr(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                      const CsrOut<std::uint64_t>& out, unsigned threads,
                      Direct direct = Direct::yes) {
  if (!RowFinder::possible(store)) return false;
  struct CannotFind {};
  std::vector<RowFinder> finders;
  for (unsigned i = 0; i < worker_limit(threads); ++i) finders.emplace_back(store, cols, out.type);
  std::vector<ChunkRows> memory(finders.size());
  const std::uint64_t at_once = std::max<std::uint64_t>(
      1, kPartsAtOnce / std::max<std::uint64_t>(1, finders[0].tiles_per_row()));
  const std::uint64_t chunks = rows.size() / at_once + (rows.size() % at_once != 0 ? 1 : 0);
  CsrCollector<std::uint64_t> collector(rows.size(), out.col_idx.capacity(), out);
  const bool alone = finders.size() == 1 || chunks == 1;
  const auto put = [&](Turn& turn, Range places, const ChunkRows& band) {
    const std::uint64_t entries = band.row_ptr.back();
    collector.add(
        turn, places, entries,
        [&](std::uint64_t base, std::uint64_t* row_ptr, std::uint64_t* col_idx, std::byte* values) {
          for (std::size_t r = 1; r < band.row_ptr.size(); ++r) row_ptr[r] = base + band.row_ptr[r];
          std::copy_n(band.cols.data(), entries, col_idx);
          std::copy_n(band.values.data(), entries * size_of(out.type), values);
        });
  };
  const auto gather = [&](std::uint64_t i, unsigned worker, Turn& turn) {
    const std::size_t first = i * at_once;
    const auto chunk = rows.subspan(first, std::min<std::size_t>(at_once, rows.size() - first));
    const Range places{first, first + chunk.size()};
    RowFinder& finder = finders[worker];
    ChunkRows& band = memory[worker];
    std::optional<RowFinder::Hold> hold(std::in_place, finder);
    if (direct == Direct::yes && finder.find_direct(chunk)) {
      std::uint64_t entries = 0;
      for (const DirectRow& part : finder.direct()) entries += part.entries;
      if (!alone) {
        // Who waits for its turn must hold nothing: the one before it may wait for that.
        store.watched([&] { band.decode_direct(finder, chunk, entries, out.type); });
        hold.reset();
        return put(turn, places, band);
      }
      collector.add(turn, places, entries,
                    [&](std::uint64_t base, std::uint64_t* row_ptr, std::uint64_t* col_idx,
                        std::byte* values) {
                      store.watched([&] {
                        put_direct(finder, chunk, row_ptr, col_idx, values, out.type, band.scratch);
                      });
                      for (std::size_t r = 1; r <= chunk.size(); ++r) row_ptr[r] += base;
                    });
      return;
    }
    store.watched([&] {
      if (!finder.find(chunk)) throw CannotFind();
      band.decode(store, finder, chunk.size(), out.type);
    });
    hold.reset();
    put(turn, places, band);
  };
  try {
    parallel_in_order(chunks, threads, gather);
  } catch (const CannotFind&) {
    return false;
  } catch (const FoundZero&) {
    return gather_tiled_csr(store, rows, cols, out, threads, Direct::no);
  }
  collector.finish();
  return true;
}

/// Of any object: rows in ascending order, then copied to where they are wanted.
void gather_any_csr(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                    const CsrOut<std::uint64_t>& out, Absent absent) {
  const std::size_t size = size_of(out.type);
  RowSweep sweep(store, cols, out.type, absent);
  std::vector<std::uint64_t> begin(rows.size()), col_idx;  // where in them a row of the list begins
  std::vector<std::uint64_t> count(rows.size());
  std::vector<std::byte> values;
  std::optional<std::uint64_t> last;
  for (const std::size_t at : ascending(rows, std::less<>())) {
    if (last != rows[at]) {
      sweep.move_to(rows[at]);
      col_idx.insert(col_idx.end(), sweep.cols(), sweep.cols() + sweep.size());
      values.insert(values.end(), sweep.values(), sweep.values() + sweep.size() * size);
      last = rows[at];
    }
    begin[at] = col_idx.size() - sweep.size();
    count[at] = sweep.size();
  }
  out.row_ptr.reset(rows.size() + 1);
  out.row_ptr[0] = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) out.row_ptr[k + 1] = out.row_ptr[k] + count[k];
  const std::uint64_t entries = out.row_ptr[rows.size()];
  out.col_idx.reset(entries);
  std::byte* const to = out.resize_values(0, entries);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::copy_n(col_idx.data() + begin[k], count[k], out.col_idx.data() + out.row_ptr[k]);
    std::copy_n(values.data() + begin[k] * size, count[k] * size, to + out.row_ptr[k] * size);
  }
}

void gather_any_rows(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                     const Target& out, Absent absent) {
  const std::size_t size = size_of(out.type);
  RowSweep sweep(store, cols, out.type, absent);
  std::optional<std::uint64_t> last;
  for (const std::size_t at : ascending(rows, std::less<>())) {
    if (last != rows[at]) sweep.move_to(rows[at]);
    last = rows[at];
    std::byte* const row = out.cell(at, 0);
    std::memset(row, 0, cols.size() * size);
    for (std::uint64_t k = 0; k < sweep.size(); ++k) {
      std::memcpy(row + sweep.cols()[k] * size, sweep.values() + k * size, size);
    }
  }
}

bool gather_tiled_cells(const Store& store, std::span<const CellPos> cells, std::byte* out,
                        ValueType type, unsigned threads) {
  if (!RowFinder::possible(store)) return false;
  const std::size_t size = size_of(type);
  std::vector<RowFinder> finders;
  for (unsigned i = 0; i < worker_limit(threads); ++i)
    finders.emplace_back(store, Range{0, 0}, type);
  std::vector<Scratch> scratch(finders.size());
  const auto gather = [&](std::span<const CellPos> chunk, std::size_t first, unsigned worker) {
    RowFinder& finder = finders[worker];
    return store.watched([&] {
      const RowFinder::Hold hold(finder);
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
  return for_each_chunk(cells, kCellsAtOnce, threads, gather);
}

void gather_any_cells(const Store& store, std::span<const CellPos> cells, std::byte* out,
                      ValueType type, Absent absent) {
  const auto before = [](const CellPos& a, const CellPos& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  };
  const std::size_t size = size_of(type);
  const std::vector<std::size_t> order = ascending(cells, before);
  for (const std::size_t at : order) {
    const CellPos& cell = cells[at];
    store.read({{cell.row, cell.row + 1}, {cell.col, cell.col + 1}},
               {out + at * size, type, size, size}, {absent, 1});
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
                "rows of " + std::to_string(cols.size()) + " values overlap when they are " +
                    std::to_string(stride) + " values apart");
  }
  if (rows.empty() || cols.empty()) return;
  std::uint64_t needed = 0;
  if (!multiply(rows.size() - 1, stride, needed) || needed > ~cols.size()) needed = ~cols.size();
  require_room(store, size, needed + cols.size());
  const std::size_t value = size_of(type);
  require_apart(store, rows.data(), rows.size_bytes(), out, size * value);
  const Target target{static_cast<std::byte*>(out), type, stride * value, value};
  if (!gather_tiled_rows(store, rows, cols, target, options.threads)) {
    gather_any_rows(store, rows, cols, target, options.absent);
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
  if (!gather_tiled_cells(store, cells, to, type, options.threads)) {
    gather_any_cells(store, cells, to, type, options.absent);
  }
}

}  // namespace dapple::detail

namespace dapple {

template <Value T>
void gather_csr(const BlockedObject& object, std::span<const std::uint64_t> rows, Csr<T>& out,
                const GatherOptions& options) {
  const detail::Store& store = object.store();
  const Range cols = detail::require_columns(store, options);
  detail::require_rows(store, rows);
  const std::size_t bytes = rows.size_bytes();
  detail::require_apart(store, rows.data(), bytes, out.row_ptr.data(), out.row_ptr.capacity() * 8);
  detail::require_apart(store, rows.data(), bytes, out.col_idx.data(), out.col_idx.capacity() * 8);
  const auto arrays = detail::csr_out(out);
  if (!detail::gather_tiled_csr(store, rows, cols, arrays, options.threads)) {
    detail::gather_any_csr(store, rows, cols, arrays, options.absent);
  }
}

#define DAPPLE_INSTANTIATE(T)                                                             \
  template void gather_csr(const BlockedObject&, std::span<const std::uint64_t>, Csr<T>&, \
                           const GatherOptions&);
DAPPLE_INSTANTIATE(std::uint8_t)
DAPPLE_INSTANTIATE(std::uint16_t)
DAPPLE_INSTANTIATE(std::uint32_t)
DAPPLE_INSTANTIATE(std::uint64_t)
DAPPLE_INSTANTIATE(std::int8_t)
DAPPLE_INSTANTIATE(std::int16_t)
DAPPLE_INSTANTIATE(std::int32_t)
DAPPLE_INSTANTIATE(std::int64_t)
DAPPLE_INSTANTIATE(float)
DAPPLE_INSTANTIATE(double)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
