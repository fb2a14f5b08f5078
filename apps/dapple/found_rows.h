// Rows of a frame that a search found, as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dapple/frame.h"
#include "pages.h"
#include "report.h"

namespace dapple::cli {

enum class RowNumbers : bool { no, yes };

/// Prints columns of rows as CSV, or as one JSON object a line.
class FoundRows {
 public:
  FoundRows(const Frame& frame, std::vector<ShownColumn> columns, RowNumbers numbers,
            Console& console, const TextOptions& options);

  /// Prints some rows, which ascend. Throws what gather_rows and read_text throw.
  void print(std::span<const std::uint64_t> rows);
  /// Prints the labels, if there were no rows.
  void finish() { begin(); }

 private:
  void begin();
  void load(std::span<const std::uint64_t> rows);
  void add_row(std::uint64_t row, std::size_t place);
  void add_text(const std::string& text);
  void add_number(const Column& column, std::uint64_t bits);
  const std::string& label(const ShownColumn& column) const;

  const Frame& frame_;
  std::vector<ShownColumn> columns_;
  RowNumbers numbers_;
  Console& console_;
  TextOptions options_;
  bool safe_;           // words from a file must not be taken for commands of the terminal
  bool begun_ = false;  // not before the condition is known to be one for its columns
  std::vector<std::string> keys_;                // of each column, in JSON
  std::vector<std::vector<std::byte>> cells_;    // of each column of numbers
  std::vector<std::vector<std::string>> texts_;  // of each column of text
  std::string text_;
};

}  // namespace dapple::cli
