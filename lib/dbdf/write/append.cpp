#include "lib/dbdf/write/append.h"

#include <algorithm>

#include "lib/cells/convert_cells.h"
#include "lib/compute/block_tally.h"
#include "lib/compute/concat_columns.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/dbdf/write/retile.h"
#include "lib/io/byte_source.h"
#include "lib/io/local/local_file.h"

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
         (!from.missing || to.missing == mark_as(a, b.value_type)) && keeps_codes(from, to);
}

bool keeps_blocks(const Schema& old, const Schema& whole) {
  return holds_all(whole.value_type, old.value_type) &&
         std::equal(old.columns.begin(), old.columns.end(), whole.columns.begin(),
                    whole.columns.end(), means_the_same);
}

}  // namespace

void take_over(const Store& store, std::uint64_t end, BlockWriter& writer) {
  const BlockIndex& index = store.index();
  const BlockStatsTable* const known = store.block_stats();
  const RowCountsTable* const rows = store.row_counts();
  store.require_whole_index();
  EntryTable blocks;
  std::vector<BlockStats> stats;
  blocks.reserve(index.size());
  stats.reserve(index.size());
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    const std::uint64_t number = index.in_file_order(i);
    const Entry block = store.confirmed_entry(number);
    if (block.pos.rx >= end) continue;
    blocks.push_back(block);
    stats.push_back(known != nullptr ? (*known)[number] : BlockStats());
    if (!stats.back().knows_spread()) stats.back() = scan_block(store, block);
    if (rows == nullptr) continue;
    if (const auto counts = rows->find(number, block)) writer.take_over(block, *counts);
  }
  writer.take_over(store.file(), std::move(blocks), std::move(stats));
}

namespace {

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

/// The first row that is encoded anew, so that all tiles form one tiling: that of the last row of
/// tiles if it is not of the full height, or the first of all where tiles get higher. Blocks that
/// are left out have to be the last ones of the file.
std::uint64_t first_row_anew(const Store& old, TileShape tile) {
  const BlockIndex& index = old.index();
  const std::uint64_t rows = old.schema().rows;
  const auto& grid = index.grid();
  if (!grid || (grid->tile != tile && grid->rows > 1)) return rows;
  const std::uint64_t first = grid->tile == tile ? rows - rows % tile.rows : 0;
  std::uint64_t kept = 0, left_out = old.file().size();
  for (std::uint64_t number = 0; first < rows && number < index.size(); ++number) {
    const Entry entry = index.entry(number);
    if (entry.pos.rx < first) {
      kept = std::max(kept, entry.offset);
    } else {
      left_out = std::min(left_out, entry.offset);
    }
  }
  return kept < left_out ? first : rows;
}

/// Neither the rows nor the file that has the name; other names that it gets make no difference.
void require_same(const ByteSource& old, const std::filesystem::path& path) {
  const LocalFile* const local = old.local();
  if (old.is_intact() && (local == nullptr || local->lock_for_replacing())) return;
  throw Error(Errc::stale_index, path.string(), std::nullopt,
              "the file changed while rows were appended to it; append them again");
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
  Selection rest;
  rest.rows = Range{keep ? before.rows : 0, after.rows};
  WriteOptions write = replacing.write;
  if (!write.tile) {
    write.tile = tile_to_append(*old, whole, Source(whole, rest, replacing), replacing);
  }
  const std::uint64_t first = keep ? first_row_anew(*old, *write.tile) : 0;
  rest.rows = Range{first, after.rows};
  const Source added(whole, rest, replacing);
  BlockWriter writer(path, after, write);
  if (first > 0) take_over(*old, first, writer);
  retile(added, writer, write.kind, first);
  require_same(old->file(), path);
  return writer.finish();
}

}  // namespace dapple::detail::dbdf
