// What a scan notes of the numbers of a column.
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "lib/base/text.h"
#include "lib/foreign/csv/csv_piece.h"

namespace dapple::detail::csv {

namespace {

bool f64_holds(std::uint64_t integer) noexcept {
  return static_cast<int>(std::bit_width(integer)) - std::countr_zero(integer) <=
         std::numeric_limits<double>::digits;
}

/// The same of an integer of any number of digits.
bool f64_holds(std::string_view digits) noexcept {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  double value = 0;
  std::array<char, std::numeric_limits<double>::max_exponent10 + 2> text{};
  if (digits.size() > text.size() ||
      std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc()) {
    return false;
  }
  const auto exact =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 0);
  return digits == std::string_view(text.data(), exact.ptr);
}

}  // namespace

void PieceScanner::note_number(const char* p, const PlainNumber& number, std::size_t c) {
  if (number.has_point()) {
    note_float(p, c, flag::fraction);
    return;
  }
  note_padding(p + number.minus, p + number.length, c);
  if (number.minus != 0 || number.length > kFewDigits) {
    note_integer(p, p + number.length, c);
  }
}

void PieceScanner::note_float(const char* p, std::size_t c, std::uint16_t what) {
  if (whole_[c]) fail_field(place(p, c), p, end_, in_.dialect, in_.missing, *in_.given[c]);
  piece_->seen.flags[c] |= what;
}

void PieceScanner::note_padding(const char* digits, const char* end, std::size_t c) {
  if (*digits == '0' && end - digits > 1) piece_->seen.flags[c] |= flag::padded;
}

/// A negative integer, or one of many digits; `p` is where it starts, with its sign.
void PieceScanner::note_integer(const char* p, const char* end, std::size_t c) {
  const char* const digits = *p == '-' || *p == '+' ? p + 1 : p;
  std::uint64_t value = 0;
  const bool fits = std::from_chars(digits, end, value).ec == std::errc();
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  const bool negative = *p == '-';
  std::uint16_t& seen = piece_->seen.flags[c];
  if (fits && negative && value == 0) {  // minus zero is no integer: its sign would be lost
    if (!whole_[c]) seen |= flag::fraction;
    return;
  }
  if (!fits || (negative && value > kHalf)) {
    seen |= flag::beyond;
  } else if (negative) {
    seen |= flag::negative;
    if (value == kHalf) seen |= flag::least_i64;
  } else if (value >= kHalf) {
    seen |= flag::above_i64;
    if (value == kHalf) seen |= flag::beyond_i64;
    if (value == std::numeric_limits<std::uint64_t>::max()) seen |= flag::greatest_u64;
  } else if (value == kHalf - 1) {
    seen |= flag::greatest_i64;
  }
  if ((seen & flag::rounded) != 0) return;
  if (fits ? f64_holds(value) : f64_holds({digits, static_cast<std::size_t>(end - digits)})) return;
  seen |= flag::rounded;
  note_first(piece_->seen.rounded, p, end, c);
}

void PieceScanner::note_first(NumbersAt& numbers, const char* p, const char* end, std::size_t c) {
  numbers.try_emplace(c, NumberAt{offset(p), line(), std::string(p, end)});
}

}  // namespace dapple::detail::csv
