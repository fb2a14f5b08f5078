#include "lib/dbdf/write/item_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/codec/codecs.h"
#include "lib/codec/packed/packed_block.h"
#include "lib/dbdf/head_copy.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/statistics.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kPaddingHeader = kPosition + kDenseHeader;

template <class F>
void in_turn(Turn* turn, const F& f) {
  if (turn != nullptr) {
    turn->take(f);
  } else {
    f();
  }
}

std::span<const std::byte> bytes_of(const iovec& part) {
  return {static_cast<const std::byte*>(part.iov_base), part.iov_len};
}

iovec part_of(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

std::uint64_t hash_of(std::span<const iovec> parts) {
  if (parts.size() == 1) return xxh3(bytes_of(parts.front()));
  Xxh3 hash;
  for (const iovec& part : parts) hash.add(bytes_of(part));
  return hash.value();
}

// The size of the padding block that aligns the dense payload of an item at `item`.
std::uint64_t padding_in_front_of(std::uint64_t item, std::uint64_t align) {
  const std::uint64_t payload = item + kPaddingHeader;
  std::uint64_t gap = round_up(payload, align) - payload;
  while (gap != 0 && gap < kPaddingHeader + kTag) gap += align;
  return gap;
}

void put_padding(std::uint64_t bytes, PieceBuffer& out) {
  Entry padding;
  padding.pos = kAuxiliaryPos;
  padding.rows = 1;
  padding.cols = static_cast<std::uint32_t>(bytes - kPaddingHeader);
  padding.kind = BlockKind::dense;
  emit_item_header(out.claim(kPaddingHeader), padding);
  std::memcpy(out.claim(kTag), kPaddingTag, kTag);
  out.put_zeros(bytes - kPaddingHeader - kTag);
}

}  // namespace

ItemFile::ItemFile(OutputFile file, const WriteOptions& options, std::span<const std::byte> header,
                   KeepStats stats)
    : file_(std::move(file)),
      align_(options.plain ? 1 : options.align),
      pack_(options.pack),
      keeps_stats_(stats == KeepStats::yes),
      write_([this](std::uint64_t offset, auto piece) { file_.write_at(offset, piece); }) {
  if (options.sync) file_.expect_sync();
  tail_.start(0, write_);
  tail_.put(header);
}

// A caller may continue after an error, but a file with a hole must never be published.
template <class F>
void ItemFile::attempt(const F& f) {
  struct Busy {
    std::atomic<unsigned>& threads;
    explicit Busy(std::atomic<unsigned>& t) : threads(t) { ++threads; }
    ~Busy() { --threads; }
  };
  const Busy busy(busy_);
  try {
    f();
  } catch (...) {
    failed_ = true;
    throw;
  }
}

void ItemFile::take_over(const ByteSource& from, std::uint64_t body, EntryTable blocks,
                         std::vector<BlockStats> stats) {
  attempt([&] {
    std::uint64_t end = body;
    for (std::uint64_t i = 0; i < blocks.size(); ++i) {
      end = std::max(end, blocks[i].offset + blocks[i].bytes);
    }
    tail_.flush();
    file_.take_over(from, body, end);
    tail_.start(end, write_);
    entries_ = std::move(blocks);
    if (keeps_stats_) stats_ = std::move(stats);
  });
}

void ItemFile::put(Entry entry, const BlockStats& stats, std::span<const std::byte> item,
                   Turn* turn) {
  const iovec part = part_of(item);
  put(entry, stats, {&part, 1}, turn);
}

void ItemFile::put(Entry entry, const BlockStats& stats, std::span<const iovec> parts, Turn* turn) {
  attempt([&] {
    const std::vector<std::byte> packed = pack(entry, parts);
    const iovec whole = part_of(packed);
    if (!packed.empty()) parts = {&whole, 1};
    if (goes_together(kPosition + entry.bytes)) {
      entry.hash = hash_of(parts);
      return in_turn(turn, [&] { append_small(entry, stats, parts); });
    }
    const Place place = reserve(entry, stats, turn);
    std::vector<iovec> unwritten(parts.begin(), parts.end());
    file_.write_at(place.offset, std::span<iovec>(unwritten));
    entry.hash = hash_of(parts);  // now they are in the cache
    set_entry(place, entry, stats);
  });
}

/// The item with its block packed, which `entry` describes from then on; empty if it stays plain.
std::vector<std::byte> ItemFile::pack(Entry& entry, std::span<const iovec> parts) const {
  // A reader makes all of a block, at most so much.
  if (pack_ == Packing::none || entry.codec != 0 || entry.bytes > kMostDecoded) return {};
  std::vector<std::byte> gathered;
  std::span<const std::byte> item = bytes_of(parts.front());
  if (parts.size() > 1) {
    gathered.reserve(kPosition + entry.bytes);
    for (const iovec& part : parts) {
      gathered.insert(gathered.end(), bytes_of(part).begin(), bytes_of(part).end());
    }
    item = gathered;
  }
  const packed::Shape shape{entry.kind, entry.value_type, entry.rows, entry.cols, entry.stored};
  const auto effort = pack_ == Packing::fast ? packed::Effort::fast : packed::Effort::small;
  const std::vector<std::byte> payload =
      packed::encode(shape, item.subspan(kPosition + header_size(entry)), effort);
  if (payload.empty()) return {};
  entry.codec = kPackedCodec;
  entry.bytes = kEncodedHeader + payload.size();
  std::vector<std::byte> packed(kPosition + entry.bytes);
  std::memcpy(packed.data() + emit_item_header(packed.data(), entry), payload.data(),
              payload.size());
  return packed;
}

