// What happens before a block is used: its index entry is compared with the header that it points
// to, its hash with its bytes if requested, and the result is remembered (checked_blocks.h).

#include <algorithm>

#include "lib/base/bytes.h"
#include "lib/object/store.h"

namespace dapple::detail {

namespace {

[[noreturn, gnu::noinline]] void fail_tile_entry(const BlockIndex& index, std::uint64_t number,
                                                 BlockPos wanted, const Entry& entry) {
  const std::uint64_t cols = index.grid()->cols;
  index.fail_entry(number, "the index entry of tile " + text({number / cols, number % cols}) +
                               ", which starts at " + text(wanted) + ", is of " +
                               extents_text(entry.rows, entry.cols) + " cells at " +
                               text(entry.pos));
}

[[noreturn, gnu::noinline]] void fail_tile(const Store& store, std::uint64_t i, std::uint64_t j) {
  const auto& grid = store.index().grid();
  if (!grid) {
    throw Error(Errc::invalid_argument, store.known_as(), std::nullopt,
                "there are no tiles: the blocks form no regular grid");
  }
  throw Error(
      Errc::out_of_range, store.known_as(), std::nullopt,
      "tile " + text({i, j}) + " is outside the " + extents_text(grid->rows, grid->cols) + " grid");
}

}  // namespace

// Guesses from the first two tiles and the file's size whether tiles are at regular distances.
CheckedBlocks::Even Store::guess_even() const {
  const auto& grid = index_.grid();
  if (!grid || !blocks_->is_mapped() || index_.size() < 2 || driver_->dense_header < 0 ||
      schema_.cols % grid->tile.cols != 0) {
    return {};
  }
  const Entry first = index_.entry(0), second = index_.entry(1);
  if (first.kind != BlockKind::dense || second.kind != BlockKind::dense || first.codec != 0 ||
      first.bytes != second.bytes || second.offset <= first.offset ||
      second.offset > blocks_->size() ||
      (blocks_->size() - first.offset) / (second.offset - first.offset) < index_.size() - 1) {
    return {};
  }
  const HeldBytes values = payload(first);
  if (!values.is_mapped()) return {};
  return {values.data(), second.offset - first.offset};
}

void Store::require_tile(std::uint64_t number, const Entry& entry) const {
  const auto& grid = index_.grid();
  if (!grid) return;
  const std::uint64_t i = number / grid->cols, j = number % grid->cols;
  const std::uint64_t rx = i * grid->tile.rows, cx = j * grid->tile.cols;
  if (entry.pos != BlockPos{rx, cx} ||
      entry.rows != std::min<std::uint64_t>(grid->tile.rows, schema_.rows - rx) ||
      entry.cols != std::min<std::uint64_t>(grid->tile.cols, schema_.cols - cx)) {
    fail_tile_entry(index_, number, {rx, cx}, entry);
  }
}

// Compares an entry with the tile that it should describe, and with the bytes that it points to.
void Store::compare(std::uint64_t number, const Entry& entry) const {
  require_tile(number, entry);
  if (driver_->confirm != nullptr) driver_->confirm(*this, number, entry);
}

void Store::remember(std::uint64_t number, const Entry& entry) const {
  checked_.make(index_.size(), [this] { return guess_even(); });
  const bool tile = entry.kind == BlockKind::dense && driver_->dense_header >= 0 && index_.grid() &&
                    TileShape{entry.rows, entry.cols} == index_.grid()->tile;
  if (tile && entry.codec == 0 && blocks_->is_mapped()) {
    const HeldBytes values = payload(entry);
    if (values.is_mapped()) {
      return checked_.set_compared(number, values.data(), entry.value_type);
    }
  }
  checked_.set_compared(number);
}

void Store::fetch(std::uint64_t number) const {
  const bool compared = checked_.was_compared(number);
  if (compared && !blocks_->guarded() && !blocks_->outgrows_memory()) return;
  Entry entry;
  watched(
      [&] {
        entry = index_.entry(number);
        ask_for({&number, 1}, entry.cells());
        if (!compared) confirm_entry(number, entry);
      },
      &entry);
}

Block Store::tile(std::uint64_t i, std::uint64_t j) const {
  const auto& grid = index_.grid();
  if (!grid || i >= grid->rows || j >= grid->cols) fail_tile(*this, i, j);
  return block(i * grid->cols + j);
}

TileTable Store::tile_table() const {
  const auto& grid = index_.grid();
  if (!grid) fail_tile(*this, 0, 0);
  blocks_->prepare_thread();
  blocks_->expect_reads();
  checked_.make(index_.size(), [this] { return guess_even(); });
  TileTable table;
  table.store = this;
  table.tags = checked_.even_tags();
  // In a guarded file each fetch checks that the file is intact; in a large one, it asks.
  if (table.tags == nullptr || blocks_->guarded() || blocks_->outgrows_memory()) return table;
  table.values = checked_.even().values;
  table.step = checked_.even().step;
  table.rows = grid->rows;
  table.cols = grid->cols;
  table.tile = grid->tile;
  return table;
}

Entry Store::confirmed_entry(std::uint64_t number) const {
  Entry entry;
  watched(
      [&] {
        entry = index_.entry(number);
        confirm_entry(number, entry);
      },
      &entry);
  return entry;
}

Entry Store::fetched_entry(std::uint64_t number) const {
  Entry entry, to_blame;
  watched(
      [&] {
        to_blame = entry = index_.entry(number);
        if (const auto& grid = index_.grid();
            grid && entry.bytes == 0) {  // the index was truncated
          to_blame.pos = {number / grid->cols * grid->tile.rows,
                          number % grid->cols * grid->tile.cols};
        }
        // Before the file is mapped, entries are private copies that were compared already.
        if (index_.is_in_place() && blocks_->is_in_use() && !blocks_->fetches())
          compare(number, entry);
      },
      &to_blame);
  return entry;
}

// An entry in place is read again for each use, and the file may have been changed since it was
// first compared, so the copy that will be used is compared again.
void Store::confirm_entry(std::uint64_t number, const Entry& entry) const {
  const bool compared = checked_.was_compared(number);
  if (!compared || index_.is_in_place()) compare(number, entry);
  if (compared) return;
  if (checks_hashes() && driver_->check_hash != nullptr) driver_->check_hash(*this, entry);
  if (blocks_->is_in_use() && file_->check() != Check::always) {
    remember(number, entry);
  }
}

// The part of the block in a region that the index says it touches.
Part Store::confirmed_part(std::uint64_t number, const Entry& entry, const Region& region) const {
  confirm_entry(number, entry);
  if (intersect(entry.cells(), region).empty()) {
    index_.fail_entry(number, "the index was changed while it was read: block " + text(entry.pos) +
                                  " is in place of another one");
  }
  return shared_part(entry, region);
}

}  // namespace dapple::detail
