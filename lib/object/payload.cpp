// Where the bytes of blocks come from: fetched from the source, decoded, and kept for the next
// time. Bytes of plain blocks in a map are used where they are.

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>

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
  return file_->hold(entry.offset - before, before + entry.bytes);
}

HeldBytes Store::stored_bytes(const Entry& entry) const {
  const std::uint64_t at = payload_offset(entry);
  return file_->hold(at, entry.offset + entry.bytes - at);
}

HeldBytes Store::decoded(const Entry& entry) const {
  const BlockCodec* const codec = find_codec(entry.codec);
  if (codec == nullptr) {
    fail(Errc::unsupported, entry.offset,
         "block " + text(entry.pos) + " is stored in codec " + std::to_string(entry.codec) +
             ", which this version does not know; a later one wrote it");
  }
  const std::uint64_t size = driver_->plain_size(entry);
  std::shared_ptr<Array<std::byte>> plain;
  try {
    plain = std::make_shared<Array<std::byte>>(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    fail(Errc::invalid_argument, entry.offset,
         "the " + counted(size, "byte") + " of block " + text(entry.pos) + " do not fit in memory");
  }
  const HeldBytes stored = stored_bytes(entry);
  codec->decode({entry.kind, entry.value_type, entry.rows, entry.cols, entry.stored},
                {stored.bytes, payload_offset(entry), file_->name()},
                {plain->data(), plain->size()});
  return {{plain->data(), plain->size()}, plain};
}

HeldBytes Store::payload(const Entry& entry) const {
  if (entry.codec == 0 && !file_->fetches()) return as_tested(stored_bytes(entry));
  uses_cache_.store(true, std::memory_order_relaxed);
  return as_held(block_cache().get({file_->number(), entry.offset}, [&] {
    return as_cached(entry.codec == 0 ? stored_bytes(entry) : decoded(entry));
  }));
}

HeldBytes Store::payload(const Entry& entry, Range part) const {
  if (entry.codec == 0 && (!file_->fetches() || entry.bytes > kWhole)) {
    return as_tested(file_->hold(payload_offset(entry) + part.begin, part.size()));
  }
  HeldBytes whole = payload(entry);
  whole.bytes = whole.bytes.subspan(part.begin, part.size());
  return whole;
}

}  // namespace dapple::detail
