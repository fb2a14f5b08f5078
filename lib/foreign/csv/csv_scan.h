// The one pass over delimited text that opening makes: where rows start, and what the fields of
// each column can be. Numbers are checked for their form; their values are read later.
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

/// Rows [row, next strip's row) start at byte `offset`.
struct Strip {
  std::uint64_t row;
  std::uint64_t offset;
};

/// Where the first integer of a column is that f64 would round.
struct RoundedAt {
  std::uint64_t offset = 0;
  std::uint64_t line = 0;
  std::string text;
};

struct Rows {
  std::uint64_t rows = 0;
  std::uint64_t end = 0;  // byte after the last row
  std::vector<Strip> strips;
  std::vector<std::uint16_t> seen;  // flags of each column
  std::map<std::size_t, RoundedAt> rounded;
  bool quoted_delimiters = false;  // a value has a delimiter in its quotes
  bool quoted_line_ends = false;   // or a line end: rows are not lines then
  /// Of each column that is wanted to be, or has to be, more than numbers; null for the others.
  std::vector<std::shared_ptr<const FieldReader>> fields;
  /// Where their words are; null if they are in memory.
  std::shared_ptr<const ByteSource> sidecar;
};

/// What the scan must know of the text.
struct ScanInput {
  const std::string& file;
  const char* base;  // of the whole file
  const char* end;
  char delimiter;
  bool missing_as_nan;
  const MissingWords& missing;
  bool numbers_only;  // anything else is an error in any column, not only in those given a type
  const std::vector<std::optional<ValueType>>& given;  // type of each column, where given
  const WantedMeanings& wanted;                        // and its meaning
  const std::vector<Column>& columns;                  // their labels; empty for a matrix
  bool trailing_delimiter;  // rows may end in one more than they have fields
  unsigned threads;

  std::size_t cols() const noexcept { return given.size(); }
};

/// Scans rows from `p`, which is line `line`, to the end. Throws as `open_csv` does, for the first
/// fault in the text. O(bytes); once more when a column turns out to be of words after its first
/// megabyte. Memory for each different word, and for each thread for those of a megabyte.
///
/// A column whose fields are all `true` or `false` is boolean; all ISO 8601: a timestamp, in the
/// coarsest unit that holds them all. A column with other fields is of words: a category where they
/// repeat, text where most appear once. Fields that are empty, NA, N/A, ? or one of the caller's
/// words, without quotes, are missing. Integers with zeros in front are words where there are
/// labels or other words: postal codes and the like, of which numbers would lose the zeros.
Rows scan_rows(const ScanInput& input, const char* p, std::uint64_t line);

}  // namespace dapple::detail::csv
