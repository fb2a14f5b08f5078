// What the columns of a frame mean, as the payload of an auxiliary block (FORMAT.md, "Columns").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dapple/column.h"
#include "lib/io/file.h"

namespace dapple::detail::dbdf {

inline constexpr char kColumnsTag[9] = "DPL-COLS";

/// The payload for these columns; empty when all of them are plain numbers. Throws invalid_argument
/// for a meaning that does not fit its column's value type.
std::vector<std::byte> emit_columns(const std::vector<Column>& columns);

/// Gives `columns` the meanings that the payload at byte `offset` of `file` tells. Dictionaries are
/// used in place and compared with their hashes when they are first asked for. Throws corrupt.
/// O(described columns).
void read_columns(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset,
                  std::uint64_t bytes, std::vector<Column>& columns);

}  // namespace dapple::detail::dbdf
