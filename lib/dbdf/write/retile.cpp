#include "lib/dbdf/write/retile.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/cache/block_cache.h"
#include "lib/dbdf/write/append.h"
#include "lib/dbdf/write/block_writer.h"
#include "lib/dbdf/write/tile_rows.h"
#include "lib/dbdf/write/tiling.h"
#include "lib/dbdf/write/transpose.h"

namespace dapple::detail::dbdf {

namespace {

/// Tiles with a smaller share of stored values go to the writer as entries, not as cells.
constexpr double kSparse = 1.0 / 12;

/// Limits for a group of tiles: stored entries, or bytes of cells.
constexpr std::uint64_t kGroupEntries = std::uint64_t{2} << 20;
/// Stored entries of several tile rows in one group, for each worker: few enough to stay in caches.
constexpr std::uint64_t kCachedEntries = std::uint64_t{64} << 10;
constexpr double kGroupBytes = 1 << 26;
constexpr std::uint64_t kGroupTiles = std::uint64_t{1} << 20;

/// Threads that pass smaller tiles to the writer wait for each other longer than they work.
constexpr std::uint64_t kTileForThreads = 64 << 10;  // bytes

/// Parts of a buffer start at multiples of this, enough for every value type.
constexpr std::size_t kPlaceAlign = 16;

/// Walks `whole` front to back in pieces, from one on: doubles them while `take` accepts, and
/// halves one that it refuses by returning false. REQUIRES that it accepts pieces of one.
template <class F>
void walk_in_pieces(Range whole, const F& take) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t size = 1;
  for (std::uint64_t at = whole.begin; at < whole.end;) {
    const Range piece{at, at + std::min(size, whole.end - at)};
    if (take(piece)) {
      at = piece.end;
      size = size > most / 2 ? most : size * 2;
    } else {
      size = std::max<std::uint64_t>(1, piece.size() / 2);
    }
  }
}

TileShape shape_of(const Region& tile) {
  return {static_cast<std::uint32_t>(tile.rows.size()),
          static_cast<std::uint32_t>(tile.cols.size())};
}

/// Reads groups of whole tiles and passes them to the writer: as cells, tile by tile or from a
/// buffer that is filled once, or as stored entries, whichever touches the least memory. Tiles are
/// placed in order, so that the file does not depend on the number of threads.
class Retiler {
 public:
  Retiler(const Source& source, BlockWriter& writer, KindChoice kind, std::uint64_t first_row)
      : source_(source),
        writer_(writer),
        first_row_(first_row),
        put_all_(kind != KindChoice::automatic),
        strips_(writer.column_strips()),
        tile_rows_(writer.tile().rows),
        buffers_(worker_limit(source.threads())),
        rows_(source.schema(), strips_, tile_rows_) {}

  void run();

 private:
  /// A rectangle of whole tiles.
  struct Group {
    Range tile_rows;
    Range strips;
  };

  /// A column strip in a buffer.
  struct Place {
    std::size_t offset, row_bytes;
  };

  static std::uint64_t tiles_in(const Group& group) {
    return group.tile_rows.size() * group.strips.size();
  }
  void put_in_pieces(const Group& group);
  std::optional<TileShape> large_blocks() const;
  void put_by_block(const Group& all, TileShape block);
  Region cells_of(const Group& group) const;
  Region tile_of(const Group& group, std::uint64_t i) const;
  bool put(const Group& group);
  bool put_rows(const Group& group, const Region& cells);
  void put_by_tile(const Group& group);
  void put_from_buffer(const Group& group, const Region& cells);
  void put_cells(const Region& tile, const std::byte* first, std::size_t row_bytes, Turn& turn);
  template <class F>
  void for_each_tile(const Group& group, std::uint64_t bytes, const F& f) const;
  std::vector<Place> places_of(const Group& group, const Region& cells) const;
  void read_to_places(const Group& group, const Region& cells, const std::vector<Place>& places,
                      std::byte* memory);
  std::span<std::byte> buffer(unsigned worker, std::size_t bytes);

