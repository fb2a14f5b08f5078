#include "lib/foreign/zarr/array_data.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "lib/base/at_once.h"
#include "lib/base/bytes.h"
#include "lib/base/half.h"
#include "lib/cache/block_cache.h"
#include "lib/codec/crc32c.h"

namespace dapple::detail::zarr {

namespace {

constexpr std::uint64_t kMissing = ~std::uint64_t{0};  // both halves of a place of no chunk
constexpr std::size_t kCrcBytes = 4, kPlaceBytes = 16;

/// The number of a place in row-major order. REQUIRES that there is one.
std::uint64_t number_of(const Extents& place, const Extents& counts) {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < place.size(); ++d) number = number * counts[d] + place[d];
  return number;
}

std::uint64_t divide_up(std::uint64_t n, std::uint64_t by) {
  return n / by + (n % by != 0 ? 1 : 0);
}

Array<std::byte> read_part(const ByteSource& file, std::uint64_t offset, std::uint64_t n) {
  Array<std::byte> bytes(static_cast<std::size_t>(n));
  file.read_at(offset, {bytes.data(), bytes.size()});
  return bytes;
}

template <class T>
void swap_all(std::byte* p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) store_le(p + i * sizeof(T), load_be<T>(p + i * sizeof(T)));
}

}  // namespace

ArrayData::ArrayData(std::shared_ptr<const Keys> keys, std::string path, ArrayMetadata metadata,
                     Slice slice)
    : keys_(std::move(keys)),
      path_(std::move(path)),
      metadata_(std::move(metadata)),
      slice_(std::move(slice)) {
  const std::uint64_t down = divide_up(rows(), chunk_rows());
  chunks_across_ = divide_up(cols(), chunk_cols());
  std::uint64_t count = 0;
  if (!multiply(down, chunks_across_, count)) {
    throw Error(Errc::unsupported, keys_->shown(path_), std::nullopt,
                "an array of " + extents_text(metadata_.shape) + " cells has too many chunks");
  }
  const std::size_t size = size_of(type());
  std::vector<std::size_t> steps(metadata_.shape.size());
  std::size_t step = size;
  for (std::size_t i = metadata_.chain.order.size(); i-- > 0;) {
    const std::size_t d = metadata_.chain.order[i];
    steps[d] = step;
    step *= metadata_.chunk[d];
  }
  for (std::size_t d = 0; d < steps.size(); ++d) {
    if (d != slice_.rows && d != slice_.cols)
      first_ += slice_.index[d] % metadata_.chunk[d] * steps[d];
  }
  row_step_ = steps[slice_.rows];
  col_step_ = slice_.cols == Slice::kNone ? size : steps[slice_.cols];
}

ArrayData::~ArrayData() {
  block_cache().forget(number_);
  block_cache().forget(index_number_);
}

void ArrayData::fail(const std::string& key, const std::string& what) const {
  throw Error(Errc::corrupt, keys_->shown(key), std::nullopt, what);
}

/// Where chunk (i, j) of the slice is in the grid of the array.
Extents ArrayData::place_of(std::uint64_t i, std::uint64_t j) const {
  Extents place(metadata_.shape.size());
  for (std::size_t d = 0; d < place.size(); ++d) {
    place[d] = d == slice_.rows ? i : d == slice_.cols ? j : slice_.index[d] / metadata_.chunk[d];
  }
  return place;
}

std::string ArrayData::key_of(const Extents& place) const {
  std::string name = metadata_.prefix;
  for (std::size_t d = 0; d < place.size(); ++d) {
    if (d > 0) name += metadata_.separator;
    name += std::to_string(place[d]);
  }
  return below(path_, name);
}

std::optional<Cells> ArrayData::chunk(std::uint64_t i, std::uint64_t j, bool kept) const {
  const BlockCache::Key key{number_, i * chunks_across_ + j};
  Cached found;
  if (kept) {
    found = block_cache().get(key, [&]() -> Cached {
      auto cells = load(i, j);
      if (cells == nullptr) cells = std::make_shared<const Bytes>();  // it is known not to be there
      const std::size_t size = sizeof(Bytes) + cells->size();
      return {std::move(cells), size};
    });
  } else {
    found = block_cache().find(key);
    if (found.value == nullptr) found.value = load(i, j);
  }
  const auto* const bytes = static_cast<const Bytes*>(found.value.get());
  if (bytes == nullptr || bytes->size() == 0) return std::nullopt;
  return Cells{std::move(found.value), bytes->data() + first_, row_step_, col_step_};
}

