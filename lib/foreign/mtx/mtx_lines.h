// The lines of a coordinate file, one entry each.
#pragma once

#include <bit>
#include <cstdint>

#include "lib/base/number_window.h"
#include "lib/foreign/mtx/mtx_text.h"

namespace dapple::detail::mtx {

/// Goes through the entries of a part of the text, checking all of them against the header.
///   while (lines.next()) { use row(), col(); then value() }
class Lines {
 public:
  /// Lines that start in [begin, end), which may hold `most` entries.
  Lines(const Text& text, const Header& header, const char* begin, const char* end,
        std::uint64_t most)
      : text_(text), header_(header), p_(begin), end_(end), left_(most), window_(text.end) {}
  /// All lines.
  Lines(const Text& text, const Header& header)
      : Lines(text, header, text.base + header.data, text.end, header.entries) {}

  /// Moves to the next entry; false after the last. Throws corrupt.
  bool next() {
    if (p_ >= end_ || left_ == 0 || !usual_line()) return next_slowly();
    --left_;
    return true;
  }

  /// Of the entry as the file has it, counted from 0.
  std::uint64_t row() const noexcept { return row_; }
  std::uint64_t col() const noexcept { return col_; }
  /// The value as the header's type, in the low bits; call it once. Throws corrupt, type_mismatch.
  std::uint64_t value() { return has_value_ ? bits_ : value_slowly(); }

  /// First byte of the entry's line.
  const char* line() const noexcept { return line_; }

 private:
  bool usual_line() noexcept;
  bool next_slowly();
  std::uint64_t value_slowly();
  std::uint64_t index(std::uint64_t limit, const char* what);
  template <class T>
  std::uint64_t number();

  const Text& text_;
  const Header& header_;
  const char* p_;  // read next
  const char* const end_;
  std::uint64_t left_;  // entries that may follow
  NumberWindow window_;
  const char* line_ = nullptr;
  std::uint64_t row_ = 0, col_ = 0;
  bool has_value_ = false;  // the value has been read, too,
  std::uint64_t bits_ = 0;  // and is this
};

/// Reads the indices of a line as programs write it, no blanks but one between the numbers, and the
/// value if it has few digits and no exponent. False, and nothing was read, for any other line and
/// for one with a fault in its indices. Finds all ends of numbers in one look at 64 characters:
/// half the instructions of a look for each.
inline bool Lines::usual_line() noexcept {
  constexpr std::uint64_t kFew = 8;  // digits that are combined at once
  if (!DigitBits::may_look(p_, text_.end)) return false;
  DigitBits line(p_);
  const std::uint64_t row_end = line.next_end();
  const std::uint64_t col_end = line.next_end();
  const std::uint64_t row_digits = row_end, col_digits = col_end - row_end - 1;
  const char* p = p_ + col_end;
  if (row_digits - 1 >= kFew || col_digits - 1 >= kFew || !is_blank(p_[row_end])) return false;
  if (header_.pattern ? *p != '\n' : !is_blank(*p++) || is_blank(*p) || *p == '\n') return false;
  const auto [row, col] = read_two(p_, row_digits, p_ + row_end + 1, col_digits);
  // Wraps to a large number where an index is 0.
  if (row - 1 >= header_.rows || col - 1 >= header_.cols) return false;
  if (header_.symmetry != Symmetry::general && col > row) return false;
  line_ = p_;
  row_ = row - 1;
  col_ = col - 1;
  has_value_ = false;
  if (!header_.pattern && header_.symmetry != Symmetry::skew) {
    const bool negative = *p == '-';
    if (negative) line.next_end();
    const std::uint64_t point = line.next_end();
    const bool has_point = p_[point] == '.';
    const std::uint64_t end = has_point ? line.next_end() : point;
    const std::uint64_t whole = point - static_cast<std::uint64_t>(p - p_) - negative;
    const std::uint64_t places = end - point - has_point;
    if (p_[end] == '\n' && whole - 1 < kFew && places <= kFew) {
      const auto [front, behind] = read_two(p + negative, whole, p_ + point + 1, places);
      if (header_.value_type == ValueType::f64) {
        double value = 0;
        has_value_ = exact_fraction(front * kPowersOfTen[places] + behind, places, negative, value);
        bits_ = std::bit_cast<std::uint64_t>(value);
      } else {
        has_value_ = !has_point && (!negative || header_.value_type == ValueType::i64);
        bits_ = negative ? 0 - front : front;
      }
    }
    if (has_value_) p = p_ + end + 1;
  }
  p_ = p;
  return true;
}

}  // namespace dapple::detail::mtx
