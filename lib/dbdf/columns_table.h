// The table of column meanings (FORMAT.md, "Columns"): where its fields are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/column.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

inline constexpr std::uint32_t kMeaningsVersion = 1, kGroupsVersion = 2, kPackedVersion = 3;
inline constexpr std::uint64_t kTableHead = 32, kColumnRecord = 64;
inline constexpr std::uint64_t kMostNameBytes = 65535;

/// Where a record of a meaning has its number.
inline constexpr std::uint8_t kGroup = 6;

namespace table_at {
inline constexpr std::size_t tag = 0, version = 8, count = 12, table = 16, hash = 24;
}
namespace column_at {
inline constexpr std::size_t column = 0, kind = 8, unit = 9, flags = 10, zone_bytes = 12,
                             missing = 16, words = 24, offsets = 32, word_bytes = 40, hash = 48,
                             zone = 56;
// Of a group: its name is where a zone is, its slot names where words are.
inline constexpr std::size_t name_bytes = zone_bytes, slots = missing, name = zone;
}  // namespace column_at
inline constexpr std::uint8_t kOrderedWords = 1, kMissing = 2, kPackedWords = 4;

/// Covers the head up to its hash field, and the rest of the table.
inline std::uint64_t table_hash(std::span<const std::byte> table) noexcept {
  return xxh3(table.subspan(kTableHead), xxh3(table.first(table_at::hash)));
}

/// True when the column's value type holds what its meaning needs.
bool fits(const Column& column);

}  // namespace dapple::detail::dbdf