void ItemFile::put_pieces(Entry entry, const BlockStats& stats, Turn* turn, PieceBuffer& buffer,
                          const std::function<void()>& make) {
  if (pack_ != Packing::none) {
    std::vector<std::byte> item;
    item.reserve(kPosition + entry.bytes);
    const TakePiece take = [&](std::uint64_t, std::span<const std::byte> piece) {
      item.insert(item.end(), piece.begin(), piece.end());
    };
    buffer.start(0, take);
    make();
    buffer.flush();
    return put(entry, stats, item, turn);
  }
  attempt([&] {
    const Place place = reserve(entry, stats, turn);
    file_.will_write(place.offset, kPosition + entry.bytes);
    Xxh3 hash;
    const TakePiece take = [&](std::uint64_t offset, std::span<const std::byte> piece) {
      hash.add(piece);
      file_.write_at(offset, piece);
    };
    buffer.start(place.offset, take);
    make();
    buffer.flush();
    entry.hash = hash.value();
    set_entry(place, entry, stats);
  });
}

void ItemFile::set_entry(const Place& place, const Entry& entry, const BlockStats& stats) {
  const std::lock_guard lock(mutex_);
  if (keeps_stats_) stats_[place.number] = stats;
  entries_.set(place.number, entry);
}

// Lists an item. REQUIRES the lock.
void ItemFile::list(const Entry& entry, const BlockStats& stats) {
  if (keeps_stats_) stats_.push_back(stats);
  entries_.push_back(entry);
}

// Appends a small item, to be written together with others.
void ItemFile::append_small(Entry& entry, const BlockStats& stats, std::span<const iovec> parts) {
  const std::lock_guard lock(mutex_);
  if (entry.kind == BlockKind::dense && entry.codec == 0) append_padding();
  entry.offset = tail_.offset() + kPosition;
  for (const iovec& part : parts) tail_.put(bytes_of(part));
  list(entry, stats);
}

// Reserves the place of an item after everything else.
ItemFile::Place ItemFile::reserve(Entry& entry, const BlockStats& stats, Turn* turn) {
  Place place{};
  in_turn(turn, [&] {
    const std::lock_guard lock(mutex_);
    if (entry.kind == BlockKind::dense && entry.codec == 0) append_padding();
    tail_.flush();
    place.offset = tail_.offset();
    place.number = entries_.size();
    entry.offset = place.offset + kPosition;
    tail_.start(entry.offset + entry.bytes, write_);
    list(entry, stats);
  });
  return place;
}

// Appends the padding that aligns the next dense payload.
void ItemFile::append_padding() {
  const std::uint64_t bytes = padding_in_front_of(tail_.offset(), align_);
  if (bytes == 0) return;
  constexpr std::uint64_t kAllowed = std::uint64_t{64} << 20, kFactor = 4;
  padding_ += bytes;
  if (padding_ > kAllowed &&
      (padding_ - kAllowed) / kFactor > tail_.offset() - (padding_ - bytes)) {
    throw Error(Errc::invalid_argument, name(), std::nullopt,
                "an alignment of " + std::to_string(align_) +
                    " would fill the file with padding: " + std::to_string(padding_ >> 20) +
                    " MiB for " + std::to_string((tail_.offset() - (padding_ - bytes)) >> 10) +
                    " KiB of blocks so far; choose larger tiles or a smaller alignment");
  }
  put_padding(bytes, tail_);
}

// The index is a dense u8 block of rows of 64 bytes, with its payload aligned to 64. Hints come
// right before it, so padding comes before the first of them.
void ItemFile::put_index(const BlockIndex& index, std::span<const std::byte> header,
                         HintWriter hints) {
  const std::uint64_t header_hash = xxh3(header);
  std::uint64_t gap = hints.gap_after(tail_.offset());
  while (gap != 0 && gap < kPaddingHeader + kTag) gap += kLine;
  if (gap != 0) put_padding(gap, tail_);
  const std::vector<std::byte> head_copy = emit_head_copy(index, header, hints, tail_.offset());
  bind_statistics(hints, index, header_hash, head_copy);
  hints.emit(tail_.offset(), [&](std::span<const std::byte> part) { tail_.put(part); });
  const std::uint64_t bytes = index_bytes(index) + head_copy.size();
  Entry block;
  block.pos = kAuxiliaryPos;
  block.kind = BlockKind::dense;
  if (bytes / kLine > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Errc::unsupported, name(), std::nullopt,
                std::to_string(index.size()) +
                    " blocks are too many for an index, which holds 2^32 - 3; choose larger tiles "
                    "or the plain layout");
  }
  block.rows = static_cast<std::uint32_t>(bytes / kLine);
  block.cols = kLine;
  emit_item_header(tail_.claim(kPaddingHeader), block);
  emit_index(
      index, header_hash, tail_.offset() + bytes, hints.kind(),
      [&](std::span<const std::byte> part) { tail_.put(part); }, head_copy);
}

void ItemFile::replace_header(std::span<const std::byte> header) {
  tail_.flush();
  file_.write_at(0, header);
}

void ItemFile::require_whole() const {
  if (!failed_) return;
  throw Error(Errc::io, name(), std::nullopt,
              "a block could not be written before, so the file is incomplete");
}

std::uint64_t ItemFile::publish(bool sync) {
  require_whole();
  tail_.flush();
  file_.publish(sync);
  return tail_.offset();
}

}  // namespace dapple::detail::dbdf
