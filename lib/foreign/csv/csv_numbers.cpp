// The fields of a column of numbers.
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "lib/base/number_window.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
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

/// Integers of this many characters are held by i64, u64 and f64.
constexpr std::uint64_t kFewDigits = 15;

/// The least number of n digits that has no zero in front.
constexpr std::array<std::uint64_t, kFewDigits + 1> kLeast = [] {
  std::array<std::uint64_t, kFewDigits + 1> least{};
  for (std::size_t n = 2; n < least.size(); ++n) least[n] = kPowersOfTen[n - 1];
  return least;
}();

/// `n` <= 8 digits.
struct Digits {
  Digits(const char* p, std::uint64_t n) noexcept {
    const std::uint64_t shift = 64 - 8 * n;
    const std::uint64_t digits =
        (load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(p)) ^ 0x3030303030303030U)
        << shift;
    others = ((digits + 0x7676767676767676U) | digits) & 0x8080808080808080U;
    value = combine_eight(digits);
  }
  std::uint64_t value, others;  // `others` is 0 when these are digits
};

/// What the loops below know, and what they see.
struct NumberRun {
  FieldColumn fields;
  const char* end;              // of the text
  const MissingWords* missing;  // null unless some look like numbers
  std::uint16_t seen = 0;

  bool is_missing(const char* p, const char* field_end) const noexcept {
    return missing != nullptr && missing->has({p, static_cast<std::size_t>(field_end - p)});
  }
};

/// Reads integers of at most 15 digits, up to another field. Returns how many.
std::size_t read_integers(NumberRun& run, std::uint64_t* cells) noexcept {
  std::uint64_t minuses = 0, paddings = 0;
  const char* const* at = run.fields.at;
  std::size_t i = 0;
  for (; i < run.fields.n; ++i, at += run.fields.step) {
    const char* p = at[0];
    const char* const end = at[1] - 1;
    if (run.end - p < 32 || run.is_missing(p, end)) break;
    const std::uint64_t minus = *p == '-' ? 1 : 0;
    p += minus;
    const auto n = static_cast<std::uint64_t>(end - p);
    if (n - 1 >= kFewDigits) break;
    const std::uint64_t last = n <= 8 ? n : 8;
    const Digits low(end - last, last);
    std::uint64_t value = low.value, others = low.others;
    if (n > 8) {
      const Digits high(p, n - 8);
      value += high.value * kPowersOfTen[8];
      others |= high.others;
    }
    if (others != 0 || value < minus) break;  // minus zero is no integer
    minuses |= minus;
    paddings |= static_cast<std::uint64_t>(value < kLeast[n]);
    cells[i] = (value ^ (0 - minus)) + minus;
  }
  run.seen |= (minuses != 0 ? flag::negative : 0) | (paddings != 0 ? flag::padded : 0);
  return i;
}

/// The same of numbers of at most 31 characters, with points or without, as floats.
std::size_t read_reals(NumberRun& run, std::uint64_t* cells) noexcept {
  const char* const* at = run.fields.at;
  std::size_t i = 0;
  for (; i < run.fields.n; ++i, at += run.fields.step) {
    const char* const p = at[0];
    const char* const end = at[1] - 1;
    const PlainNumber number = plain_number(p, static_cast<std::uint64_t>(end - p), run.end);
    if (number.length == 0 || run.is_missing(p, end)) break;
    double real = 0;
    if (!NumberWindow::read(p, number, real)) break;
    if (number.has_point()) {
      run.seen |= flag::fraction;
    } else {
      if (number.length > kFewDigits || (real == 0 && number.minus != 0)) break;
      if (number.minus != 0) run.seen |= flag::negative;
      if (p[number.minus] == '0' && number.whole_digits() > 1) run.seen |= flag::padded;
    }
    cells[i] = std::bit_cast<std::uint64_t>(real);
  }
  return i;
}

}  // namespace

/// Takes numbers of few digits, such as most are, and then another field.
void PieceScanner::take_numbers(std::size_t c, std::size_t rows) {
  ColumnCells& cells = columns_->cells()[c];
  const std::optional<ValueType> given = in_.given[c];
  const bool reals = given ? *given == ValueType::f64 : cells.as() == ColumnCells::As::floats;
  const bool integers = given ? *given == ValueType::i64 : !reals && !cells.large();
  NumberRun run{table_.fields(c, row_, rows - row_), end_,
                in_.missing.has_numbers() ? &in_.missing : nullptr};
  std::size_t n = 0;
  if (integers) n = read_integers(run, cells.room());
  if (reals && in_.dialect.decimal == '.') n = read_reals(run, cells.room());
  cells.took(n, integers && (run.seen & flag::negative) != 0);
  piece_->seen.flags[c] |= run.seen;
  row_ += n;
  if (row_ == rows) return;
  take_number(c);
  ++row_;
}

