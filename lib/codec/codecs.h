// The table of block codecs: how the payload of an encoded block is stored. To add one, write its
// folder and its row in codecs.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dapple/block.h"
#include "dapple/region.h"
#include "dapple/value_type.h"

namespace dapple::detail {

/// What the header of an encoded block tells of the payload that it decodes to.
struct PayloadShape {
  BlockKind kind;
  ValueType value_type;
  std::uint32_t rows, cols;
  std::uint64_t stored;
};

/// The stored bytes of an encoded block, from byte `offset` of `file` on.
struct StoredBytes {
  std::span<const std::byte> bytes;
  std::uint64_t offset;
  const std::string& file;
};

struct BlockCodec {
  std::uint8_t number;  // in block headers and index entries; 0 is no codec
  std::string_view name;
  /// Decodes the payload of the plain block to `out`, which has its size. Throws corrupt.
  void (*decode)(const PayloadShape& shape, const StoredBytes& stored, std::span<std::byte> out);
  /// The same for some rows of a dense block, without decoding others.
  void (*decode_rows)(const PayloadShape& shape, const StoredBytes& stored, Range rows,
                      std::byte* out);
};

inline constexpr std::uint8_t kPackedCodec = 1;

/// Null for a number that no codec has.
const BlockCodec* find_codec(std::uint8_t number) noexcept;

}  // namespace dapple::detail
