#include "lib/foreign/csv/csv_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "lib/base/number_window.h"
#include "lib/base/text.h"

namespace dapple::detail::csv {

namespace {

constexpr std::ptrdiff_t kStripBytes = std::ptrdiff_t{512} << 10;
constexpr std::ptrdiff_t kLongestStrip = 8 * kStripBytes;
// Rows may be far shorter than those of the first strip, and strips take memory.
constexpr std::ptrdiff_t kShortestStrip = kStripBytes / 8;
/// Integers of so many digits are held by i64, u64 and f64.
constexpr int kFewDigits = 15;

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

class Scanner {
 public:
  Scanner(const ScanInput& in, std::uint64_t line)
      : in_(in),
        end_(in.end),
        window_(in.end),
        delimiter_(in.delimiter),
        cols_(in.given.size()),
        first_line_(line) {
    out_.seen.assign(cols_, 0);
    for (const std::optional<ValueType>& type : in.given) {
      whole_.push_back(type && !is_float(*type));
    }
  }

  Rows scan(const char* p) {
    const char* strip = p;
    std::uint64_t strip_rows = 0;  // of every strip; not known before the first is full
    while (p != end_) {
      if (at_line_end(p, end_)) {
        require_only_blank_lines(p);
        break;
      }
      const std::uint64_t here = out_.strips.empty() ? 0 : out_.rows - out_.strips.back().row;
      const bool full = strip_rows == 0 ? p - strip >= kStripBytes
                                        : (here >= strip_rows && p - strip >= kShortestStrip) ||
                                              p - strip >= kLongestStrip;
      if (full && strip_rows == 0) strip_rows = here;
      if (full || out_.rows == 0) {
        out_.strips.push_back({out_.rows, offset(p)});
        strip = p;
      }
      p = row(p);
      ++out_.rows;
    }
    out_.end = offset(p);
    return std::move(out_);
  }

 private:
  std::uint64_t offset(const char* p) const { return static_cast<std::uint64_t>(p - in_.base); }
  std::uint64_t line() const { return first_line_ + out_.rows; }

  Place place(const char* p, std::size_t col) const {
    const bool labelled = !in_.columns.empty();
    return {in_.file, offset(p), line(), col,
            labelled ? std::string_view(in_.columns[col].label) : std::string_view()};
  }

  void require_only_blank_lines(const char* p) const {
    const char* q = p;
    while (q != end_ && at_line_end(q, end_)) q = past_line_end(q, end_);
    if (q != end_) fail_fields(p, 0);
  }

  [[noreturn]] void fail_fields(const char* p, std::uint64_t count) const {
    throw Error(Errc::corrupt, in_.file, offset(p), count_text(line(), count, cols_));
  }

  /// Scans a row; returns the start of the next.
  const char* row(const char* start) {
    const char* p = start;
    for (std::size_t c = 0; c < cols_; ++c) {
      if (c > 0) {
        if (p == end_ || *p != delimiter_) fail_fields(p, c);
        ++p;
      }
      p = field(p, c);
    }
    if (!at_line_end(p, end_)) {
      std::size_t count = cols_;
      for (const char* q = p; q != end_ && *q == delimiter_; ++count) {
        const std::optional<Field> more = find_field(q + 1, end_, delimiter_);
        if (!more) break;
        q = more->end;
      }
      fail_fields(p, count);
    }
    return past_line_end(p, end_);
  }