  const Source& source_;
  BlockWriter& writer_;
  std::uint64_t first_row_;  // of the file, where row 0 of the source goes
  bool put_all_;             // also put tiles without entries, instead of leaving them empty
  const std::vector<Range>& strips_;
  std::uint64_t tile_rows_;
  std::vector<std::vector<std::byte>> buffers_;  // one per worker
  TileRows rows_;
};

Region Retiler::cells_of(const Group& group) const {
  const std::uint64_t begin = group.tile_rows.begin * tile_rows_;
  // The last tile may end beyond the object, and even beyond 2^64.
  const std::uint64_t left = source_.rows() - begin;
  std::uint64_t height = 0;
  if (!multiply(group.tile_rows.size(), tile_rows_, height) || height > left) height = left;
  return {{begin, begin + height},
          {strips_[group.strips.begin].begin, strips_[group.strips.end - 1].end}};
}

/// Tile `i` of the group, counted row by row.
Region Retiler::tile_of(const Group& group, std::uint64_t i) const {
  const std::uint64_t row = group.tile_rows.begin + i / group.strips.size();
  const std::uint64_t strip = group.strips.begin + i % group.strips.size();
  return cells_of({{row, row + 1}, {strip, strip + 1}});
}

void Retiler::run() {
  source_.progress(0);
  if (source_.rows() > 0 && !strips_.empty()) {
    const Group all{{0, (source_.rows() - 1) / tile_rows_ + 1}, {0, strips_.size()}};
    if (const auto block = large_blocks()) {
      put_by_block(all, *block);
    } else {
      put_in_pieces(all);
    }
  }
  source_.progress(source_.rows());
}

void Retiler::put_in_pieces(const Group& whole) {
  walk_in_pieces(whole.tile_rows, [&](Range rows) {
    const Group all{rows, whole.strips};
    bool done = put(all);
    if (!done && rows.size() == 1) {
      walk_in_pieces(all.strips, [&](Range strips) { return put({rows, strips}); });
      done = true;
    }
    if (done && all.strips.end == strips_.size()) source_.progress(cells_of(all).rows.end);
    return done;
  });
}

/// The size of the source's blocks, where each is decoded as a whole, and those beside each other
/// are more than is kept of them until the rows of the next group are read.
std::optional<TileShape> Retiler::large_blocks() const {
  const Store& store = source_.store();
  const auto& grid = store.index().grid();
  if (!grid || !source_.is_whole() || source_.kind() != ObjectKind::matrix ||
      store.driver().in_place != nullptr) {
    return std::nullopt;
  }
  const auto row = static_cast<double>(source_.packed_row({0, source_.cols()}));
  const double bytes = row * static_cast<double>(grid->tile.rows);
  const bool kept = bytes <= static_cast<double>(block_cache().budget() / 2);
  return kept || bytes <= kGroupBytes ? std::nullopt : std::optional(grid->tile);
}

/// Tiles that begin in one block after the other, so that it is decoded once for them.
void Retiler::put_by_block(const Group& all, TileShape block) {
  const auto end_of = [](Range among, std::uint64_t side, const auto& begin_of) {
    std::uint64_t end = among.begin + 1;
    while (end < among.end && begin_of(end) / side == begin_of(among.begin) / side) ++end;
    return end;
  };
  const auto row_of = [&](std::uint64_t tile) { return tile * tile_rows_; };
  const auto col_of = [&](std::uint64_t strip) { return strips_[strip].begin; };
  for (Group one = all; one.tile_rows.begin < all.tile_rows.end;
       one.tile_rows = {one.tile_rows.end, all.tile_rows.end}) {
    one.tile_rows.end = end_of(one.tile_rows, block.rows, row_of);
    for (one.strips = all.strips; one.strips.begin < all.strips.end;
         one.strips = {one.strips.end, all.strips.end}) {
      one.strips.end = end_of(one.strips, block.cols, col_of);
      put_in_pieces(one);
    }
  }
}

/// False, and nothing was put, when the group is too large. A single tile never is.
bool Retiler::put(const Group& group) {
  const bool single = group.tile_rows.size() == 1 && group.strips.size() == 1;
  const Region cells = cells_of(group);
  const Source::Load load = source_.load(cells);
  const bool nan = source_.fills_with_nan();
  if (load.stored == 0 && !put_all_ && !nan) {
    // Nothing to put, however many tiles these are; but the cells must not be absent.
    source_.for_each_band(cells, {}, [](const SourceRows&, unsigned, Turn&) {});
    return true;
  }
  if (!single && group.strips.size() > kGroupTiles / group.tile_rows.size()) return false;
  if (load.stored < load.area * kSparse && !nan) {
    const std::uint64_t most = group.tile_rows.size() == 1
                                   ? kGroupEntries
                                   : std::min(kGroupEntries, kCachedEntries * buffers_.size());
    if (!single && load.stored > static_cast<double>(most)) return false;
    return put_rows(group, cells);
  }
  const double bytes =
      static_cast<double>(cells.rows.size()) * static_cast<double>(source_.packed_row(cells.cols));
  if (!single && bytes > kGroupBytes) return false;
  // Tile by tile, a sparse block would be walked from its start for every tile that it covers.
  const auto tiles = static_cast<double>(tiles_in(group));
  if (load.widest_sparse * tiles < load.area) {
    put_by_tile(group);
  } else {
    put_from_buffer(group, cells);
  }
  return true;
}

std::span<std::byte> Retiler::buffer(unsigned worker, std::size_t bytes) {
  if (buffers_[worker].size() < bytes) buffers_[worker].resize(bytes);
  return std::span(buffers_[worker]).first(bytes);
}

void Retiler::put_cells(const Region& tile, const std::byte* first, std::size_t row_bytes,
                        Turn& turn) {
  const TileShape shape = shape_of(tile);
  writer_.put({first_row_ + tile.rows.begin, tile.cols.begin},
              DenseCells{first, source_.schema().type_of(tile.cols.begin), shape.rows, shape.cols,
                         row_bytes},
              &turn);
}

/// Calls f(i, worker, turn) for each tile of a group of `bytes` bytes, as `parallel_in_order` does.
template <class F>
void Retiler::for_each_tile(const Group& group, std::uint64_t bytes, const F& f) const {
  const std::uint64_t tiles = tiles_in(group);
  parallel_in_order(tiles, bytes / tiles < kTileForThreads ? 1 : source_.threads(), f);
}

void Retiler::put_by_tile(const Group& group) {
  const Region cells = cells_of(group);
  for_each_tile(group, cells.rows.size() * source_.packed_row(cells.cols),
                [&](std::uint64_t i, unsigned worker, Turn& turn) {
                  const Region tile = tile_of(group, i);
                  const std::size_t row_bytes = source_.packed_row(tile.cols);
                  const auto memory = buffer(worker, tile.rows.size() * row_bytes);
                  source_.read_packed(tile, memory.data());
                  put_cells(tile, memory.data(), row_bytes, turn);
                });
}

/// Where the column strips of a group are in a buffer. Those of a matrix share rows, so that the
/// whole group is read at once; those of a frame, each of one type, are one after the other.
std::vector<Retiler::Place> Retiler::places_of(const Group& group, const Region& cells) const {
  std::vector<Place> places;
  std::size_t bytes = 0;
  for (std::uint64_t s = group.strips.begin; s < group.strips.end; ++s) {
    if (source_.kind() == ObjectKind::matrix) {
      places.push_back({source_.packed_row({cells.cols.begin, strips_[s].begin}),
                        source_.packed_row(cells.cols)});
    } else {
      const std::size_t row_bytes = source_.packed_row(strips_[s]);
      places.push_back({bytes, row_bytes});
      bytes += round_up(cells.rows.size() * row_bytes, kPlaceAlign);
    }
  }
  return places;
}

void Retiler::read_to_places(const Group& group, const Region& cells,
                             const std::vector<Place>& places, std::byte* memory) {
  if (source_.kind() == ObjectKind::matrix) {
    source_.read_packed(cells, memory, source_.threads());
    return;
  }
  std::vector<ColumnBuffer> columns;
  for (std::uint64_t s = group.strips.begin; s < group.strips.end; ++s) {
    const Place& place = places[s - group.strips.begin];
    std::byte* data = memory + place.offset;
    for (std::uint64_t col = strips_[s].begin; col < strips_[s].end; ++col) {
      const ValueType type = source_.schema().type_of(col);
      columns.push_back({col, type, data, place.row_bytes});
      data += size_of(type);
    }
  }
  source_.read_columns(cells.rows, columns, source_.threads());
}

/// Reads the group once, then passes its tiles to the writer.
void Retiler::put_from_buffer(const Group& group, const Region& cells) {
  const std::vector<Place> places = places_of(group, cells);
  const std::uint64_t bytes = cells.rows.size() * source_.packed_row(cells.cols);
  const auto memory = buffer(0, bytes + places.size() * kPlaceAlign);
  read_to_places(group, cells, places, memory.data());
  for_each_tile(group, bytes, [&](std::uint64_t i, unsigned, Turn& turn) {
    const Region tile = tile_of(group, i);
    const Place& place = places[i % group.strips.size()];
    const std::byte* first =
        memory.data() + place.offset + (tile.rows.begin - cells.rows.begin) * place.row_bytes;
    put_cells(tile, first, place.row_bytes, turn);
  });
}

/// Reads the rows of the group once, then passes its tiles to the writer. False, and nothing was
/// put, when a group of several tiles turns out to have too many entries.
bool Retiler::put_rows(const Group& group, const Region& cells) {
  struct TooMany {};
  rows_.clear();
  try {
    source_.for_each_band(cells, {}, [&](const SourceRows& band, unsigned, Turn& turn) {
      turn.take([&] {
        rows_.append(band);
        if (tiles_in(group) > 1 && rows_.entries() > 2 * kGroupEntries) throw TooMany();
      });
    });
  } catch (const TooMany&) {
    return false;
  }
  rows_.deal(cells.rows.begin, group.tile_rows.size(), group.strips, source_.threads());
  const std::uint64_t bytes = rows_.entries() * (4 + size_of(source_.schema().type_of(0)));
  for_each_tile(group, bytes, [&](std::uint64_t i, unsigned, Turn& turn) {
    const Region tile = tile_of(group, i);
    const CsrCells rows = rows_.tile(i, shape_of(tile));
    if (rows.stored() == 0 && !put_all_) return;
    writer_.put({first_row_ + tile.rows.begin, tile.cols.begin}, rows, &turn);
  });
  return true;
}

/// True when text was parsed into just the blocks that would be written now.
bool has_blocks_of(const Source& source, const BlockWriter& writer, const WriteOptions& options) {
  const Store& store = source.store();
  const WriteOptions usual;
  if (!store.is_import() || !source.is_whole() || options.kind != usual.kind || !options.narrow ||
      options.align != usual.align || options.pack != usual.pack || options.plain) {
    return false;
  }
  for (std::uint64_t i = 0; i < store.index().size(); ++i) {
    const Entry entry = store.index().entry(i);
    if (!tile_number(writer.schema(), writer.tile(), writer.column_strips(), entry.pos,
                     {entry.rows, entry.cols})) {
      return false;
    }
  }
  return true;
}

}  // namespace