void ArrayData::will_need(std::span<const ChunkPlace> chunks) const noexcept {
  // Of larger chunks, few would stay in the cache until they are used.
  constexpr std::uint64_t kMost = 8 << 20;
  if (!fetches() || chunks.size() < 2 || metadata_.items() > kMost / metadata_.type.size) return;
  try {
    at_once(chunks.size(), [&](std::uint64_t k) {
      try {
        chunk(chunks[k].i, chunks[k].j, true);
      } catch (const std::exception&) {  // whoever needs it asks again, and gets the error
      }
    });
  } catch (const std::exception&) {  // no memory
  }
}

/// What a chunk holds, and its key; nothing when it is not stored.
std::optional<ArrayData::Bytes> ArrayData::unpacked(ChunkPlace chunk, std::string& key) const {
  const Extents place = place_of(chunk.i, chunk.j);
  auto bytes = metadata_.shards ? shard_part(place, key) : stored_chunk(place, key);
  if (bytes) undo_steps(*bytes, key);
  return bytes;
}

/// The cells of a chunk in the order in which they are stored; null when it is not stored.
std::shared_ptr<const ArrayData::Bytes> ArrayData::load(std::uint64_t i, std::uint64_t j) const {
  std::string key;
  auto bytes = unpacked({i, j}, key);
  if (!bytes) return nullptr;
  const std::uint64_t wanted = metadata_.items() * metadata_.type.size;
  if (bytes->size() != wanted) {
    fail(key, "a chunk of " + extents_text(metadata_.chunk) + " cells takes " +
                  counted(wanted, "byte") + ", not " + std::to_string(bytes->size()));
  }
  undo_types(*bytes);
  return std::make_shared<const Bytes>(std::move(*bytes));
}

std::optional<ArrayData::Bytes> ArrayData::stored_chunk(const Extents& place,
                                                        std::string& key) const {
  key = key_of(place);
  const auto file = keys_->open(key, metadata_.items() * metadata_.type.size + kCrcBytes);
  if (file == nullptr) return std::nullopt;
  return read_part(*file, 0, file->size());
}

std::optional<ArrayData::Bytes> ArrayData::shard_part(const Extents& place,
                                                      std::string& key) const {
  const Extents& shape = metadata_.shards->chunk;
  Extents shard(place.size()), inside(place.size()), counts(place.size());
  for (std::size_t d = 0; d < place.size(); ++d) {
    counts[d] = shape[d] / metadata_.chunk[d];
    shard[d] = place[d] / counts[d];
    inside[d] = place[d] % counts[d];
  }
  key = key_of(shard);
  const auto open = open_shard(shard, key);
  if (open->file == nullptr) return std::nullopt;
  const Place found = open->index[number_of(inside, counts)];
  if (found.offset == kMissing) return std::nullopt;
  return read_part(*open->file, found.offset, found.bytes);
}

/// A shard and where its chunks are, opened once.
std::shared_ptr<const ArrayData::OpenShard> ArrayData::open_shard(const Extents& shard,
                                                                  const std::string& key) const {
  constexpr std::size_t kOpen = 1 << 20;  // so that the cache holds some hundreds
  const std::uint64_t i = shard[slice_.rows];
  const std::uint64_t j = slice_.cols == Slice::kNone ? 0 : shard[slice_.cols];
  const Cached kept = block_cache().get({index_number_, i * chunks_across_ + j}, [&]() -> Cached {
    auto open = std::make_shared<OpenShard>();
    open->file = keys_->open(key, 0);
    if (open->file != nullptr) open->index = read_index(key, *open->file);
    const std::size_t size = kOpen + open->index.size() * sizeof(Place);
    return {std::move(open), size};
  });
  return std::static_pointer_cast<const OpenShard>(kept.value);
}

