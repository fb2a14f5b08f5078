#include "lib/dbdf/write/tiling.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "dapple/writer.h"
#include "lib/base/bytes.h"

namespace dapple::detail::dbdf {

namespace {

// More empty blocks or strips than this are assumed to be a mistake.
constexpr std::uint64_t kMost = std::uint64_t{1} << 24;
// The largest tiling for which one bit per tile is kept.
constexpr std::uint64_t kMostBits = std::uint64_t{1} << 28;
// In tiles of at least this number of rows a column with a dictionary is alone.
constexpr std::uint32_t kTall = 4096;

[[noreturn]] void fail_many(const std::string& what) {
  throw Error(Errc::invalid_argument, "more than " + std::to_string(kMost) + " " + what +
                                          " would be needed; choose larger tiles");
}

// Which tiles of the tiling were put, if every entry is one of them.
std::optional<std::vector<bool>> taken_tiles(const EntryTable& entries, const Schema& schema,
                                             TileShape tile, const std::vector<Range>& strips) {
  const std::uint64_t bands = schema.rows == 0 ? 0 : (schema.rows - 1) / tile.rows + 1;
  std::uint64_t tiles;
  if (!multiply(bands, strips.size(), tiles) || tiles > kMostBits) return std::nullopt;
  // If too many are missing, larger blocks fill the gaps.
  if (tiles > entries.size() && tiles - entries.size() > kMost) return std::nullopt;
  std::vector<bool> taken(tiles);
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const Entry e = entries[i];
    const auto number = tile_number(schema, tile, strips, e.pos, {e.rows, e.cols});
    if (!number) return std::nullopt;
    taken[*number] = true;
  }
  return taken;
}

// Cuts a gap into blocks whose sides fit 32 bits.
void add_gap(const Region& gap, std::vector<PlacedTile>& blocks) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t bands = gap.rows.size() / kMax, strips = gap.cols.size() / kMax;
  std::uint64_t count;
  if (!multiply(bands + 1, strips + 1, count) || count > kMost - blocks.size()) {
    fail_many("empty blocks for cells that were never put");
  }
  for (std::uint64_t r = gap.rows.begin; r < gap.rows.end;) {
    const std::uint64_t rows = std::min(kMax, gap.rows.end - r);
    for (std::uint64_t c = gap.cols.begin; c < gap.cols.end;) {
      const std::uint64_t cols = std::min(kMax, gap.cols.end - c);
      blocks.push_back(
          {{r, c}, {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols)}});
      c += cols;
    }
    r += rows;
  }
}

// The column ranges that `active` (first column -> end) leaves free, each inside one of `runs`, the
// runs of columns of one type (R8).
std::vector<Range> free_columns(const std::multimap<std::uint64_t, std::uint64_t>& active,
                                const std::vector<Range>& runs) {
  std::vector<Range> gaps;
  auto run = runs.begin();
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      while (run->end <= begin) ++run;
      gaps.push_back({begin, std::min(end, run->end)});
      begin = gaps.back().end;
    }
  };
  std::uint64_t col = 0;
  for (const auto& [begin, end] : active) {
    add(col, begin);
    col = std::max(col, end);
  }
  add(col, runs.back().end);
  return gaps;
}

// Runs of adjacent columns of one type. REQUIRES that there are columns.
std::vector<Range> type_runs(const Schema& schema) {
  std::vector<Range> runs;
  for (std::uint64_t begin = 0; begin < schema.cols;) {
    runs.push_back({begin, schema.end_of_type({begin, schema.cols})});
    begin = runs.back().end;
  }
  return runs;
}

