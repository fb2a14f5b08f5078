#include "lib/dbdf/write/append.h"

#include <algorithm>

#include "lib/cells/convert_cells.h"
#include "lib/compute/block_tally.h"
#include "lib/dbdf/sidecar.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/dbdf/write/retile.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::dbdf {

namespace {

/// True when codes of the one dictionary are the same words in the other. Dictionaries only grow,
/// unless words come into an order.
bool keeps_codes(const Meaning& from, const Meaning& to) {
  if (!to.ordered || from.words == nullptr) return true;
  for (std::uint64_t i = 0; i < from.words->size(); ++i) {
    if ((*from.words)[i] != (*to.words)[i]) return false;
  }
  return true;
}

/// True when a stored number of column `a` is the same value in column `b`.
bool means_the_same(const Column& a, const Column& b) {
  const Meaning &from = a.meaning, &to = b.meaning;
  const bool kind = from.kind == to.kind || (from.has_words() && to.has_words());
  return kind && holds_all(b.value_type, a.value_type) &&
         (!from.has_time() || (from.unit == to.unit && from.zone == to.zone)) &&
         (!from.missing || from.missing == to.missing) && keeps_codes(from, to);
}

bool keeps_blocks(const Schema& old, const Schema& whole) {
  return holds_all(whole.value_type, old.value_type) &&
         std::equal(old.columns.begin(), old.columns.end(), whole.columns.begin(),
                    whole.columns.end(), means_the_same);
}

/// The blocks of a file, in file order, and their statistics if there are any.
void take_over(const Store& store, BlockWriter& writer) {
  const BlockIndex& index = store.index();
  const BlockStatsTable* const known = store.block_stats();
  const RowCountsTable* const rows = store.row_counts();
  store.require_whole_index();
  EntryTable blocks;
  std::vector<BlockStats> stats(index.size());
  blocks.reserve(index.size());
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    const std::uint64_t number = index.in_file_order(i);
    blocks.push_back(store.confirmed_entry(number));
    if (known != nullptr) stats[i] = (*known)[number];
    if (!stats[i].knows_spread()) stats[i] = scan_block(store, blocks[i]);
    if (rows == nullptr) continue;
    const Entry block = blocks[i];
    if (const auto counts = rows->find(number, block)) writer.take_over(block, *counts);
  }
  writer.take_over(store.file(), std::move(blocks), std::move(stats));
}

bool has_encoded_blocks(const Store& store) {
  for (std::uint64_t number = 0; number < store.index().size(); ++number) {
    if (store.index().entry(number).codec != 0) return true;
  }
  return false;
}

/// The tiles of the file. Those of a single row of tiles may be low only because the file was: then
/// the tiles that the whole would have if it were written afresh.
TileShape tile_to_append(const Store& old, const std::shared_ptr<const Store>& whole,
                         const Source& added, const ConvertOptions& options) {
  const auto& grid = old.index().grid();
  if (!grid) return natural_tile(added);
  if (grid->rows > 1) return grid->tile;
  const TileShape fresh = natural_tile(Source(whole, {}, options));
  return fresh.rows > grid->tile.rows ? fresh : grid->tile;
}

}  // namespace

WriteSummary append_dbdf(const std::shared_ptr<const Store>& old,
                         const std::shared_ptr<const Store>& whole,
                         const std::filesystem::path& path, const ConvertOptions& options) {
  const Schema &before = old->schema(), &after = whole->schema();
  ConvertOptions replacing = options;
  replacing.write.overwrite = true;
  // Otherwise all rows are written anew, the old ones too.
  const bool keep =
      keeps_blocks(before, after) && !(options.write.plain && has_encoded_blocks(*old));
  if (keep && options.absent == Absent::error && before.rows > 0) {
    old->require_covered({{0, before.rows}, {0, before.cols}});
  }
  const std::uint64_t first = keep ? before.rows : 0;
  Selection rest;
  rest.rows = Range{first, after.rows};
  const Source added(whole, rest, replacing);
  WriteOptions write = replacing.write;
  if (!write.tile) write.tile = tile_to_append(*old, whole, added, replacing);
  BlockWriter writer(path, after, write);
  if (keep) take_over(*old, writer);
  retile(added, writer, write.kind, first);
  require_unchanged(old->file(), path);
  return writer.finish();
}

}  // namespace dapple::detail::dbdf
