// One entry of a column's lookup table: where a block lies, and how long it is once inflated.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/foreign/idv/idv_toc.h"

namespace dapple::detail::idv {

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

/// Entry `number` of the column's lookup table, checked: the block lies between header and tail,
/// and its inflated length can come from so many bytes, and is the one that so many rows of the
/// column's type have, or may be. Throws corrupt. O(1), touches the 16 bytes of the entry only.
BlockPlace find_place(const ByteSource& file, const Header& header, const TocColumn& column,
                      std::uint64_t number);

void put_place(std::vector<std::byte>& out, const BlockPlace& place);

}  // namespace dapple::detail::idv
