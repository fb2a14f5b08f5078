// Rows of a frame that a search found, as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dapple/frame.h"
#include "report.h"

namespace dapple::cli {

enum class RowNumbers : bool { no, yes };

/// Prints columns of rows as CSV, or as one JSON object a line.
class FoundRows {
 public:
  FoundRows(const Frame& frame, std::vector<std::uint64_t> columns, RowNumbers numbers,
            Console& console, Absent absent);

  /// Prints some rows, in their order. Throws what gather_rows throws.
  void print(std::span<const std::uint64_t> rows);
  /// Prints the labels, if there were no rows.
  void finish() { begin(); }

 private:
  void begin();
  void add_row(std::uint64_t row, std::size_t place);

  const Frame& frame_;
  std::vector<std::uint64_t> columns_;
  RowNumbers numbers_;
  Console& console_;
  Absent absent_;
  bool safe_;           // words from a file must not be taken for commands of the terminal
  bool begun_ = false;  // not before the condition is known to be one for its columns
  std::vector<std::vector<std::byte>> cells_;
  std::string text_;
};

}  // namespace dapple::cli
