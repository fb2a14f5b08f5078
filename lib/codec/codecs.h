// The table of block codecs: how the payload of an encoded block is stored. To add one, write its
// folder and its row in codecs.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "dapple/block.h"
#include "dapple/region.h"
#include "dapple/value_type.h"
#include "lib/io/byte_source.h"

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

/// Rows of an encoded CSR block, any of which are decoded without the others. Borrows the stored
/// bytes. Any thread.
class EncodedRows {
 public:
  virtual ~EncodedRows() = default;
  /// The entries before each of the rows [begin, end], which do not descend. REQUIRES begin <= end
  /// <= rows. Throws corrupt.
  virtual void starts(std::uint32_t begin, std::uint32_t end, std::uint32_t* out) const = 0;
  /// The columns, which ascend in each row, and the values of whole rows, whose starts these are.
  /// Gives values as `type`, and returns how many were converted: fewer if the next one does not
  /// fit. Throws corrupt.
  virtual std::uint32_t entries(std::span<const std::uint32_t> starts, std::uint32_t* cols,
                                ValueType type, std::byte* values) const = 0;
  /// The plain payload of these rows. REQUIRES room for them and for their entries. Throws corrupt.
  virtual void decode(Range rows, std::byte* out) const = 0;
  /// Most of the stored bytes that decoding entries [begin, end) looks at.
  virtual std::array<std::span<const std::byte>, 2> bytes_of(std::uint32_t begin,
                                                             std::uint32_t end) const noexcept = 0;
};

/// Those rows, and what they borrow: the bytes, and where these are, if in a part of a data set.
struct HeldRows {
  HeldBytes held;
  std::unique_ptr<const BytePlace> place;
  std::unique_ptr<const EncodedRows> rows;
};

struct BlockCodec {
  std::uint8_t number;  // in block headers and index entries; 0 is no codec
  std::string_view name;
  /// Decodes the payload of the plain block to `out`, which has its size. Throws corrupt.
  void (*decode)(const PayloadShape& shape, const StoredBytes& stored, std::span<std::byte> out);
  /// The same for some rows of a dense block, without decoding others.
  void (*decode_rows)(const PayloadShape& shape, const StoredBytes& stored, Range rows,
                      std::byte* out);
  /// The rows of a CSR block; null if they can only be decoded in whole. Throws corrupt.
  std::unique_ptr<const EncodedRows> (*rows)(const PayloadShape& shape, const StoredBytes& stored);
};

inline constexpr std::uint8_t kPackedCodec = 1;

/// Null for a number that no codec has.
const BlockCodec* find_codec(std::uint8_t number) noexcept;

}  // namespace dapple::detail
