// The blocks of columns: where a column's lookup table says that they are, and their bytes as the
// codec wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/idv/idv_toc.h"

namespace dapple::detail::idv {

/// Bytes of an entry of a lookup table: where a block is, and how long it is once inflated.
inline constexpr std::uint64_t kLookupBytes = 16;

struct BlockPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;     // in the file
  std::uint64_t inflated = 0;  // after decompression
  friend constexpr bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

/// Rows that block `number` of a column holds. REQUIRES that it is one.
constexpr std::uint64_t rows_of_block(const Header& header, const TocColumn& column,
                                      std::uint64_t number) noexcept {
  const std::uint64_t rest = header.rows - number * column.block_rows;
  return rest < column.block_rows ? rest : column.block_rows;
}

/// Entry `number` of the column's lookup table, checked: the block is between header and tail,
/// and its inflated length can come from that number of bytes, and is the one that its rows have in
/// the column's type, or may be. Throws corrupt. O(1), touches the 16 bytes of the entry only.
BlockPlace find_place(const ByteSource& file, const Header& header, const TocColumn& column,
                      std::uint64_t number);

void put_place(std::vector<std::byte>& out, const BlockPlace& place);

/// Cheap to copy. Valid as long as the file.
struct BlockBytes {
  HeldBytes held;
  std::uint64_t offset = 0;  // of the block in the file
  const std::string* file = nullptr;
  bool inflated = false;

  /// Reads them front to back, and names what it finds.
  ByteReader reader() const noexcept {
    return inflated ? ByteReader(held.bytes, 0, *file, offset)
                    : ByteReader(held.bytes, offset, *file);
  }
};

/// The block's bytes: in place when it isn't compressed. Throws corrupt.
BlockBytes read_block(const ByteSource& file, Compression compression, const BlockPlace& place);

}  // namespace dapple::detail::idv
