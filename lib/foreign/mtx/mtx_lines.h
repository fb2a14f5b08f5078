// The lines of a coordinate file, one entry each.
#pragma once

#include <cstdint>

#include "lib/base/number_window.h"
#include "lib/foreign/mtx/mtx_text.h"

namespace dapple::detail::mtx {

/// Goes through the entries from the first to the last, checking all of them against the header.
///   while (lines.next()) { use row(), col(); then value(), find_value() or skip_value() }
class Lines {
 public:
  Lines(const Text& text, const Header& header)
      : text_(text), header_(header), p_(text.base + header.data), window_(text.end) {}

  /// Moves to the next entry; false after the last. Throws corrupt.
  bool next();

  /// Of the entry as the file has it, counted from 0.
  std::uint64_t row() const noexcept { return row_; }
  std::uint64_t col() const noexcept { return col_; }
  /// True when the entry stands for its mirror image, too.
  bool mirrored() const noexcept { return header_.symmetry != Symmetry::general && row_ != col_; }

  /// The value as the header's type, in the low bits. Throws corrupt, type_mismatch.
  std::uint64_t value();
  void skip_value();
  /// The same without an error: a value that is wrong is skipped.
  bool find_value(std::uint64_t& bits);

  /// First byte of the entry's line.
  const char* line() const noexcept { return line_; }

 private:
  bool usual_indices() noexcept;
  std::uint64_t index(std::uint64_t limit, const char* what);
  template <class T>
  std::uint64_t number();

  const Text& text_;
  const Header& header_;
  const char* p_;  // read next
  NumberWindow window_;
  const char* line_ = nullptr;
  std::uint64_t seen_ = 0;
  std::uint64_t row_ = 0, col_ = 0;
};

/// The bits of the value that mirrors this one in a skew-symmetric matrix. REQUIRES that i64 has
/// it: not the smallest.
std::uint64_t negated(ValueType type, std::uint64_t bits) noexcept;

}  // namespace dapple::detail::mtx
