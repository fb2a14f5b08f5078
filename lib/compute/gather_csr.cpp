#include "dapple/gather.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/value_types.h"
#include "lib/compute/csr.h"
#include "lib/compute/gather_parts.h"
#include "lib/compute/row_sweep.h"

namespace dapple::detail {

namespace {

/// The rows of a chunk of the list, one after the other.
struct ChunkRows {
  RowScratch scratch;
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
    const std::size_t ahead = std::min((r + 1) * tiles + kPartsAhead, found.size());
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
                RowScratch& scratch) {
  const std::size_t tiles = finder.tiles_per_row(), size = size_of(type);
  const std::span<const DirectRow> parts = finder.direct();
  AskAhead ahead(finder);
  std::uint64_t k = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ahead.use(i);
    const DirectRow& part = parts[i];
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
                      const CsrOut<std::uint64_t>& out, const GatherOptions& options,
                      Direct direct = Direct::yes) {
  if (!RowFinder::possible(store)) return false;
  struct CannotFind {};
  std::vector<RowFinder> finders;
  for (unsigned i = 0; i < worker_limit(options.threads); ++i) {
    finders.emplace_back(store, cols, out.type);
  }
  std::vector<ChunkRows> memory(finders.size());
  const std::uint64_t cells = store.schema().storage == Storage::dense ? cols.size() : 0;
  const std::uint64_t at_once = rows_at_once(finders[0].tiles_per_row(), cells);
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
    report(options, worker, first, rows.size());
    RowFinder& finder = finders[worker];
    ChunkRows& band = memory[worker];
    std::optional<RowFinder::Hold> hold(std::in_place, finder);
    if (direct == Direct::yes && finder.find_direct(chunk, RowFinder::Dense::no)) {
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
    parallel_in_order(chunks, options.threads, gather);
  } catch (const CannotFind&) {
    return false;
  } catch (const FoundZero&) {
    return gather_tiled_csr(store, rows, cols, out, options, Direct::no);
  }
  collector.finish();
  return true;
}

/// Of any object: rows in ascending order, then copied to where they are wanted.
void gather_any_csr(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                    const CsrOut<std::uint64_t>& out, const GatherOptions& options) {
  const std::size_t size = size_of(out.type);
  RowSweep sweep(store, cols, out.type, options.absent);
  std::vector<std::uint64_t> begin(rows.size()), col_idx;  // where in them a row of the list begins
  std::vector<std::uint64_t> count(rows.size());
  std::vector<std::byte> values;
  std::optional<std::uint64_t> last;
  std::uint64_t done = 0;
  for (const std::size_t at : ascending(rows, std::less<>())) {
    report(options, 0, done++, rows.size());
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

}  // namespace

void gather_csr_to(const Store& store, std::span<const std::uint64_t> rows, Range cols,
                   const CsrOut<std::uint64_t>& out, const GatherOptions& options) {
  if (!gather_csr_by_tile(store, rows, cols, out, options) &&
      !gather_tiled_csr(store, rows, cols, out, options)) {
    gather_any_csr(store, rows, cols, out, options);
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
  detail::require_apart(store, rows, out);
  detail::gather_csr_to(store, rows, cols, detail::csr_out(out), options);
}

#define DAPPLE_INSTANTIATE(T)                                                             \
  template void gather_csr(const BlockedObject&, std::span<const std::uint64_t>, Csr<T>&, \
                           const GatherOptions&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
