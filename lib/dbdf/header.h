// The DAPHNE binary format, version 1: constants, sizes, and headers, which are parsed and emitted
// here. Facts about these bytes belong here and in FORMAT.md, nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "dapple/block.h"
#include "lib/base/bytes.h"
#include "lib/index/block_index.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

inline constexpr std::uint8_t kVersion = 1;

enum class DataType : std::uint8_t { dense_matrix = 1, csr_matrix = 2, frame = 3 };

/// Version, data type, rows, columns: the start of every header.
inline constexpr std::size_t kHeaderStart = 1 + 1 + 8 + 8;
/// The header of a matrix: with its value type.
inline constexpr std::size_t kMatrixHeader = kHeaderStart + 1;
/// rx and cx before a block.
inline constexpr std::size_t kPosition = 8 + 8;
/// A block's rows, columns and block type.
inline constexpr std::size_t kBlockStart = 4 + 4 + 1;
/// With the value type; the payload of a dense block follows.
inline constexpr std::size_t kDenseHeader = kBlockStart + 1;
inline constexpr std::size_t kCsrHeader = kDenseHeader + 8;  // u64 nzb
inline constexpr std::size_t kCooHeader = kDenseHeader + 4;  // u32 nzb
/// The block type of encoded blocks, far from those that the published format may get next. After
/// the type that the header names otherwise come the kind and value type of what it decodes to, the
/// codec, a zero, u64 stored values, u64 size.
inline constexpr std::uint8_t kEncodedType = 128;
inline constexpr std::size_t kEncodedHeader = kBlockStart + 4 + 8 + 8;
inline constexpr std::size_t kLongestItemHeader = kPosition + kEncodedHeader;
/// The most bytes that a block may decode to: a reader of a few cells may have to make them all.
inline constexpr std::uint64_t kMostDecoded = std::uint64_t{1} << 30;
/// The shortest item of a body: position and an empty block.
inline constexpr std::size_t kShortestItem = kPosition + kBlockStart;

/// The position of auxiliary blocks.
inline constexpr std::uint64_t kAuxiliary = std::numeric_limits<std::uint64_t>::max();
inline constexpr BlockPos kAuxiliaryPos{kAuxiliary, kAuxiliary};

/// Tags that the payload of an auxiliary block starts with.
inline constexpr std::size_t kTag = 8;
inline constexpr char kPaddingTag[kTag + 1] = "DPL-PADD";
inline constexpr char kIndexTag[kTag + 1] = "DPL-INDX";

constexpr std::size_t header_size(BlockKind kind) noexcept {
  switch (kind) {
    case BlockKind::empty:
      return kBlockStart;
    case BlockKind::dense:
      return kDenseHeader;
    case BlockKind::csr:
      return kCsrHeader;
    case BlockKind::coo:
      return kCooHeader;
  }
  return 0;
}

/// The same of a block as it is stored.
constexpr std::size_t header_size(const Entry& e) noexcept {
  return e.codec != 0 ? kEncodedHeader : header_size(e.kind);
}

/// Bytes of one stored entry of a sparse block: its indices and its value.
constexpr std::size_t entry_size(BlockKind kind, std::uint32_t cols, ValueType type) noexcept {
  return (kind == BlockKind::coo && cols != 1 ? 8u : 4u) + size_of(type);
}

/// The size of a plain block with its header, without its position. False when it exceeds 64 bits.
bool block_size(BlockKind kind, std::uint32_t rows, std::uint32_t cols, ValueType type,
                std::uint64_t stored, std::uint64_t& bytes) noexcept;

/// One item of a body. `entry.offset` is where its block header starts, `entry.hash` is 0.
struct Item {
  Entry entry;
  bool auxiliary = false;
  bool holds_cells() const noexcept { return !auxiliary && entry.rows != 0 && entry.cols != 0; }
};

/// Rule R2: the block is inside an object of rows x cols cells.
bool is_inside(const Item& item, std::uint64_t rows, std::uint64_t cols) noexcept;
/// The message for a block that breaks that rule.
std::string outside(const Item& item, std::uint64_t rows, std::uint64_t cols);

/// Reads position and block header into `item`. `bytes` starts with the position, at byte `at` of
/// `file`, and holds the whole header unless the file ends before; `remaining` is the number of
/// bytes of the file from `at` on. Checks R1, R4, and R2 against `rows` x `cols`. Throws corrupt.
void read_item_header(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t rows,
                      std::uint64_t cols, std::uint64_t remaining, const std::string& file,
                      Item& item);

/// True when the payload of a dense item starts with this tag.
bool has_tag(const ByteSource& file, const Entry& item, const char* tag);

/// The start of a file: always the same request, so that opening a file reads these bytes once.
std::span<const std::byte> first_look(const ByteSource& file);

/// Reads the file header, and stores the offset of the body in `body`. Throws corrupt (R1, R4).
Schema read_header(const ByteSource& file, std::uint64_t& body);

/// The bytes of a file header.
std::vector<std::byte> emit_header(const Schema& schema);

/// Writes position and block header to `p`; returns their size, at most kLongestItemHeader.
std::size_t emit_item_header(std::byte* p, const Entry& entry) noexcept;

}  // namespace dapple::detail::dbdf
