// The meanings and groups of columns, as the content of a hint (FORMAT.md, "Columns").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dapple/column.h"
#include "dapple/error.h"
#include "lib/io/byte_source.h"
#include "lib/object/schema.h"

namespace dapple::detail::dbdf {

inline constexpr char kColumnsTag[9] = "DPL-COLS";

enum class WordsAs : bool { plain, packed };

/// The content for these columns; empty when all are plain numbers in no group. Groups that are not
/// whole are left out. Words are packed where that makes them smaller. Throws invalid_argument for
/// a meaning that does not fit its column's value type, and for a group that has other slot names
/// than slots, or too long a name; corrupt for damaged words.
std::vector<std::byte> emit_columns(const std::vector<Column>& columns,
                                    WordsAs words = WordsAs::plain);
/// The same for a frame, or for what the columns of a matrix are called.
std::vector<std::byte> emit_columns(const Schema& schema, WordsAs words = WordsAs::plain);

/// Throws invalid_argument, naming `file`, for a meaning that the column's value type cannot have.
void require_fit(const Column& column, const std::string& file);

/// An error for each dictionary of columns and slot names that has words that are not UTF-8.
/// Throws corrupt. O(bytes).
std::vector<Error> words_not_utf8(const Schema& schema, const std::string& file);
/// Throws the first of these, unsupported, for a file that is being written.
void require_utf8(const Schema& schema, const std::string& file);

/// Sets meanings and groups of the columns of a frame, or the group of a matrix, from the content
/// at byte `offset` of `file`. Dictionaries are used in place, and compared with their hashes on
/// first use. Throws corrupt. O(described columns).
void read_columns(const std::shared_ptr<const ByteSource>& file, std::uint64_t offset,
                  std::uint64_t bytes, Schema& schema);

/// The same of a damaged file, whose dictionaries are compared with their hashes right away. What
/// is damaged goes to `lost`: each column that loses its meaning, or the words of its codes, is a
/// number then, and missing cells keep their mark; a group may lose its slot names alone.
void save_columns(const std::shared_ptr<const ByteSource>& file, std::uint64_t offset,
                  std::uint64_t bytes, Schema& schema, std::vector<Error>& lost);

}  // namespace dapple::detail::dbdf
