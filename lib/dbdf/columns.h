// The meanings of a frame's columns, as the content of a hint (FORMAT.md, "Columns").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dapple/column.h"
#include "lib/io/file.h"

namespace dapple::detail::dbdf {

inline constexpr char kColumnsTag[9] = "DPL-COLS";

/// The content for these columns; empty when all are plain numbers. Throws invalid_argument for a
/// meaning that does not fit its column's value type.
std::vector<std::byte> emit_columns(const std::vector<Column>& columns);

/// Sets the meanings of `columns` from the content at byte `offset` of `file`. Dictionaries are
/// used in place, and compared with their hashes on first use. Throws corrupt. O(described
/// columns).
void read_columns(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset,
                  std::uint64_t bytes, std::vector<Column>& columns);

}  // namespace dapple::detail::dbdf
