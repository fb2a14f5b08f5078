// Which value types the columns of a delimited text get.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/foreign/csv/csv_scan.h"
#include "lib/index/block_index.h"
#include "lib/object/schema.h"

namespace dapple::detail::csv {

/// A number that marks missing cells in a column of integers in which all this was seen, and none
/// of them: an end of i64, or of what u64 holds beyond it. Nothing when both are taken.
std::optional<std::uint64_t> integer_mark(std::uint16_t seen) noexcept;

/// Says which integer is rounded to f64 first, where nobody asked for that type; "" if none is.
/// `schema` has the types of all columns.
std::string note_of_rounding(const Rows& rows, const Schema& schema,
                             const std::vector<std::optional<ValueType>>& given,
                             const std::string& file);

/// The type of column `col` of the frame `columns`: given (by the caller or a .meta file) or from
/// what was seen in it. Throws type_mismatch when f64 would have to round a column of integers.
ValueType column_type(std::optional<ValueType> given, const Rows& rows, std::size_t col,
                      const std::vector<Column>& columns, const std::string& file);

/// The one type that holds all columns of a matrix: the one that all are given, i64, u64 or f64.
/// Throws type_mismatch when f64 would have to round a column of integers.
ValueType matrix_type(const std::vector<std::optional<ValueType>>& given, const Rows& rows,
                      const std::string& file);

/// The type that a block of frame columns is listed with: the widest of them, or f64.
ValueType widest_type(const std::vector<Column>& columns) noexcept;

/// Strips of rows, all columns wide.
BlockIndex strips_index(const Rows& rows, const Schema& schema, const std::string& file,
                        IndexOrigin origin);

}  // namespace dapple::detail::csv
