// The meanings of a frame's columns, as the content of a hint (FORMAT.md, "Columns").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dapple/column.h"
#include "dapple/error.h"
#include "lib/io/file.h"

namespace dapple::detail::dbdf {

inline constexpr char kColumnsTag[9] = "DPL-COLS";

/// The content for these columns; empty when all are plain numbers. Throws invalid_argument for a
/// meaning that does not fit its column's value type, corrupt for damaged words.
std::vector<std::byte> emit_columns(const std::vector<Column>& columns);

/// Throws unsupported for a word that is not UTF-8, in a column of a file that is being written.
void require_utf8(const std::vector<Column>& columns, const std::string& file);

/// Sets the meanings of `columns` from the content at byte `offset` of `file`. Dictionaries are
/// used in place, and compared with their hashes on first use. Throws corrupt. O(described
/// columns).
void read_columns(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset,
                  std::uint64_t bytes, std::vector<Column>& columns);

/// The same of a damaged file, whose dictionaries are compared with their hashes right away. What
/// is damaged goes to `lost`: each column that loses its meaning, or the words of its codes, is a
/// number then, and missing cells keep their mark.
void save_columns(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset,
                  std::uint64_t bytes, std::vector<Column>& columns, std::vector<Error>& lost);

}  // namespace dapple::detail::dbdf
