#include "lib/dbdf/write/retile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "dapple/array.h"
#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/compute/pieces.h"
#include "lib/dbdf/write/block_writer.h"

namespace dapple::detail::dbdf {

namespace {

/// Tiles emptier than this go to the writer as stored entries, not as cells.
constexpr double kSparse = 1.0 / 12;

/// Stored values that `natural_tile` wants in a tile of a sparse matrix.
constexpr double kStoredPerTile = 1 << 15;

constexpr double kMostSide = std::numeric_limits<std::uint32_t>::max();

/// What one group of tiles may take: stored entries, or bytes of cells.
constexpr std::uint64_t kGroupEntries = std::uint64_t{2} << 20;
constexpr double kGroupBytes = 1 << 26;
constexpr std::uint64_t kGroupTiles = std::uint64_t{1} << 20;

/// Parts of a buffer start at multiples of this, enough for every value type.
constexpr std::size_t kPlaceAlign = 16;

TileShape shape_of(const Region& tile) {
  return {static_cast<std::uint32_t>(tile.rows.size()),
          static_cast<std::uint32_t>(tile.cols.size())};
}

/// Groups of whole tiles are read and handed to the writer: as cells, tile by tile or from one
/// buffer that is read once, or as stored entries; whichever touches least. Tiles are placed in
/// order, so that the file does not depend on the number of threads.
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
        tile_rows_of_(buffers_.size()) {}

  void run();

 private:
  /// A rectangle of whole tiles: of tile rows and of column strips.
  struct Group {
    Range tile_rows;
    Range strips;
  };

  /// A column strip in a buffer.
  struct Place {
    std::size_t offset, row_bytes;
  };

  /// The rows of a group that have entries, with columns of the output. A group may have far more
  /// rows than entries.
  struct GroupRows {
    std::vector<std::uint64_t> row_idx, row_ptr, col_idx;
    std::vector<std::byte> values;

    void clear();
    void append(const SourceRows& band);
  };

  /// The same of one of its tiles.
  struct TileRows {
    Array<std::uint64_t> row_ptr;
    Array<std::uint32_t> row_idx, col_idx;
    Array<std::byte> values;
  };

  static std::uint64_t tiles_in(const Group& group) {
    return group.tile_rows.size() * group.strips.size();
  }
  Region cells_of(const Group& group) const;
  Region tile_of(const Group& group, std::uint64_t i) const;
  bool put(const Group& group);
  bool put_rows(const Group& group, const Region& cells);
  CsrCells rows_of(const Region& tile, const Region& group, TileRows& rows) const;
  void put_by_tile(const Group& group);
  void put_from_buffer(const Group& group, const Region& cells);
  void put_cells(const Region& tile, const std::byte* first, std::size_t row_bytes, Turn& turn);
  std::vector<Place> places_of(const Group& group, const Region& cells) const;
  void read_to_places(const Group& group, const Region& cells, const std::vector<Place>& places,
                      std::byte* memory);
  std::span<std::byte> buffer(unsigned worker, std::size_t bytes);

  const Source& source_;
  BlockWriter& writer_;
  std::uint64_t first_row_;  // of the file, where row 0 of the source goes
  bool put_all_;             // also tiles without entries, which the writer would make empty blocks
  const std::vector<Range>& strips_;
  std::uint64_t tile_rows_;
  std::vector<std::vector<std::byte>> buffers_;  // one per worker
  GroupRows rows_;
  ValueType rows_type_ = ValueType::f64;  // of their values; as in SourceRows
  std::vector<TileRows> tile_rows_of_;    // one per worker
};

Region Retiler::cells_of(const Group& group) const {
  const std::uint64_t begin = group.tile_rows.begin * tile_rows_;
  // The last tile may end behind the object, and even behind 2^64.
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
    const std::uint64_t tile_rows = (source_.rows() - 1) / tile_rows_ + 1;
    walk_in_pieces({0, tile_rows}, 1, [&](Range rows) {
      const Group all{rows, {0, strips_.size()}};
      bool done = put(all);
      if (!done && rows.size() == 1) {
        walk_in_pieces(all.strips, 1, [&](Range strips) { return put({rows, strips}); });
        done = true;
      }
      if (done) source_.progress(cells_of(all).rows.end);
      return done;
    });
  }
  source_.progress(source_.rows());
}

