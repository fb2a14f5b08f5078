#include "lib/foreign/mtx/mtx_lines.h"

#include <bit>
#include <limits>

#include "lib/base/text.h"

namespace dapple::detail::mtx {

bool Lines::next_slowly() {
  for (;; p_ = next_line(p_, text_.end)) {
    if (p_ >= end_) return false;
    line_ = p_ = skip_blanks(p_, text_.end);
    if (p_ == text_.end) return false;
    if (*p_ != '%' && *p_ != '\n') break;
  }
  if (left_ == 0) {
    text_.fail(Errc::corrupt, p_,
               "the file goes on after the " + std::to_string(header_.entries) +
                   " entries that its header counts");
  }
  --left_;
  has_value_ = false;
  row_ = index(header_.rows, "a row");
  p_ = skip_blanks(p_, text_.end);
  col_ = index(header_.cols, "a column");
  if (header_.symmetry != Symmetry::general && col_ > row_) {
    text_.fail(Errc::corrupt, line_,
               "the entry in row " + std::to_string(row_ + 1) + ", column " +
                   std::to_string(col_ + 1) +
                   " is above the diagonal, where a symmetric matrix has none");
  }
  p_ = skip_blanks(p_, text_.end);
  const bool more = p_ != text_.end && *p_ != '\n';
  if (more == header_.pattern) {
    text_.fail_at(Errc::corrupt, p_, more ? "the end of the line" : "a value");
  }
  return true;
}

std::uint64_t Lines::index(std::uint64_t limit, const char* what) {
  std::uint64_t value = 0;
  const char* const stop = read_digits(p_, text_.end, value);
  const bool small = stop - p_ <= 19;  // more digits may have wrapped
  if (stop == p_ || !small || !at_token_end(stop, text_.end) || value == 0 || value > limit) {
    text_.fail_at(Errc::corrupt, p_, what + (" of 1 to " + std::to_string(limit)));
  }
  p_ = stop;
  return value - 1;
}

template <class T>
std::uint64_t Lines::number() {
  T value{};
  const char* const number = p_;
  p_ = read_value(
      text_, window_, p_, [&](const char* p) { return at_token_end(p, text_.end); }, value);
  if (std::is_integral_v<T> && header_.symmetry == Symmetry::skew &&
      value == std::numeric_limits<T>::min()) {
    text_.fail_range(number, value_type_of<T>());
  }
  if (header_.symmetry == Symmetry::skew && row_ == col_ && value != T{}) {
    text_.fail_at(Errc::corrupt, number, "the zero of a skew-symmetric matrix's diagonal");
  }
  if (p_ != text_.end && *p_ != '\n') p_ = skip_blanks(p_, text_.end);
  if (p_ != text_.end && *p_++ != '\n') text_.fail_at(Errc::corrupt, p_ - 1, "the end of the line");
  return std::bit_cast<std::uint64_t>(value);
}

std::uint64_t Lines::value_slowly() {
  if (header_.pattern) {
    p_ = next_line(p_, text_.end);
    return 1;
  }
  if (header_.value_type == ValueType::f64) return number<double>();
  return header_.value_type == ValueType::i64 ? number<std::int64_t>() : number<std::uint64_t>();
}

}  // namespace dapple::detail::mtx
