// Columns of delimited text that hold more than numbers: what they mean, and their cells as codes
// and ticks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/column.h"
#include "lib/foreign/csv/csv_scan.h"
#include "lib/foreign/csv/csv_text.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::csv {

/// Reads the fields of one column as the values that a frame stores. Any thread.
class FieldReader {
 public:
  FieldReader(Column column, std::shared_ptr<const WordTable> words)
      : column_(std::move(column)), words_(std::move(words)) {}

  const Column& column() const noexcept { return column_; }

  /// The stored value, in the low bytes; nothing for a field that the column cannot hold. REQUIRES
  /// a meaning other than number.
  std::optional<std::uint64_t> read(const Field& field) const;

 private:
  Column column_;
  std::shared_ptr<const WordTable> words_;
};

/// What the caller wants a column to be.
using WantedMeanings = std::vector<std::optional<MeaningKind>>;

/// Decides what the columns hold in which `rows` saw other fields than numbers, or for which a
/// meaning is wanted, and collects their words. Sets type and meaning of these `columns`; returns a
/// reader for each column, null for plain numbers. Throws unsupported for a field that does not fit
/// the wanted meaning, naming line and column.
///
/// All fields `true` or `false`: boolean. All ISO 8601: timestamp, in the coarsest unit that holds
/// them all. Otherwise words: a category where they repeat, text where most appear once. Fields
/// that are empty, NA, N/A or ?, without quotes, are missing. O(bytes), and memory for each
/// different word.
std::vector<std::shared_ptr<const FieldReader>> describe_columns(
    const ScanInput& input, const char* first_row, std::uint64_t first_line, const Rows& rows,
    const WantedMeanings& wanted, std::vector<Column>& columns);

}  // namespace dapple::detail::csv