/// False, and nothing was put, when the group is too large to be held. A single tile never is.
bool Retiler::put(const Group& group) {
  const bool single = group.tile_rows.size() == 1 && group.strips.size() == 1;
  const Region cells = cells_of(group);
  const Source::Load load = source_.load(cells);
  const bool nan = source_.fills_with_nan();
  if (load.stored == 0 && !put_all_ && !nan) {
    // However many tiles these are, nothing is put; that no cell is absent is still asked.
    source_.for_each_band(cells, {}, [](const SourceRows&, unsigned, Turn&) {});
    return true;
  }
  if (!single && group.strips.size() > kGroupTiles / group.tile_rows.size()) return false;
  if (load.stored < load.area * kSparse && !nan) {
    if (!single && load.stored > static_cast<double>(kGroupEntries)) return false;
    return put_rows(group, cells);
  }
  const double bytes =
      static_cast<double>(cells.rows.size()) * static_cast<double>(source_.packed_row(cells.cols));
  if (!single && bytes > kGroupBytes) return false;
  // A sparse block of many tiles would be walked from its start for every tile of it.
  const auto tiles = static_cast<double>(tiles_in(group));
  const bool by_tile =
      !source_.store().codec().sequential && load.widest_sparse * tiles < load.area;
  if (by_tile) {
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

void Retiler::put_by_tile(const Group& group) {
  parallel_in_order(tiles_in(group), source_.threads(),
                    [&](std::uint64_t i, unsigned worker, Turn& turn) {
                      const Region tile = tile_of(group, i);
                      const std::size_t row_bytes = source_.packed_row(tile.cols);
                      const auto memory = buffer(worker, tile.rows.size() * row_bytes);
                      source_.read_packed(tile, memory.data());
                      put_cells(tile, memory.data(), row_bytes, turn);
                    });
}

/// Where the column strips of a group lie in a buffer. Those of a matrix share rows, so that the
/// whole group is read in one go; those of a frame, each of one type, follow each other.
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

/// Reads the group once, then hands its tiles to the writer.
void Retiler::put_from_buffer(const Group& group, const Region& cells) {
  const std::vector<Place> places = places_of(group, cells);
  const auto memory =
      buffer(0, cells.rows.size() * source_.packed_row(cells.cols) + places.size() * kPlaceAlign);
  read_to_places(group, cells, places, memory.data());
  parallel_in_order(tiles_in(group), source_.threads(), [&](std::uint64_t i, unsigned, Turn& turn) {
    const Region tile = tile_of(group, i);
    const Place& place = places[i % group.strips.size()];
    const std::byte* first =
        memory.data() + place.offset + (tile.rows.begin - cells.rows.begin) * place.row_bytes;
    put_cells(tile, first, place.row_bytes, turn);
  });
}

void Retiler::GroupRows::clear() {
  row_idx.clear();
  row_ptr.assign(1, 0);
  col_idx.clear();
  values.clear();
}

void Retiler::GroupRows::append(const SourceRows& band) {
  const std::uint64_t base = col_idx.size();
  for (std::uint64_t row = 0; row < band.rows.size(); ++row) {
    if (band.row_ptr[row + 1] == band.row_ptr[row]) continue;
    row_idx.push_back(band.rows.begin + row);
    row_ptr.push_back(base + band.row_ptr[row + 1]);
  }
  const std::uint64_t count = band.entries();
  col_idx.insert(col_idx.end(), band.col_idx.data(), band.col_idx.data() + count);
  values.insert(values.end(), band.values.data(), band.values.data() + count * size_of(band.type));
}

/// Reads the rows of the group once, then hands its tiles to the writer. False, and nothing was
/// put, when they turn out to have too many entries for a group of several tiles.
bool Retiler::put_rows(const Group& group, const Region& cells) {
  struct TooMany {};
  rows_.clear();
  try {
    source_.for_each_band(cells, {}, [&](const SourceRows& band, unsigned, Turn& turn) {
      turn.take([&] {
        rows_type_ = band.type;
        rows_.append(band);
        if (tiles_in(group) > 1 && rows_.col_idx.size() > 2 * kGroupEntries) throw TooMany();
      });
    });
  } catch (const TooMany&) {
    return false;
  }
  parallel_in_order(tiles_in(group), source_.threads(),
                    [&](std::uint64_t i, unsigned worker, Turn& turn) {
                      const Region tile = tile_of(group, i);
                      const CsrCells rows = rows_of(tile, cells, tile_rows_of_[worker]);
                      if (rows.stored() == 0 && !put_all_) return;
                      writer_.put({first_row_ + tile.rows.begin, tile.cols.begin}, rows, &turn);
                    });
  return true;
}

/// What a tile has of the rows of its group, whose cells are `group`.
CsrCells Retiler::rows_of(const Region& tile, const Region& group, TileRows& rows) const {
  const auto at = [&](std::uint64_t row) {
    return static_cast<std::uint64_t>(
        std::lower_bound(rows_.row_idx.begin(), rows_.row_idx.end(), row) - rows_.row_idx.begin());
  };
  const std::uint64_t begin = at(tile.rows.begin), end = at(tile.rows.end);
  const std::uint64_t most = rows_.row_ptr[end] - rows_.row_ptr[begin];
  const ValueType type = source_.schema().type_of(tile.cols.begin);
  const std::size_t size = size_of(type), step = size_of(rows_type_);
  rows.row_ptr.reset(end - begin + 1);
  rows.row_idx.reset(end - begin + 1);  // never none, which would mean all rows
  rows.col_idx.reset(most);
  rows.values.reset(most * size);
  const bool whole = tile.cols == group.cols;
  std::uint32_t listed = 0;
  std::uint64_t k = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint64_t* first = rows_.col_idx.data() + rows_.row_ptr[i];
    const std::uint64_t* last = rows_.col_idx.data() + rows_.row_ptr[i + 1];
    if (!whole) {
      first = std::lower_bound(first, last, tile.cols.begin);
      last = std::lower_bound(first, last, tile.cols.end);
      if (first == last) continue;
    }
    rows.row_ptr[listed] = k;
    rows.row_idx[listed++] = static_cast<std::uint32_t>(rows_.row_idx[i] - tile.rows.begin);
    const std::byte* value = rows_.values.data() + (first - rows_.col_idx.data()) * step;
    for (; first != last; ++first, ++k, value += step) {
      rows.col_idx[k] = static_cast<std::uint32_t>(*first - tile.cols.begin);
      std::memcpy(rows.values.data() + k * size, value, size);
    }
  }
  rows.row_ptr[listed] = k;
  const TileShape shape = shape_of(tile);
  const bool all = listed == shape.rows;
  return {rows.row_ptr.data(),
          rows.col_idx.data(),
          rows.values.data(),
          type,
          shape.rows,
          shape.cols,
          all ? nullptr : rows.row_idx.data(),
          listed};
}

/// True when the columns are of one value type.
bool is_uniform(const Schema& schema) {
  for (const Column& column : schema.columns) {
    if (column.value_type != schema.columns.front().value_type) return false;
  }
  return true;
}

}  // namespace