ArrayData::ShardIndex ArrayData::read_index(const std::string& key, const ByteSource& file) const {
  const Shards& shards = *metadata_.shards;
  std::uint64_t count = 1;
  for (std::size_t d = 0; d < shards.chunk.size(); ++d)
    count *= shards.chunk[d] / metadata_.chunk[d];
  const std::uint64_t places = count * kPlaceBytes;  // no more than a shard has bytes, times 16
  const std::uint64_t size = places + (shards.index_has_crc ? kCrcBytes : 0);
  if (size > file.size()) {
    fail(key, "the index of " + counted(count, "chunk") + " takes " + counted(size, "byte") +
                  ", but the shard has " + std::to_string(file.size()));
  }
  const Bytes bytes = read_part(file, shards.index_first ? 0 : file.size() - size, size);
  if (shards.index_has_crc && crc32c({bytes.data(), static_cast<std::size_t>(places)}) !=
                                  load_le<std::uint32_t>(bytes.data() + places)) {
    fail(key, "the index of the shard does not match its CRC-32C");
  }
  ShardIndex index;
  index.reserve(static_cast<std::size_t>(count));
  for (const std::byte* p = bytes.data(); index.size() < count; p += kPlaceBytes) {
    index.push_back({load_le<std::uint64_t>(p), load_le<std::uint64_t>(p + 8)});
  }
  const Range room = shards.index_first ? Range{size, file.size()} : Range{0, file.size() - size};
  check_overlap(key, index, room);
  return index;
}

/// Throws corrupt unless all chunks are inside `room`, each in bytes of its own.
void ArrayData::check_overlap(const std::string& key, const ShardIndex& index, Range room) const {
  ShardIndex sorted;
  for (const Place& place : index) {
    if (place.offset == kMissing && place.bytes == kMissing) continue;
    if (place.offset < room.begin || place.offset > room.end ||
        place.bytes > room.end - place.offset) {
      fail(key, "the index of the shard points to " + counted(place.bytes, "byte") + " at byte " +
                    std::to_string(place.offset) + ", outside of its chunks");
    }
    sorted.push_back(place);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Place& a, const Place& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].offset - sorted[i - 1].offset < sorted[i - 1].bytes) {
      fail(key, "two chunks of the shard overlap at byte " + std::to_string(sorted[i].offset));
    }
  }
}

/// Undoes the codecs from bytes to bytes.
void ArrayData::undo_steps(Bytes& bytes, const std::string& key) const {
  // What comes between two codecs may be longer than the cells, but not by much.
  constexpr std::uint64_t kSlack = 1 << 20;
  constexpr std::uint64_t kMostWords = std::uint64_t{1} << 31;
  const std::uint64_t size = metadata_.items() * metadata_.type.size;
  for (std::size_t i = metadata_.chain.steps.size(); i-- > 0;) {
    const auto& step = metadata_.chain.steps[i];
    if (step) {
      Length length{size, i == 0 ? size : size + size / 8 + kSlack};
      if (metadata_.type.words) length = {4 * std::uint64_t{bytes.size()}, kMostWords};
      Bytes unpacked;
      const std::string wrong =
          unpacker_.unpack(*step, {bytes.data(), bytes.size()}, length, unpacked);
      if (!wrong.empty()) fail(key, wrong);
      bytes.swap(unpacked);
      continue;
    }
    if (bytes.size() < kCrcBytes) fail(key, "the chunk is too short for its CRC-32C");
    const std::size_t left = bytes.size() - kCrcBytes;
    if (crc32c({bytes.data(), left}) != load_le<std::uint32_t>(bytes.data() + left)) {
      fail(key, "the chunk does not match its CRC-32C");
    }
    bytes.shorten(left);
  }
}