TileShape natural_tile(const Source& source) {
  const auto& grid = source.store().index().grid();
  if (grid && source.store().is_import() && source.is_whole()) return grid->tile;
  if (source.rows() > 0 && source.cols() > 0 &&
      source.schema().end_of_type({0, source.cols()}) == source.cols()) {
    const Source::Load load = source.load({{0, source.rows()}, {0, source.cols()}});
    if (load.stored < load.area * kSparse) {
      return default_sparse_tile(source.rows(), source.cols(), load.stored,
                                 source.schema().type_of(0));
    }
  }
  return default_tile(source.rows(), source.cols());
}

void retile(const Source& source, BlockWriter& writer, KindChoice kind, std::uint64_t first_row) {
  writer.take_from(source.store().file().name());
  Retiler(source, writer, kind, first_row).run();
}

namespace {

WriteOptions tiled(const Source& source, WriteOptions options) {
  if (!options.tile && options.kind != KindChoice::dense) options.tile = natural_tile(source);
  return options;
}

WriteSummary write_all(const Source& source, BlockWriter& writer, const WriteOptions& options) {
  if (has_blocks_of(source, writer, options)) {
    take_over(source.store(), source.rows(), writer);
    source.progress(source.rows());
  } else {
    retile(source, writer, options.kind);
  }
  return writer.finish();
}

}  // namespace

WriteSummary write_dbdf(const Source& source, const std::filesystem::path& path,
                        const ConvertOptions& options) {
  if (options.transpose) return write_transposed(source, path, options.write);
  const WriteOptions write = tiled(source, options.write);
  BlockWriter writer(path, source.schema(), write);
  return write_all(source, writer, write);
}

WriteSummary measure_dbdf(const Source& source, const WriteOptions& options) {
  const WriteOptions write = tiled(source, options);
  BlockWriter writer(OutputFile(source.store().file().name(), OutputFile::Unnamed::nowhere),
                     source.schema(), write);
  return write_all(source, writer, write);
}

}  // namespace dapple::detail::dbdf