TileShape natural_tile(const Source& source) {
  TileShape tile = default_tile(source.rows(), source.cols());
  if (source.rows() == 0 || source.cols() == 0 || !is_uniform(source.schema())) return tile;
  const Source::Load load = source.load({{0, source.rows()}, {0, source.cols()}});
  const double tile_area = static_cast<double>(tile.rows) * tile.cols;
  const double stored = load.stored / load.area * tile_area;
  if (load.stored >= load.area * kSparse || stored >= kStoredPerTile) return tile;
  const auto grown = [](std::uint32_t side, std::uint64_t whole, double factor) {
    const double bound = std::min(static_cast<double>(whole), kMostSide);
    return static_cast<std::uint32_t>(std::clamp(side * factor, 1.0, bound));
  };
  const double factor = std::sqrt(kStoredPerTile / std::max(stored, 1.0 / kMostSide));
  return {grown(tile.rows, source.rows(), factor), grown(tile.cols, source.cols(), factor)};
}

void retile(const Source& source, BlockWriter& writer, KindChoice kind, std::uint64_t first_row) {
  Retiler(source, writer, kind, first_row).run();
}

WriteSummary write_dbdf(const Source& source, const std::filesystem::path& path,
                        const ConvertOptions& options) {
  WriteOptions write = options.write;
  if (!write.tile && write.kind != KindChoice::dense) write.tile = natural_tile(source);
  BlockWriter writer(path, source.schema(), write);
  retile(source, writer, write.kind);
  return writer.finish();
}

}  // namespace dapple::detail::dbdf
