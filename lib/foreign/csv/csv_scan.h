// The pass over delimited text: where rows are, what the fields of each column can be, and their
// cells.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/foreign/csv/csv_meaning.h"
#include "lib/foreign/csv/csv_text.h"
#include "lib/io/byte_source.h"

namespace dapple::detail::csv {

/// What was seen in the fields of a column.
namespace flag {
inline constexpr std::uint16_t fraction = 1;   // a float that is no integer
inline constexpr std::uint16_t negative = 2;   // an integer below zero
inline constexpr std::uint16_t above_i64 = 4;  // an integer from 2^63 to 2^64 - 1
inline constexpr std::uint16_t beyond = 8;     // an integer that no type of 64 bits holds
inline constexpr std::uint16_t rounded = 16;   // an integer that f64 would round
inline constexpr std::uint16_t other = 32;     // neither a number nor missing
inline constexpr std::uint16_t missing = 64;   // a missing value
inline constexpr std::uint16_t padded = 128;   // an integer with zeros in front: 007
// What a mark of missing cells must not be.
inline constexpr std::uint16_t least_i64 = 256;      // -2^63
inline constexpr std::uint16_t greatest_i64 = 512;   // 2^63 - 1
inline constexpr std::uint16_t beyond_i64 = 1024;    // 2^63
inline constexpr std::uint16_t greatest_u64 = 2048;  // 2^64 - 1

inline constexpr std::uint16_t nan = 4096;  // a missing value that is read as NaN
}  // namespace flag

/// Where the first number of a column is that is not like others.
struct NumberAt {
  std::uint64_t offset = 0;
  std::string text;
};

/// The first of each column that has one.
using NumbersAt = std::map<std::size_t, NumberAt>;

/// What was seen in some rows.
struct Seen {
  std::vector<std::uint16_t> flags;  // of each column
  NumbersAt rounded;                 // integers that f64 would round
  NumbersAt marks;                   // of columns with a type that is given: its mark of missing
  NumbersAt misfits;                 // numbers beyond f64

  /// Adds what was seen in the rows that follow.
  void add(Seen& later);
};

struct Rows {
  std::uint64_t rows = 0;
  std::uint64_t end = 0;  // byte after the last row
  Seen seen;
  /// Of each column that is wanted to be, or has to be, more than numbers.
  std::vector<std::optional<Meaning>> meanings;
  bool whole = false;  // these are all rows
};

/// What a column holds, as far as is known before its cells are parsed.
struct ColumnPlan {
  MeaningKind kind = MeaningKind::number;
  TimeUnit unit = TimeUnit::day;
  ValueType type = ValueType::i64;    // that its cells are put as, if they fit
  std::optional<std::uint64_t> mark;  // of missing integers
  bool given = false;                 // the type, by the caller

  /// How its first cells are kept.
  ColumnCells::As as() const noexcept {
    if (given || kind != MeaningKind::number) return ColumnCells::As::values;
    return type == ValueType::f64 ? ColumnCells::As::floats : ColumnCells::As::integers;
  }
  bool has_words() const noexcept {
    return kind == MeaningKind::category || kind == MeaningKind::text;
  }
};
struct Plan {
  bool frame = false;
  std::vector<std::string> labels;
  std::vector<ColumnPlan> columns;
};

/// What the scan must know of the text.
struct ScanInput {
  const std::string& file;
  const char* base;  // of the whole file
  const char* end;
  const Dialect& dialect;
  bool missing_as_nan;
  const MissingWords& missing;
  bool numbers_only;  // anything else is an error in any column, not only in those given a type
  const std::vector<std::optional<ValueType>>& given;  // type of each column, where given
  const WantedMeanings& wanted;                        // and its meaning
  const std::vector<Column>& columns;                  // their labels; empty for a matrix
  bool trailing_delimiter;  // rows may end in one more than they have fields
  unsigned threads;

  std::size_t cols() const noexcept { return given.size(); }
  /// The line of the file that a byte is in. O(bytes before it).
  std::uint64_t line_at(std::uint64_t offset) const noexcept {
    return line_of(base, base + offset);
  }
};

/// The label of a column; none where columns have none.
inline std::string_view label_of(const std::vector<Column>& columns, std::size_t col) noexcept {
  return columns.empty() ? std::string_view() : columns[col].label;
}

class Tiles;

/// Scans rows from `p`: those of the first megabyte, or all of them. Throws as `open_csv` does, for
/// the first fault in the text. O(bytes). Memory for each different word, and for each thread for
/// those of a megabyte.
///
/// A column whose fields are all `true` or `false` is boolean; all ISO 8601: a timestamp, in the
/// coarsest unit that holds them all. A column with other fields is of words: a category where they
/// repeat, text where most appear once. Fields that are empty, NA, N/A, ? or one of the caller's
/// words, without quotes, are missing. Integers with zeros in front are words where there are
/// labels or other words: postal codes and the like, of which numbers would lose the zeros.
enum class Extent : bool { first, all };
Rows see_rows(const ScanInput& input, const char* p, Extent extent);

/// The same of all rows, whose cells go to `tiles` as the plan says. Should the text not be like
/// that, the rest is only looked at, and `fits` is false.
struct Imported {
  Rows rows;
  bool fits = true;
};
Imported import_rows(const ScanInput& input, const char* p, const Plan& plan, Tiles& tiles);

}  // namespace dapple::detail::csv
