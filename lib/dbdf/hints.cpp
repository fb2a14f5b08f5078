#include "lib/dbdf/hints.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "lib/base/bytes.h"
#include "lib/dbdf/columns.h"
#include "lib/dbdf/head_copy.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/statistics.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

/// Of a trailer's fields before the hash; the seed is the trailer's offset.
std::uint64_t hint_hash(const std::byte* trailer, std::uint64_t at) noexcept {
  return xxh3({trailer, hint_at::own_hash}, at);
}

}  // namespace

std::array<std::byte, kHintHeader> hint_header(std::uint64_t content) {
  Entry block;
  block.pos = kAuxiliaryPos;
  block.kind = BlockKind::dense;
  block.rows = static_cast<std::uint32_t>(hint_payload(content) / kLine);
  block.cols = kLine;
  std::array<std::byte, kHintHeader> header;
  emit_item_header(header.data(), block);
  return header;
}

std::vector<std::byte> hint_end(std::span<const std::byte> content, std::uint64_t offset,
                                bool more) {
  const std::uint64_t bytes = hint_payload(content.size());
  std::vector<std::byte> end(bytes - content.size());
  std::byte* const trailer = end.data() + end.size() - kHintTrailer;
  store_le(trailer + hint_at::bytes, std::uint64_t{content.size()});
  store_le(trailer + hint_at::hash, xxh3(content));
  std::memcpy(trailer + hint_at::tag, content.data(), kTag);
  store_le(trailer + hint_at::flags, more ? kMoreHints : 0);
  store_le(trailer + hint_at::own_hash, hint_hash(trailer, offset + bytes - kHintTrailer));
  return end;
}

void HintWriter::add_columns(std::vector<std::byte> content, ObjectKind of) {
  names_ = of == ObjectKind::matrix && !content.empty();
  add(std::move(content));
}

void HintWriter::add(std::vector<std::byte> content) {
  if (content.empty()) return;
  const std::uint64_t lines = hint_payload(content.size()) / kLine;
  if (lines > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Errc::unsupported, "the dictionaries of the columns take more than 256 GiB");
  }
  contents_.push_back(std::move(content));
}

std::span<std::byte> HintWriter::find(std::string_view tag) noexcept {
  for (std::vector<std::byte>& content : contents_) {
    if (std::memcmp(content.data(), tag.data(), kTag) == 0) return content;
  }
  return {};
}

std::uint64_t HintWriter::bytes() const noexcept {
  std::uint64_t all = 0;
  for (const auto& content : contents_) all += kHintHeader + hint_payload(content.size());
  return all;
}

std::uint64_t HintWriter::gap_after(std::uint64_t offset) const noexcept {
  // Payloads are whole lines, so each block shifts the next one by its header.
  const std::uint64_t end = offset + (contents_.size() + 1) * kHintHeader;
  return round_up(end, kLine) - end;
}

void HintWriter::emit(std::uint64_t offset,
                      const std::function<void(std::span<const std::byte>)>& put) const {
  bool more = false;
  for (const std::vector<std::byte>& content : contents_) {
    put(hint_header(content.size()));
    put(content);
    put(hint_end(content, offset + kHintHeader, more));
    offset += kHintHeader + hint_payload(content.size());
    more = true;
  }
}

void emit_index_apart(const BlockIndex& index, std::uint64_t header_hash, std::uint64_t size,
                      HintWriter hints,
                      const std::function<void(std::span<const std::byte>)>& put) {
  constexpr std::array<std::byte, kLine> kZeros{};
  const auto put_zeros = [&](std::uint64_t bytes) {
    put(std::span(kZeros).first(bytes));
    size += bytes;
  };
  bind_statistics(hints, index, header_hash);
  if (hints.empty()) {
    put_zeros(round_up(size, kLine) - size);
  } else {
    put_zeros(hints.gap_after(size));
    hints.emit(size, put);
    size += hints.bytes();
    put_zeros(kHintHeader);
  }
  emit_index(index, header_hash, size + index_bytes(index), hints.kind(), put);
}

