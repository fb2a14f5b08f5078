// The codec of packed blocks: from the payload of a plain block to fewer bytes, and back, in whole
// or only what is asked for. FORMAT.md describes the bytes. Nothing here does I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "dapple/block.h"
#include "dapple/region.h"
#include "dapple/value_type.h"
#include "lib/codec/packed/stream.h"

namespace dapple::detail::packed {

/// What the header of a block tells of the payload.
struct Shape {
  BlockKind kind;
  ValueType value_type;
  std::uint32_t rows, cols;
  std::uint64_t stored;
};

/// Bytes of the plain payload; nothing if they do not fit 64 bits, or there are more values than a
/// packed block can have, 2^32 - 1.
std::optional<std::uint64_t> plain_bytes(const Shape& shape) noexcept;

/// The payload of a plain block, packed. Empty where that saves less than 5 %, and where the
/// payload is not what the shape says.
Bytes encode(const Shape& shape, std::span<const std::byte> plain, Effort effort);

/// Decodes a packed payload, which it borrows. Any thread. All functions but noexcept ones throw
/// corrupt.
class BlockReader {
 public:
  /// What was decompressed last, for one thread that calls again.
  struct Kept {
    Pieces rows, cols, values;
  };

  BlockReader(const Shape& shape, const Source& source);

  /// The payload of the plain block. REQUIRES plain_bytes() bytes at `out`.
  void decode(std::byte* out) const;
  /// The part of it that these rows of a CSR block are. REQUIRES room for their entries.
  void decode_rows(Range rows, std::byte* out) const;

  /// Cells of a dense block, as they are stored. REQUIRES that they are inside of it.
  void cells(Range rows, Range cols, std::byte* out, std::size_t row_stride) const;

  /// The entries of a CSR block before each of the rows [begin, end], `end - begin + 1` numbers
  /// that ascend. REQUIRES begin <= end <= rows.
  void row_starts(std::uint32_t begin, std::uint32_t end, std::uint32_t* starts, Kept& kept) const;
  /// Where most of the columns, and of the values, of entries [begin, end) of a CSR block are.
  std::array<std::span<const std::byte>, 2> bytes_of(std::uint32_t begin,
                                                     std::uint32_t end) const noexcept;
  /// True when the columns of each row of a CSR block ascend.
  bool ascends() const noexcept { return layout_ == 1; }
  /// The columns of entries of whole rows, whose starts these are, all of them inside the block.
  void columns(std::span<const std::uint32_t> starts, std::uint32_t* out, Kept& kept) const;
  /// Values [begin, end) of a sparse block, as they are stored.
  void values(std::uint32_t begin, std::uint32_t end, std::byte* out, Kept& kept) const;
  /// The same as another type, exactly. Returns how many were converted: fewer if the next one does
  /// not fit (R6).
  std::uint32_t values_as(std::uint32_t begin, std::uint32_t end, ValueType to, std::byte* out,
                          Kept& kept) const;

 private:
  using ValueReader = std::variant<StreamReader<std::uint32_t>, StreamReader<std::uint64_t>>;
  std::span<const std::byte> part(std::uint32_t number) const;
  ValueReader value_reader(std::uint32_t number, std::uint64_t n) const;
  void decode_coo(std::byte* out) const;
  bool by_column() const noexcept { return shape_.kind == BlockKind::dense && layout_ == 1; }

  Shape shape_;
  Source source_;
  std::uint8_t layout_ = 0;
  std::span<const std::byte> ends_, streams_;
  StreamReader<std::uint32_t> rows_, cols_;  // of sparse blocks
  ValueReader values_;                       // unless by column
};

}  // namespace dapple::detail::packed