/// Notes what a field is that starts at `p`: a number, or nothing, which is read as NaN.
void PieceScanner::note_number(const char* p, std::string_view number, std::size_t c) {
  const bool sign = number.starts_with('-') || number.starts_with('+');
  const std::string_view digits = number.substr(sign);
  if (!digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit)) {
    if (digits.front() == '0' && digits.size() > 1) piece_->seen.flags[c] |= flag::padded;
    return note_integer(number, c);
  }
  if (whole_[c]) fail_field(place(p, c), p, end_, in_.dialect, in_.missing, *in_.given[c]);
  piece_->seen.flags[c] |= number.empty() ? flag::nan : flag::fraction;
}

void PieceScanner::note_integer(std::string_view number, std::size_t c) {
  const bool negative = number.front() == '-';
  const std::string_view digits = number.substr(negative || number.front() == '+');
  std::uint64_t value = 0;
  const bool fits =
      read_number(digits.data(), digits.data() + digits.size(), value).error == NumberError::none;
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
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
  if (fits ? f64_holds(value) : f64_holds(digits)) return;
  seen |= flag::rounded;
  note_first(piece_->seen.rounded, number, c);
}

void PieceScanner::note_first(NumbersAt& numbers, std::string_view number, std::size_t c) {
  numbers.try_emplace(c, NumberAt{offset(number.data()), std::string(number)});
}

/// Puts a number as what its column holds.
void PieceScanner::put_number(std::string_view number, std::size_t c) {
  ColumnCells& cells = columns_->cells()[c];
  if (cells.as() == ColumnCells::As::values) return put_given(number, c, cells);
  double real = 0;
  std::int64_t integer = 0;
  std::uint64_t large = 0;
  const std::string_view text = in_.dialect.with_point(number, scratch_);
  const char* const stop = text.data() + text.size();
  const auto reads = [&](auto& value) {
    const NumberText read = read_number(text.data(), stop, value);
    return read.error == NumberError::none && read.end == stop;
  };
  const bool minus_zero = number.front() == '-' && reads(integer) && integer == 0;
  if (cells.as() == ColumnCells::As::integers && !minus_zero && reads(integer)) {
    return cells.put_integer(integer);
  }
  if (cells.as() == ColumnCells::As::integers && !minus_zero && reads(large)) {
    return cells.put_large(large);
  }
  if (!reads(real)) note_first(piece_->seen.misfits, number, c);
  cells.put_float(real);
}

/// A number of a column whose type is given.
void PieceScanner::put_given(std::string_view number, std::size_t c, ColumnCells& cells) {
  const ValueType type = *in_.given[c];
  std::byte cell[8] = {};
  const std::string_view text = in_.dialect.with_point(number, scratch_);
  const NumberText read = read_number(text.data(), text.data() + text.size(), type, cell);
  if (read.error != NumberError::none || read.end != text.data() + text.size()) {
    fail_field(place(number.data(), c), number.data(), end_, in_.dialect, in_.missing, type);
  }
  const std::uint64_t bits = load_bits(type, cell);
  if (!is_float(type) && bits == usual_mark(type)) note_first(piece_->seen.marks, number, c);
  cells.put(bits);
}

/// A number in any form, with quotes or blanks around it, nan, inf, nothing, or no number at all.
void PieceScanner::take_number(std::size_t c) {
  const FieldColumn fields = table_.fields(c, row_, 1);
  const Field field = fields[0];
  const char* const p = *fields.at;
  const std::string_view text = trimmed(field.text);
  const bool missing = in_.missing.has(text), number = !missing && in_.dialect.is_number(text);
  if (missing && (!field.quoted || in_.missing.has(field))) {
    columns_->see_missing(c);
  } else if (field.quoted && (missing || number)) {
    columns_->see_quoted_number(c, in_.missing.may_be_missing(field));
  }
  if (missing ? !in_.missing_as_nan : !number) {
    if (in_.numbers_only || (in_.given[c] && !missing)) {
      fail_field(place(p, c), p, end_, in_.dialect, in_.missing,
                 in_.given[c].value_or(ValueType::f64));
    }
    piece_->seen.flags[c] |= missing ? flag::missing : flag::other;
  } else {
    note_number(p, number ? text : std::string_view(), c);
  }
  if (number) {
    put_number(text, c);
  } else if (!missing) {
    columns_->see(c, fields, row_number());
  } else {
    columns_->cells()[c].put_missing();
  }
}

}  // namespace dapple::detail::csv
