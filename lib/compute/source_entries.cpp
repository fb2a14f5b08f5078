// What a source holds as stored entries: as they come, in order, and as rows.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lib/cells/convert_cells.h"
#include "lib/compute/pieces.h"
#include "lib/compute/row_gatherer.h"
#include "lib/compute/source.h"

namespace dapple::detail {

namespace {

/// Entries that are sorted at once, 24 bytes each; and the bytes of cells that are scanned at once.
constexpr std::uint64_t kEntriesAtOnce = std::uint64_t{1} << 20;
constexpr std::uint64_t kScanBytes = std::uint64_t{16} << 20;

/// Pieces of several rows of blocks stay below this, so that their entries stay in a core's cache.
constexpr std::uint64_t kEntriesInCache = std::uint64_t{1} << 15;

/// Regions at least this full are decoded and scanned; below it, sorting the entries is cheaper.
constexpr double kFullEnoughToScan = 1.0 / 4;

bool before(const StoredCell& a, const StoredCell& b) noexcept {
  return a.row != b.row ? a.row < b.row : a.col < b.col;
}

/// The first cell that is not before the next one.
std::vector<StoredCell>::const_iterator find_not_ascending(const std::vector<StoredCell>& cells) {
  return std::adjacent_find(cells.begin(), cells.end(),
                            [](const StoredCell& a, const StoredCell& b) { return !before(a, b); });
}

}  // namespace

void Source::unordered_entries(const Region& region, const CellRun::Take& take) const {
  if (region.empty()) return;
  const ReadOptions options{options_.absent, 1};
  for_each_run(region, [&](const Region& from, std::uint64_t at) {
    const std::uint64_t first_col = region.cols.begin + at;
    if (!options_.value_type && rows_.begin == 0 && from.cols.begin == first_col) {
      store_->entries(from, options, take);
      return;
    }
    store_->entries(from, options, CellRun::Take([&](std::span<const StoredCell> run) {
                      CellRun mapped(take);
                      for (const StoredCell& cell : run) {
                        mapped({cell.row - rows_.begin, cell.col - from.cols.begin + first_col,
                                output_bits(cell)});
                      }
                      mapped.flush();
                    }));
  });
}

/// The value of a cell of the object as the output's type.
std::uint64_t Source::output_bits(const StoredCell& cell) const {
  if (!options_.value_type) return cell.bits;
  const ValueType stored = store_->schema().type_of(cell.col);
  const auto convert = options_.allow_loss ? convert_cell_lossy : convert_cell;
  std::uint64_t bits;
  if (!convert(stored, cell.bits, *options_.value_type, bits)) {
    fail_value(cell.row, cell.col, stored, cell.bits);
  }
  return bits;
}

bool Source::collect(const Region& region, std::uint64_t limit,
                     std::vector<StoredCell>& cells) const {
  const std::uint64_t most = cells.size() + limit;
  bool all = true;
  unordered_entries(region, [&](std::span<const StoredCell> run) {
    const std::uint64_t room = most - cells.size();
    if (run.size() > room) all = false;
    const auto part = run.first(std::min<std::uint64_t>(run.size(), room));
    cells.insert(cells.end(), part.begin(), part.end());
  });
  return all;
}

bool Source::gather(const Region& region, ValueType type, std::uint64_t most,
                    RowGatherer& rows) const {
  if (options_.value_type || region.empty()) return false;
  const Range cols{object_col(region.cols.begin), object_col(region.cols.end - 1) + 1};
  if (cols.size() != region.cols.size()) return false;
  std::size_t pieces = 0;
  for_each_run(region, [&](const Region&, std::uint64_t) { ++pieces; });
  if (pieces != 1) return false;
  const Region from{{rows_.begin + region.rows.begin, rows_.begin + region.rows.end}, cols};
  return rows.gather(*store_, from, type, options_.absent, most);
}

bool Source::gathers_bands() const {
  const Codec& codec = store_->codec();
  const BlockCounts counts = store_->index().counts();
  return !options_.value_type && runs_.size() == 1 && !codec.sequential && counts.coo == 0 &&
         (counts.csr == 0 || codec.csr_arrays != nullptr) &&
         (counts.dense == 0 || codec.in_place != nullptr);
}

void Source::entries(const Region& region, const CellRun::Take& take) const {
  EntryBuffers buffers;
  const auto grid = store_->index().grid();
  const std::uint64_t block_rows = grid ? grid->tile.rows : 1;
  walk_in_pieces(region.rows, block_rows, [&](Range rows) {
    const std::uint64_t most = rows.size() > block_rows ? kEntriesInCache : kEntriesAtOnce;
    if (entries_at_once({rows, region.cols}, most, take, buffers)) return true;
    if (rows.size() > 1) return false;
    walk_in_pieces(region.cols, kEntriesAtOnce, [&](Range cols) {
      return entries_at_once({rows, cols}, kEntriesAtOnce, take, buffers);
    });
    return true;
  });
}

/// Brings cells of `rows` into ascending order. Blocks that lie side by side each give their cells
/// row by row, so that dealing them out to the rows is usually all there is to do. Throws corrupt
/// when a cell comes twice.
void Source::sort_cells(Range rows, EntryBuffers& buffers) const {
  std::vector<StoredCell>& cells = buffers.cells;
  if (find_not_ascending(cells) == cells.end()) return;
  if (rows.size() <= cells.size()) {
    std::vector<std::size_t>& next = buffers.next;
    next.assign(rows.size() + 1, 0);
    for (const StoredCell& cell : cells) ++next[cell.row - rows.begin + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    buffers.dealt.resize(cells.size());
    for (const StoredCell& cell : cells) buffers.dealt[next[cell.row - rows.begin]++] = cell;
    cells.swap(buffers.dealt);
  }
  if (find_not_ascending(cells) == cells.end()) return;
  std::sort(cells.begin(), cells.end(), before);
  const auto twice = find_not_ascending(cells);
  if (twice != cells.end()) fail_twice(twice[1]);
}

/// Takes the entries of a region with at most `most` of them, as far as the index tells; otherwise
/// false, and nothing was taken.
bool Source::entries_at_once(const Region& region, std::uint64_t most, const CellRun::Take& take,
                             EntryBuffers& buffers) const {
  const Load load = this->load(region);
  if (load.stored > 0 && load.stored >= load.area * kFullEnoughToScan) {
    const double bytes =
        static_cast<double>(region.rows.size()) * static_cast<double>(packed_row(region.cols));
    if (bytes > static_cast<double>(kScanBytes)) return false;
    scan_entries(region, take);
    return true;
  }
  if (load.stored > static_cast<double>(most)) return false;
  buffers.cells.clear();
  // Entries may lie unevenly: twice the expected number is still taken.
  if (!collect(region, 2 * kEntriesAtOnce, buffers.cells)) return false;
  sort_cells(region.rows, buffers);
  if (!buffers.cells.empty()) take(buffers.cells);
  return true;
}

/// Decodes all cells of a region and takes those that are not positive zero.
void Source::scan_entries(const Region& region, const CellRun::Take& take) const {
  std::vector<std::byte> cells(region.rows.size() * packed_row(region.cols));
  read_packed(region, cells.data(), options_.threads);
  const std::byte* p = cells.data();
  CellRun run(take);
  for (std::uint64_t row = region.rows.begin; row < region.rows.end; ++row) {
    for (std::uint64_t col = region.cols.begin; col < region.cols.end; ++col) {
      const ValueType type = schema_.type_of(col);
      run({row, col, load_bits(type, p)});
      p += size_of(type);
    }
  }
  run.flush();
}

}  // namespace dapple::detail
