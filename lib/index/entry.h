// One entry of the block index: what is known about a block without touching it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dapple/block.h"
#include "lib/base/bytes.h"

namespace dapple::detail {

/// "(rx, cx)" for messages.
std::string text(BlockPos pos);

/// Byte positions of the fields inside a 64-byte index entry (FORMAT.md, "Entry").
namespace entry_at {
inline constexpr std::size_t rx = 0, cx = 8, offset = 16, bytes = 24, stored = 32, hash = 40,
                             rows = 48, cols = 52, kind = 56, value_type = 57, codec = 58,
                             reserved = 59;
}
inline constexpr std::size_t kEntryBytes = 64;

/// No kind: that of an entry whose reserved bytes are not zero, or whose kind or value type does
/// not exist. It matches no block.
inline constexpr BlockKind kNoKind{0xff};

/// One index entry, decoded.
struct Entry {
  BlockPos pos;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::uint64_t offset = 0;  // of the block's header; of the first data byte in foreign formats
  std::uint64_t bytes = 0;   // from `offset` to the block's end
  std::uint64_t stored = 0;  // in ML.NET's files an estimate, but 0 only where it is
  std::uint64_t hash = 0;    // XXH3-64 of position and block bytes; 0: not known
  BlockKind kind = BlockKind::empty;  // of an encoded block: of what it decodes to
  ValueType value_type = ValueType::u8;
  std::uint8_t codec = 0;  // lib/codec/codecs.h; 0: the payload is stored as it is

  static constexpr std::size_t kBytes = kEntryBytes;

  /// Empty blocks have no value type in the file; here it is u8.
  BlockInfo info() const noexcept {
    const ValueType type = kind == BlockKind::empty ? ValueType::u8 : value_type;
    return {pos, rows, cols, kind, type, stored, offset, bytes};
  }
  Region cells() const noexcept { return info().cells(); }
};

/// "dense of f32", for messages.
std::string stored_as(const Entry& e);

inline Entry load_entry(const std::byte* p) noexcept {
  Entry e;
  e.pos = {load_le<std::uint64_t>(p + entry_at::rx), load_le<std::uint64_t>(p + entry_at::cx)};
  e.offset = load_le<std::uint64_t>(p + entry_at::offset);
  e.bytes = load_le<std::uint64_t>(p + entry_at::bytes);
  e.stored = load_le<std::uint64_t>(p + entry_at::stored);
  e.hash = load_le<std::uint64_t>(p + entry_at::hash);
  e.rows = load_le<std::uint32_t>(p + entry_at::rows);
  e.cols = load_le<std::uint32_t>(p + entry_at::cols);
  const auto last = load_le<std::uint64_t>(p + entry_at::kind);  // kind, type, codec, reserved
  const auto kind = static_cast<BlockKind>(last & 0xff);
  const auto type = value_type_of_code(static_cast<std::uint8_t>(last >> 8));
  const bool empty = kind == BlockKind::empty, known = kind <= BlockKind::coo && (empty || type);
  e.kind = known && last >> 24 == 0 ? kind : kNoKind;
  e.value_type = empty ? ValueType::u8 : type.value_or(ValueType::u8);
  e.codec = static_cast<std::uint8_t>(last >> 16 & 0xff);
  return e;
}

void store_entry(std::byte* p, const Entry& entry) noexcept;

}  // namespace dapple::detail