namespace {

[[noreturn]] void fail_hints(const ByteSource& file, std::uint64_t end) {
  throw Error(Errc::corrupt, file.name(), end,
              "the hints before the index are damaged; repair the file to get rid of them");
}

/// True when the bytes from `p` to byte `end` of the file are the trailer of a hint.
bool is_hint_trailer(const std::byte* p, std::uint64_t end) noexcept {
  return load_le<std::uint64_t>(p + hint_at::own_hash) == hint_hash(p, end - kHintTrailer);
}

/// The trailer of the hint that ends at byte `end`, which has `room` bytes for its payload.
const std::byte* hint_trailer(const ByteSource& file, std::uint64_t end, std::uint64_t room) {
  if (room < kHintTrailer) fail_hints(file, end);
  const std::byte* const p = file.at(end - kHintTrailer, kHintTrailer);
  const auto bytes = load_le<std::uint64_t>(p + hint_at::bytes);
  if (!is_hint_trailer(p, end) || load_le<std::uint64_t>(p + hint_at::flags) > kMoreHints ||
      bytes < kTag || bytes > room - kHintTrailer || hint_payload(bytes) > room) {
    fail_hints(file, end);
  }
  return p;
}

/// What that trailer says.
Hint hint_of(const std::byte* trailer, std::uint64_t end) {
  const auto bytes = load_le<std::uint64_t>(trailer + hint_at::bytes);
  return {end - hint_payload(bytes), bytes, load_le<std::uint64_t>(trailer + hint_at::hash)};
}

}  // namespace

void for_each_hint(const ByteSource& file, std::uint64_t first, const Trailer& trailer,
                   const std::function<void(std::string_view, const Hint&)>& f) {
  bool more = trailer.hints;
  std::uint64_t end = trailer.payload - kHintHeader;  // where the block after the hint starts
  while (more) {
    const std::uint64_t room = end < first ? 0 : end - first;
    const std::byte* const p = hint_trailer(file, end, room - std::min(room, kHintHeader));
    const Hint hint = hint_of(p, end);
    more = (load_le<std::uint32_t>(p + hint_at::flags) & kMoreHints) != 0;
    f({reinterpret_cast<const char*>(p) + hint_at::tag, kTag}, hint);
    end = hint.offset - kHintHeader;
  }
  // A flag that hides a hint would make numbers of words.
  if (end >= first && end - first >= kHintTrailer &&
      is_hint_trailer(file.at(end - kHintTrailer, kHintTrailer), end)) {
    fail_hints(file, end);
  }
}

std::optional<Hint> hint_ending_at(const ByteSource& file, std::uint64_t end, std::uint64_t room,
                                   std::string_view tag) {
  if (room < kHintTrailer) return std::nullopt;
  const std::byte* const p = file.at(end - kHintTrailer, kHintTrailer);
  const auto bytes = load_le<std::uint64_t>(p + hint_at::bytes);
  if (!is_hint_trailer(p, end) || std::memcmp(p + hint_at::tag, tag.data(), kTag) != 0 ||
      bytes > room - kHintTrailer || hint_payload(bytes) > room) {
    return std::nullopt;
  }
  return hint_of(p, end);
}

bool may_be_hint(const ByteSource& file, const Entry& block, std::string_view tag) {
  // Padding has one row, so that most walks read no payload here.
  if (block.kind != BlockKind::dense || block.cols != kLine || block.rows < 2) return false;
  const auto has = [&](std::uint64_t at) {
    return std::memcmp(file.at(at, kTag), tag.data(), kTag) == 0;
  };
  return has(block.offset + kDenseHeader) ||
         has(block.offset + block.bytes - kHintTrailer + hint_at::tag);
}

Hint hint_in(const ByteSource& file, const Entry& block) {
  const std::uint64_t end = block.offset + block.bytes, payload = block.bytes - kDenseHeader;
  const Hint hint = hint_of(hint_trailer(file, end, payload), end);
  if (end - hint.offset != payload) fail_hints(file, end);
  return hint;
}

std::optional<Hint> find_hint(const ByteSource& file, std::uint64_t first, const Trailer& trailer,
                              std::string_view tag) {
  if (const auto copy = file.fetches() ? find_head_copy(file, trailer) : std::nullopt) {
    for (const HeadCopy::Listed& listed : copy->hints) {
      if (listed.tag != tag) continue;
      const std::uint64_t room = hint_payload(listed.bytes), end = listed.offset + room;
      // Of names and words, parts are read. Opening knows what it needs of columns.
      const bool whole = room <= kEndFetched || tag == kStatisticsTag;
      if (whole && tag != kColumnsTag) file.will_need(listed.offset, room);
      const auto hint = hint_ending_at(file, end, room, tag);
      if (!hint || hint->offset != listed.offset) fail_hints(file, end);
      return hint;
    }
    return std::nullopt;
  }
  std::optional<Hint> found;
  for_each_hint(file, first, trailer, [&](std::string_view name, const Hint& hint) {
    if (name == tag && !found) found = hint;
  });
  return found;
}

bool is_whole(const ByteSource& file, const Hint& hint) {
  const auto content = file.bytes(hint.offset, hint.bytes);
  const std::uint64_t end = hint.offset + hint.bytes;
  const auto zeros = file.bytes(end, hint.offset + hint_payload(hint.bytes) - kHintTrailer - end);
  return xxh3(content) == hint.hash &&
         std::all_of(zeros.begin(), zeros.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace dapple::detail::dbdf