  /// Notes what a field is; returns its end.
  const char* field(const char* const p, std::size_t c) {
    if (const PlainNumber number = window_.at(p); number.length > 0) {
      const char* const end = p + number.length;
      if (at_field_end(end, end_, delimiter_)) {
        note_number(p, number, c);
        return end;
      }
    }
    const char* q = p;
    if (q != end_ && (*q == '-' || *q == '+')) ++q;
    const char* const digits = q;
    while (q != end_ && is_digit(*q)) ++q;
    if (q != digits && at_field_end(q, end_, delimiter_)) {
      if (q - digits > kFewDigits || *p == '-') note_integer(p, q, c);
      return q;
    }
    bool number = q != digits;
    if (q != end_ && *q == '.') {
      const char* const fraction = ++q;
      while (q != end_ && is_digit(*q)) ++q;
      number = number || q != fraction;
    }
    if (number && q != end_ && (*q == 'e' || *q == 'E')) {
      ++q;
      if (q != end_ && (*q == '-' || *q == '+')) ++q;
      const char* const power = q;
      while (q != end_ && is_digit(*q)) ++q;
      number = q != power;
    }
    if (!number || !at_field_end(q, end_, delimiter_)) return unusual_field(p, c);
    note_fraction(p, c);
    return q;
  }

  void note_number(const char* p, const PlainNumber& number, std::size_t c) {
    if (number.has_point()) {
      note_fraction(p, c);
    } else if (number.minus != 0 || number.length > kFewDigits) {
      note_integer(p, p + number.length, c);
    }
  }

  void note_fraction(const char* p, std::size_t c) {
    if (whole_[c]) fail_field(place(p, c), p, end_, delimiter_, *in_.given[c]);
    out_.seen[c] |= flag::fraction;
  }

  /// A negative integer, or one of many digits; `p` is where it starts, with its sign.
  void note_integer(const char* p, const char* end, std::size_t c) {
    const char* const digits = *p == '-' || *p == '+' ? p + 1 : p;
    std::uint64_t value = 0;
    const bool fits = std::from_chars(digits, end, value).ec == std::errc();
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
    const bool negative = *p == '-';
    std::uint8_t& seen = out_.seen[c];
    if (fits && negative && value == 0) {  // minus zero is no integer: its sign would be lost
      if (!whole_[c]) seen |= flag::fraction;
      return;
    }
    if (!fits || (negative && value > kHalf)) {
      seen |= flag::beyond;
    } else if (negative) {
      seen |= flag::negative;
    } else if (value >= kHalf) {
      seen |= flag::above_i64;
    }
    if ((seen & flag::rounded) != 0) return;
    if (fits ? f64_holds(value) : f64_holds({digits, static_cast<std::size_t>(end - digits)}))
      return;
    seen |= flag::rounded;
    out_.rounded[c] = {offset(p), line(), std::string(p, end)};
  }

  /// A field with quotes or blanks around it, nan, inf, nothing, or no number at all.
  const char* unusual_field(const char* p, std::size_t c) {
    const std::optional<Field> found = find_field(p, end_, delimiter_);
    const ValueType type = in_.given[c].value_or(ValueType::f64);
    if (!found) fail_field(place(p, c), p, end_, delimiter_, type);
    const std::string_view text = trimmed(found->text);
    const bool missing = is_missing(text);
    out_.quoted_delimiters |= found->quoted && found->text.find(delimiter_) != found->text.npos;
    out_.quoted_line_ends |= found->quoted && found->text.find('\n') != found->text.npos;
    if (missing ? !in_.missing_as_nan : !is_number(text)) {
      if (in_.numbers_only || in_.given[c]) fail_field(place(p, c), p, end_, delimiter_, type);
      out_.seen[c] |= missing ? flag::missing : flag::other;
      return found->end;
    }
    const char* q = text.data();
    const char* const end = q + text.size();
    if (!missing && (*q == '-' || *q == '+')) ++q;
    while (q != end && is_digit(*q)) ++q;
    if (!missing && q == end) {
      note_integer(text.data(), end, c);
    } else {
      note_fraction(p, c);
    }
    return found->end;
  }

  const ScanInput& in_;
  const char* const end_;
  NumberWindow window_;
  const char delimiter_;
  const std::size_t cols_;
  const std::uint64_t first_line_;
  std::vector<std::uint8_t> whole_;  // columns given as integers
  Rows out_;
};

}  // namespace

Rows scan_rows(const ScanInput& input, const char* p, std::uint64_t line) {
  return Scanner(input, line).scan(p);
}

}  // namespace dapple::detail::csv