/// Makes stored cells those that are read: in the machine's byte order, without half floats.
void ArrayData::undo_types(Bytes& bytes) const {
  const CellType& type = metadata_.type;
  const std::size_t items = bytes.size() / type.size;
  if (metadata_.chain.big_endian) {
    if (type.size == 2) swap_all<std::uint16_t>(bytes.data(), items);
    if (type.size == 4) swap_all<std::uint32_t>(bytes.data(), items);
    if (type.size == 8) swap_all<std::uint64_t>(bytes.data(), items);
  }
  if (!type.half) return;
  Bytes wide(items * sizeof(float));
  for (std::size_t i = 0; i < items; ++i) {
    store_le(wide.data() + i * sizeof(float),
             half_to_float(load_le<std::uint16_t>(bytes.data() + 2 * i)));
  }
  bytes.swap(wide);
}

void ArrayData::read(Range items, std::byte* out) const {
  const std::size_t size = size_of(type());
  const std::uint64_t step = chunk_rows();
  std::vector<ChunkPlace> ahead;
  for (std::uint64_t at = items.begin; at < items.end;) {
    if (ahead.empty() && fetches()) {
      for (std::uint64_t i = at / step; i <= (items.end - 1) / step && ahead.size() < kAtOnce;
           ++i) {
        ahead.push_back({i, 0});
      }
      will_need(ahead);
    }
    const std::uint64_t i = at / step,
                        end = std::min(items.end, i * step + std::min(step, rows() - i * step));
    const bool whole = at == i * step && end - at == std::min(step, rows() - at);
    const auto cells = chunk(i, 0, !whole);
    std::byte* const to = out + (at - items.begin) * size;
    if (cells) {
      std::memcpy(to, cells->first + (at - i * step) * size, (end - at) * size);
    } else {
      for (std::uint64_t k = 0; k < end - at; ++k)
        std::memcpy(to + k * size, metadata_.fill.data(), size);
    }
    at = end;
    if (!ahead.empty() && i == ahead.back().i) ahead.clear();
  }
}

void ArrayData::read_words(const std::function<void(std::string_view)>& take) const {
  const std::uint64_t chunks = divide_up(rows(), chunk_rows()), step = fetches() ? kAtOnce : 1;
  for (std::uint64_t first = 0; first < chunks; first += step) {
    const auto n = static_cast<std::size_t>(std::min(step, chunks - first));
    std::vector<std::optional<Bytes>> found(n);
    std::vector<std::string> keys(n);
    at_once(n, [&](std::uint64_t k) { found[k] = unpacked({first + k, 0}, keys[k]); });
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t wanted = std::min(chunk_rows(), rows() - (first + k) * chunk_rows());
      if (found[k]) {
        take_words(*found[k], wanted, keys[k], take);
      } else {
        for (std::uint64_t i = 0; i < wanted; ++i) take(metadata_.fill_word);
      }
    }
  }
}

/// The first `wanted` strings of a chunk.
void ArrayData::take_words(const Bytes& chunk, std::uint64_t wanted, const std::string& key,
                           const std::function<void(std::string_view)>& take) const {
  ByteReader in({chunk.data(), chunk.size()}, 0, keys_->shown(key));
  const auto count = in.le<std::uint32_t>("the number of strings");
  if (count < wanted)
    fail(key, counted(count, "string") + " are fewer than a chunk's " + std::to_string(wanted));
  for (std::uint64_t k = 0; k < wanted; ++k) {
    const auto text = in.take(in.le<std::uint32_t>("the length of a string"), "a string");
    take({reinterpret_cast<const char*>(text.data()), text.size()});
  }
}

std::shared_ptr<const ArrayData> open_vector(const Hierarchy& hierarchy, const std::string& path) {
  auto node = hierarchy.find(path);
  if (!node || !node->is_array) {
    throw Error(Errc::corrupt, hierarchy.keys()->shown(path), std::nullopt,
                "there is no array of this name");
  }
  ArrayMetadata metadata = parse_array(node->metadata, node->key);
  if (metadata.shape.size() != 1) {
    throw Error(Errc::corrupt, node->key, std::nullopt,
                "this should have one dimension, not " + std::to_string(metadata.shape.size()));
  }
  Slice slice{{0}, 0, Slice::kNone};
  return std::make_shared<const ArrayData>(hierarchy.keys(), path, std::move(metadata),
                                           std::move(slice));
}

}  // namespace dapple::detail::zarr