// The gaps between blocks of any shape: a sweep over the rows, in which gaps grow while the free
// columns stay the same. O(n log n) if few blocks share a row.
std::vector<PlacedTile> find_gaps(const EntryTable& entries, const Schema& schema) {
  std::vector<std::uint64_t> cuts{0, schema.rows};
  std::multimap<std::uint64_t, Region> starting, ending;  // by row
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const Region cells = entries[i].cells();
    starting.emplace(cells.rows.begin, cells);
    ending.emplace(cells.rows.end, cells);
    cuts.push_back(cells.rows.begin);
    cuts.push_back(cells.rows.end);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  const std::vector<Range> runs = type_runs(schema);
  std::vector<PlacedTile> blocks;
  std::multimap<std::uint64_t, std::uint64_t> active;
  std::vector<Range> open;  // free columns since row `open_since`
  std::uint64_t open_since = 0;
  const auto close = [&](std::uint64_t row) {
    for (const Range& cols : open) add_gap({{open_since, row}, cols}, blocks);
  };
  for (const std::uint64_t row : cuts) {
    for (auto [it, end] = ending.equal_range(row); it != end; ++it) {
      const Range cols = it->second.cols;
      auto [same, last] = active.equal_range(cols.begin);
      while (same != last && same->second != cols.end) ++same;
      if (same != last) active.erase(same);
    }
    for (auto [it, end] = starting.equal_range(row); it != end; ++it) {
      active.emplace(it->second.cols.begin, it->second.cols.end);
    }
    std::vector<Range> free;
    if (row < schema.rows) free = free_columns(active, runs);
    if (free != open) {
      close(row);
      open = std::move(free);
      open_since = row;
    }
  }
  close(schema.rows);
  std::sort(blocks.begin(), blocks.end(),
            [](const PlacedTile& a, const PlacedTile& b) { return a.first < b.first; });
  return blocks;
}

// True when a column of a frame may share a strip with the next. In tall tiles a column with a
// dictionary is alone: it is mostly read as a whole, and its codes are then as narrow as they
// can be.
bool shares_strip(const Schema& schema, std::uint64_t col, bool tall) {
  const Column &here = schema.columns[col], &next = schema.columns[col + 1];
  if (here.value_type != next.value_type) return false;
  return !tall || !(here.meaning.has_words() || next.meaning.has_words());
}

}  // namespace

TileShape presumed_tile(const Schema& schema) {
  if (schema.kind == ObjectKind::frame || schema.storage != Storage::csr) {
    return default_tile(schema.rows, schema.cols);
  }
  // As many values as in a matrix of which one cell in a hundred is stored.
  const double area = static_cast<double>(schema.rows) * static_cast<double>(schema.cols);
  return default_sparse_tile(schema.rows, schema.cols, area / 100, schema.value_type);
}

std::vector<Range> column_strips(const Schema& schema, TileShape tile) {
  std::vector<Range> strips;
  if (schema.rows == 0) return strips;  // nothing will be put
  if (schema.cols / tile.cols > kMost) fail_many("strips of columns");
  for (std::uint64_t begin = 0; begin < schema.cols;) {
    const std::uint64_t most = begin + std::min<std::uint64_t>(tile.cols, schema.cols - begin);
    std::uint64_t end = schema.kind == ObjectKind::matrix ? most : begin + 1;
    while (end < most && shares_strip(schema, end - 1, tile.rows >= kTall)) ++end;
    strips.push_back({begin, end});
    begin = end;
  }
  return strips;
}

std::optional<std::uint64_t> tile_number(const Schema& schema, TileShape tile,
                                         const std::vector<Range>& strips, BlockPos pos,
                                         TileShape shape) noexcept {
  const auto strip =
      std::lower_bound(strips.begin(), strips.end(), pos.cx,
                       [](const Range& s, std::uint64_t col) { return s.begin < col; });
  if (strip == strips.end() || *strip != Range{pos.cx, pos.cx + shape.cols} ||
      pos.rx % tile.rows != 0 ||
      shape.rows != std::min<std::uint64_t>(tile.rows, schema.rows - pos.rx)) {
    return std::nullopt;
  }
  return pos.rx / tile.rows * strips.size() + static_cast<std::uint64_t>(strip - strips.begin());
}

std::vector<PlacedTile> uncovered_tiles(const EntryTable& entries, const Schema& schema,
                                        TileShape tile, const std::vector<Range>& strips) {
  if (schema.rows == 0 || schema.cols == 0) return {};
  const auto taken = taken_tiles(entries, schema, tile, strips);
  if (!taken) return find_gaps(entries, schema);
  std::vector<PlacedTile> missing;
  for (std::uint64_t k = 0; k < taken->size(); ++k) {
    if ((*taken)[k]) continue;
    const std::uint64_t rx = k / strips.size() * tile.rows;
    const Range cols = strips[k % strips.size()];
    const std::uint64_t rows = std::min<std::uint64_t>(tile.rows, schema.rows - rx);
    missing.push_back(
        {{rx, cols.begin},
         {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(cols.size())}});
  }
  return missing;
}

}  // namespace dapple::detail::dbdf
