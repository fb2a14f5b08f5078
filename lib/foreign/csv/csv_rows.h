// Where the fields of some consecutive rows are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/foreign/csv/csv_scan.h"
#include "lib/foreign/csv/field_window.h"

namespace dapple::detail::csv {

/// Finds the fields of a few rows, which fit a cache, so that their columns can be parsed one after
/// the other. Does not look at what they hold.
class RowTable {
 public:
  explicit RowTable(const ScanInput& input);

  /// Finds the rows from `p` on, which is where one starts, up to a fault, the next comment, the
  /// last row, or one that starts at `limit` or some way from here. Returns the end of the last.
  const char* find(const char* p, const char* limit);

  /// How many were found.
  std::size_t rows() const noexcept { return rows_; }
  /// True when only blank lines follow.
  bool last() const noexcept { return last_; }

  /// A row after these that has another number of fields, or one with a wrong quote.
  struct Fault {
    const char* at;  // a quote: of the wrong field; otherwise where the row ought to go on or end
    std::size_t fields;  // that were found
  };
  const std::optional<Fault>& fault() const noexcept { return fault_; }

  /// The field of each of `n` rows.
  FieldColumn fields(std::size_t col, std::size_t row, std::size_t n) const noexcept {
    return {starts_.data() + row * (cols_ + 1) + col, cols_ + 1, n};
  }

 private:
  const char* find_row(const char* p, FieldWindow& window);

  const ScanInput& in_;
  const std::size_t cols_;
  std::vector<const char*> starts_;  // of each row: those of its fields, one after the end of each
  std::size_t rows_ = 0;
  bool last_ = false;
  std::optional<Fault> fault_;
};

}  // namespace dapple::detail::csv
