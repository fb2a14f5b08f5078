#include "lib/dbdf/index_block.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lib/dbdf/header.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint32_t kIndexVersion = 1;
constexpr std::uint32_t kOrdered = 1, kHints = 4, kNames = 8;  // flags
constexpr std::uint32_t kIgnored = 2;                          // set by 0.1 and 0.2
constexpr std::uint32_t kFlags = kOrdered | kIgnored | kHints | kNames;

using Line = std::array<std::byte, kLine>;

// Bytes of file order and cover tree, without the fill of their last line. False on overflow.
bool middle_bytes(std::uint64_t count, bool ordered, std::uint64_t tree_words,
                  std::uint64_t& bytes) {
  return multiply(ordered ? count : 0, 8, bytes) && tree_words < (std::uint64_t{1} << 60) &&
         !__builtin_add_overflow(bytes, 8 * tree_words, &bytes) && bytes <= ~std::uint64_t{127};
}

Line make_head(const BlockCounts& counts, std::uint64_t header_hash) {
  Line line{};
  std::memcpy(line.data() + head_at::tag, kIndexTag, kTag);
  store_le(line.data() + head_at::empty, counts.empty);
  store_le(line.data() + head_at::dense, counts.dense);
  store_le(line.data() + head_at::csr, counts.csr);
  store_le(line.data() + head_at::coo, counts.coo);
  store_le(line.data() + head_at::stored, counts.stored);
  store_le(line.data() + head_at::hash, xxh3({line.data(), head_at::hash}));
  store_le(line.data() + head_at::header, header_hash);
  return line;
}

std::uint64_t trailer_hash(const std::byte* trailer, std::uint64_t file_size) {
  return xxh3({trailer, trailer_at::hash}, file_size);
}

/// Of file order and tree, with the fill of their last line.
std::uint64_t order_and_tree_bytes(const BlockIndex& index) {
  return round_up(8 * (index.file_order().size() + index.tree().size()), kLine);
}

Line make_trailer(const BlockIndex& index, std::uint64_t file_size, std::uint64_t table_hash,
                  Hints hints, std::uint64_t head_copy) {
  // Readers of all versions count the copy among the words of a tree, which leads nowhere there.
  const std::uint64_t words =
      head_copy == 0 ? index.tree().size()
                     : (order_and_tree_bytes(index) + head_copy) / 8 - index.file_order().size();
  const TileShape tile = index.grid() ? index.grid()->tile : TileShape{};
  Line line{};
  std::byte* p = line.data();
  store_le(p + trailer_at::table_hash, table_hash);
  store_le(p + trailer_at::bytes, index_bytes(index) + head_copy);
  store_le(p + trailer_at::count, index.size());
  store_le(p + trailer_at::tree_words, words);
  store_le(p + trailer_at::tile_rows, tile.rows);
  store_le(p + trailer_at::tile_cols, tile.cols);
  store_le(p + trailer_at::version, kIndexVersion);
  store_le(p + trailer_at::flags, (index.file_order().empty() ? 0 : kOrdered) |
                                      (hints == Hints::none ? 0 : kHints) |
                                      (hints == Hints::with_names ? kNames : 0));
  store_le(p + trailer_at::hash, trailer_hash(p, file_size));
  std::memcpy(p + trailer_at::magic, kIndexEnd, 8);
  return line;
}

}  // namespace

std::uint64_t index_bytes(const BlockIndex& index) {
  return kLine + index.size() * Entry::kBytes + order_and_tree_bytes(index) + kLine;
}

std::array<std::byte, kLine> index_head(const BlockIndex& index, std::uint64_t header_hash) {
  return make_head(index.counts(), header_hash);
}

std::uint64_t emit_table(const BlockIndex& index, std::uint64_t header_hash,
                         const std::function<void(std::span<const std::byte>)>& put,
                         std::span<const std::byte> head_copy) {
  Xxh3 table_hash;
  const auto add = [&](std::span<const std::byte> bytes) {
    table_hash.add(bytes);
    put(bytes);
  };
  add(index_head(index, header_hash));
  add(index.entry_bytes());
  add(std::as_bytes(index.file_order()));
  add(std::as_bytes(index.tree()));
  const std::uint64_t words = 8 * (index.file_order().size() + index.tree().size());
  add(std::span<const std::byte>(Line{}).first(order_and_tree_bytes(index) - words));
  add(head_copy);
  return table_hash.value();
}

void emit_index(const BlockIndex& index, std::uint64_t header_hash, std::uint64_t file_size,
                Hints hints, const std::function<void(std::span<const std::byte>)>& put,
                std::span<const std::byte> head_copy) {
  const std::uint64_t hash = emit_table(index, header_hash, put, head_copy);
  put(make_trailer(index, file_size, hash, hints, head_copy.size()));
}

namespace {

// REQUIRES a file of at least one line.
const std::byte* last_line(const ByteSource& file) { return file.at(file.size() - kLine, kLine); }

}  // namespace

bool ends_in_tag(const ByteSource& file) {
  return file.size() >= kLine &&
         std::memcmp(last_line(file) + trailer_at::magic, kIndexEnd, kTag) == 0;
}

