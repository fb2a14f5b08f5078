// Where the bytes of blocks come from: fetched from the source, decoded, and kept for the next
// time. Bytes of plain blocks in a map are used where they are.

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "dapple/array.h"
#include "lib/cache/block_cache.h"
#include "lib/codec/codecs.h"
#include "lib/object/store.h"

namespace dapple::detail {

namespace {

/// Larger blocks of a source that fetches are fetched in parts.
constexpr std::uint64_t kWhole = 4 << 20;

HeldBytes as_held(const Cached& cached) {
  const auto* const bytes = static_cast<const HeldBytes*>(cached.value.get());
  return {bytes->bytes, cached.value};
}

Cached as_cached(HeldBytes bytes) {
  const std::size_t size = sizeof bytes + bytes.size();
  return {std::make_shared<const HeldBytes>(std::move(bytes)), size};
}

const BlockCodec& codec_of(const Store& store, const Entry& entry) {
  if (const BlockCodec* const codec = find_codec(entry.codec)) return *codec;
  store.fail(Errc::unsupported, entry.offset,
             "block " + text(entry.pos) + " is stored in codec " + std::to_string(entry.codec) +
                 ", which this version does not know; a later one wrote it");
}

PayloadShape shape_of(const Entry& e) noexcept {
  return {e.kind, e.value_type, e.rows, e.cols, e.stored};
}

/// Calls decode(codec, shape, stored, out) to make `size` bytes of what an encoded block decodes
/// to.
template <class F>
HeldBytes decode_into(const Store& store, const Entry& entry, std::uint64_t size, const F& decode) {
  const BlockCodec& codec = codec_of(store, entry);
  std::shared_ptr<Array<std::byte>> plain;
  try {
    plain = std::make_shared<Array<std::byte>>(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    store.fail(
        Errc::no_memory, entry.offset,
        "the " + counted(size, "byte") + " of block " + text(entry.pos) + " do not fit in memory");
  }
  const HeldBytes stored = store.stored_bytes(entry);
  const BytePlace at = store.blocks().place(store.payload_offset(entry));
  decode(codec, shape_of(entry), StoredBytes{stored.bytes, at.offset, at.name},
         std::span(plain->data(), plain->size()));
  return {{plain->data(), plain->size()}, plain};
}

/// The rows that these bytes of an encoded dense block are, if they are few of them: then decoding
/// all would take longer than decoding these each time.
std::optional<Range> few_rows(const Entry& entry, Range part) {
  const std::uint64_t row_bytes = std::uint64_t{entry.cols} * size_of(entry.value_type);
  if (entry.codec == 0 || entry.kind != BlockKind::dense || row_bytes == 0 ||
      part.begin % row_bytes != 0 || part.size() % row_bytes != 0 ||
      part.size() > entry.rows * row_bytes / 8) {
    return std::nullopt;
  }
  return Range{part.begin / row_bytes, part.end / row_bytes};
}

/// Tests are also run with a library in which all payloads are made anew, as those of encoded
/// blocks are.
HeldBytes as_tested(HeldBytes bytes) {
#ifdef DAPPLE_MAKES_PAYLOADS
  auto copy = std::make_shared<Array<std::byte>>(bytes.size());
  if (bytes.size() > 0) std::memcpy(copy->data(), bytes.data(), bytes.size());
  bytes = {{copy->data(), copy->size()}, copy};
#endif
  return bytes;
}

}  // namespace

std::uint64_t Store::payload_offset(const Entry& entry) const {
  return entry.offset + (driver_->header_size != nullptr ? driver_->header_size(entry) : 0);
}

HeldBytes Store::stored_block(const Entry& entry, std::uint64_t before) const {
  return blocks_->hold(entry.offset - before, before + entry.bytes);
}

HeldBytes Store::stored_bytes(const Entry& entry) const {
  const std::uint64_t at = payload_offset(entry);
  return blocks_->hold(at, entry.offset + entry.bytes - at);
}

HeldBytes Store::decoded(const Entry& entry) const {
  return decode_into(
      *this, entry, driver_->plain_size(entry),
      [](const BlockCodec& codec, const PayloadShape& shape, const StoredBytes& stored,
         std::span<std::byte> out) { codec.decode(shape, stored, out); });
}

HeldRows Store::encoded_rows(const Entry& entry) const {
  if (entry.codec == 0 || entry.kind != BlockKind::csr || is_recoded(entry)) return {};
  HeldRows made;
  if (blocks_->fetches()) {
    uses_cache_.store(true, std::memory_order_relaxed);
    made.held = as_held(block_cache().get({blocks_->number(), encoded_key(entry)},
                                          [&] { return as_cached(stored_bytes(entry)); }));
  } else {
    made.held = stored_bytes(entry);
  }
  const std::uint64_t at = payload_offset(entry);
  if (blocks_ != file_) made.place = std::make_unique<const BytePlace>(blocks_->place(at));
  const StoredBytes stored{made.held.bytes, made.place ? made.place->offset : at,
                           made.place ? made.place->name : file_->name()};
  made.rows = codec_of(*this, entry).rows(shape_of(entry), stored);
  return made;
}

HeldBytes Store::decoded_rows(const Entry& entry, Range rows, std::uint64_t& stored) const {
  // Where most rows are wanted, or others were, all are decoded once.
  if (entry.codec == 0 || entry.kind != BlockKind::csr || rows.size() > entry.rows / 8 ||
      block_cache().find({blocks_->number(), entry.offset}).value) {
    return {};
  }
  const HeldRows encoded = encoded_rows(entry);
  if (encoded.rows == nullptr) return {};
  std::vector<std::uint32_t> starts(rows.size() + 1);
  encoded.rows->starts(static_cast<std::uint32_t>(rows.begin), static_cast<std::uint32_t>(rows.end),
                       starts.data());
  stored = starts.back() - starts.front();
  auto plain = std::make_shared<Array<std::byte>>(4 * rows.size() +
                                                  stored * (4 + size_of(entry.value_type)));
  encoded.rows->decode(rows, plain->data());
  return {{plain->data(), plain->size()}, plain};
}

/// True when the payload of a block is not in a map.
bool Store::is_made(const Entry& entry) const {
  return entry.codec != 0 || blocks_->fetches() || is_recoded(entry);
}

bool Store::is_recoded(const Entry& entry) const {
  return driver_->is_recoded != nullptr && driver_->is_recoded(*this, entry);
}

HeldBytes Store::plain_payload(const Entry& entry) const {
  return entry.codec == 0 ? stored_bytes(entry) : decoded(entry);
}

HeldBytes Store::payload(const Entry& entry) const {
  if (!is_made(entry)) return as_tested(stored_bytes(entry));
  uses_cache_.store(true, std::memory_order_relaxed);
  return as_held(block_cache().get({blocks_->number(), entry.offset}, [&] {
    return as_cached(is_recoded(entry) ? driver_->recode(*this, entry) : plain_payload(entry));
  }));
}

std::optional<std::span<const std::byte>> Store::payload_in_place(const Entry& entry) const {
  if (is_made(entry)) return std::nullopt;
  const std::uint64_t at = payload_offset(entry);
  const HeldBytes held = as_tested({blocks_->bytes(at, entry.offset + entry.bytes - at), nullptr});
  if (!held.is_mapped()) return std::nullopt;
  return held.bytes;
}

HeldBytes Store::payload(const Entry& entry, Range part) const {
  const bool recodes = is_recoded(entry);
  if (entry.codec == 0 && !recodes && (!blocks_->fetches() || entry.bytes > kWhole)) {
    return as_tested(blocks_->hold(payload_offset(entry) + part.begin, part.size()));
  }
  if (const auto rows = recodes ? std::nullopt : few_rows(entry, part)) {
    if (!block_cache().find({blocks_->number(), entry.offset}).value) {
      return decode_into(
          *this, entry, part.size(),
          [&](const BlockCodec& codec, const PayloadShape& shape, const StoredBytes& stored,
              std::span<std::byte> out) { codec.decode_rows(shape, stored, *rows, out.data()); });
    }
  }
  HeldBytes whole = payload(entry);
  whole.bytes = whole.bytes.subspan(part.begin, part.size());
  return whole;
}

}  // namespace dapple::detail
