// Which value types the columns of a delimited text get.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/foreign/csv/csv_scan.h"
#include "lib/object/schema.h"

namespace dapple::detail::csv {

/// A number that marks missing cells in a column of integers in which all this was seen, and none
/// of them: an end of i64, or of what u64 holds beyond it. Nothing when both are taken.
std::optional<std::uint64_t> integer_mark(std::uint16_t seen) noexcept;

/// Says which integer is rounded to f64 first, where nobody asked for that type; "" if none is.
/// `schema` has the types of all columns.
std::string note_of_rounding(const Rows& rows, const Schema& schema, const ScanInput& input);

/// The type of column `col` of a frame: given (by the caller or a .meta file) or from
/// what was seen in it. Throws type_mismatch when f64 would have to round a column of integers.
ValueType column_type(const Rows& rows, std::size_t col, const ScanInput& input);

/// The one type that holds all columns of a matrix: the one that all are given, i64, u64 or f64.
/// Throws type_mismatch when f64 would have to round a column of integers.
ValueType matrix_type(const Rows& rows, const ScanInput& input);

/// The first of these types, or of i64, u64 and f64, that holds all values of all of them.
std::optional<ValueType> type_that_holds(const std::vector<ValueType>& types);

/// What is to be expected of columns in which all this was seen.
Plan make_plan(const Rows& rows, const ScanInput& input, bool frame,
               const std::vector<std::string>& labels);

/// True when the numbers that were put as the plan says are all right, now that all was seen.
bool keeps_all(const Plan& plan, const Tiles& tiles, const Rows& rows, const ScanInput& input);

/// Throws type_mismatch for the first number that its column cannot hold: beyond f64, or the mark
/// of the missing cells.
void require_numbers(const Rows& rows, const ScanInput& input);

}  // namespace dapple::detail::csv