std::optional<Trailer> find_trailer(const ByteSource& file, std::uint64_t first) {
  if (!ends_in_tag(file)) return std::nullopt;
  const std::byte* p = last_line(file);
  if (load_le<std::uint64_t>(p + trailer_at::hash) != trailer_hash(p, file.size()) ||
      load_le<std::uint32_t>(p + trailer_at::version) != kIndexVersion) {
    return std::nullopt;
  }
  Trailer trailer;
  BlockIndex::Place& place = trailer.place;
  const auto bytes = load_le<std::uint64_t>(p + trailer_at::bytes);
  place.count = load_le<std::uint64_t>(p + trailer_at::count);
  place.tree_words = load_le<std::uint64_t>(p + trailer_at::tree_words);
  const auto flags = load_le<std::uint32_t>(p + trailer_at::flags);
  if ((flags & ~kFlags) != 0 || (flags & (kHints | kNames)) == kNames) return std::nullopt;
  place.ordered = (flags & kOrdered) != 0;
  std::uint64_t middle, entries;
  if (!middle_bytes(place.count, place.ordered, place.tree_words, middle) ||
      !multiply(place.count, Entry::kBytes, entries) || first > file.size() ||
      bytes > file.size() - first || bytes < 2 * kLine || entries > bytes - 2 * kLine ||
      round_up(middle, kLine) != bytes - 2 * kLine - entries) {
    return std::nullopt;
  }
  trailer.payload = file.size() - bytes;
  trailer.hints = (flags & kHints) != 0;
  trailer.names = trailer.hints && (flags & kNames) != 0;
  trailer.table_hash = load_le<std::uint64_t>(p + trailer_at::table_hash);
  place.hash = trailer.table_hash;
  place.entries = trailer.payload + kLine;
  const TileShape tile{load_le<std::uint32_t>(p + trailer_at::tile_rows),
                       load_le<std::uint32_t>(p + trailer_at::tile_cols)};
  if (tile.rows != 0 && tile.cols != 0) place.grid = Grid{0, 0, tile};
  return trailer;
}

bool complete(BlockIndex::Place& place, std::uint64_t rows, std::uint64_t cols) {
  place.object = {{0, rows}, {0, cols}};
  if (!place.grid) return true;
  if (rows == 0 || cols == 0) return false;
  Grid& grid = *place.grid;
  grid.rows = (rows - 1) / grid.tile.rows + 1;
  grid.cols = (cols - 1) / grid.tile.cols + 1;
  std::uint64_t tiles;
  return multiply(grid.rows, grid.cols, tiles) && tiles == place.count;
}

BlockIndex index_at(std::shared_ptr<const ByteSource> file, const Trailer& trailer,
                    IndexOrigin origin) {
  BlockIndex::Place place = trailer.place;
  file->expect_single_looks(trailer.payload, file->size() - trailer.payload);
  place.origin = origin;
  return BlockIndex::in_place(std::move(file), place);
}

bool is_whole(const ByteSource& file, const Trailer& trailer) {
  const std::uint64_t bytes = file.size() - kLine - trailer.payload;
  file.expect_reads();
  file.will_need(trailer.payload, bytes);
  return xxh3(file.bytes(trailer.payload, bytes)) == trailer.table_hash;
}

std::uint64_t header_hash(const ByteSource& file, const Trailer& trailer) {
  return load_le<std::uint64_t>(file.at(trailer.payload + head_at::header, 8));
}

bool knows_header(const ByteSource& file, std::uint64_t body, const Trailer& trailer) {
  const std::uint64_t hash = header_hash(file, trailer);
  return hash == 0 || hash == xxh3(file.bytes(0, body));
}

std::optional<std::array<std::byte, kMatrixHeader>> header_from_index(const ByteSource& file) {
  if (file.size() <= kEndFetched) return std::nullopt;
  const auto trailer = find_trailer(file, kMatrixHeader);
  if (!trailer || !trailer->place.grid || trailer->place.count == 0 ||
      trailer->payload < file.size() - kEndFetched) {
    return std::nullopt;
  }
  const std::uint64_t wanted = header_hash(file, *trailer);
  const Entry last = load_entry(
      file.at(trailer->place.entries + (trailer->place.count - 1) * Entry::kBytes, Entry::kBytes));
  std::array<std::byte, kMatrixHeader> header{};
  header[0] = std::byte{kVersion};
  store_le(header.data() + 2, last.pos.rx + last.rows);
  store_le(header.data() + 10, last.pos.cx + last.cols);
  for (const DataType kind : {DataType::dense_matrix, DataType::csr_matrix}) {
    header[1] = static_cast<std::byte>(kind);
    for (std::uint8_t code = 1; value_type_of_code(code); ++code) {
      header[kHeaderStart] = std::byte{code};
      if (xxh3(header) == wanted) return header;
    }
  }
  return std::nullopt;
}

Error header_error(const ByteSource& file) {
  return Error(Errc::corrupt, file.name(), 0,
               "the file header does not match the hash that the index has of it");
}

}  // namespace dapple::detail::dbdf
