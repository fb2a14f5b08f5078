// Values of the reference reader: exact conversion between types, and canonical text.
#include <cmath>
#include <cstring>

#include "tests/reference.h"

namespace reference {

namespace {

constexpr int kF32 = 9, kF64 = 10;

float as_float(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float f;
  std::memcpy(&f, &low, sizeof f);
  return f;
}

double as_double(std::uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

std::uint64_t bits_of(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  return bits;
}

std::uint64_t bits_of(double d) {
  std::uint64_t bits;
  std::memcpy(&bits, &d, sizeof bits);
  return bits;
}

// An integer of any of the eight types: sign and magnitude.
struct Integer {
  bool negative = false;
  std::uint64_t magnitude = 0;
};

Integer integer_from(int type, std::uint64_t bits) {
  const unsigned width = 8 * size_of(type);
  const bool negative = type >= 5 && ((bits >> (width - 1)) & 1) != 0;
  if (!negative) return {false, bits};
  const std::uint64_t extended = width == 64 ? bits : bits | (~std::uint64_t{0} << width);
  return {true, ~extended + 1};
}

std::optional<std::uint64_t> integer_to(int type, Integer n) {
  const unsigned width = 8 * size_of(type);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if (type < 5) {
    if (n.negative || n.magnitude > mask) return std::nullopt;
    return n.magnitude;
  }
  const std::uint64_t largest = mask >> 1;
  if (n.magnitude > (n.negative ? largest + 1 : largest)) return std::nullopt;
  return (n.negative ? ~n.magnitude + 1 : n.magnitude) & mask;
}

std::optional<Integer> integer_from_double(double d) {
  if (std::isnan(d) || d != std::trunc(d) || (d == 0 && std::signbit(d))) return std::nullopt;
  const double magnitude = std::fabs(d);
  if (magnitude >= 18446744073709551616.0) return std::nullopt;
  return Integer{std::signbit(d), static_cast<std::uint64_t>(magnitude)};
}

// The magnitude's bits, trailing zeros aside, must fit the mantissa.
std::optional<std::uint64_t> integer_to_float(int type, Integer n) {
  std::uint64_t odd = n.magnitude;
  while (odd != 0 && (odd & 1) == 0) odd >>= 1;
  const unsigned mantissa = type == kF32 ? 24 : 53;
  if ((odd >> mantissa) != 0) return std::nullopt;
  const double d =
      n.negative ? -static_cast<double>(n.magnitude) : static_cast<double>(n.magnitude);
  return type == kF32 ? bits_of(static_cast<float>(d)) : bits_of(d);
}

// NaNs are moved bit by bit, because arithmetic may change their payload.
std::uint64_t widen(std::uint64_t bits) {
  if (!std::isnan(as_float(bits))) return bits_of(static_cast<double>(as_float(bits)));
  const std::uint64_t sign = (bits >> 31) << 63;
  return sign | (std::uint64_t{0x7FF} << 52) | ((bits & 0x7FFFFF) << 29);
}

std::optional<std::uint64_t> shorten(std::uint64_t bits) {
  const double d = as_double(bits);
  if (std::isnan(d)) {
    if ((bits & 0x1FFFFFFF) != 0) return std::nullopt;
    return ((bits >> 63) << 31) | (std::uint64_t{0xFF} << 23) | ((bits >> 29) & 0x7FFFFF);
  }
  if (std::isfinite(d) && std::fabs(d) > 3.4028234663852886e38) return std::nullopt;
  const auto f = static_cast<float>(d);
  if (bits_of(static_cast<double>(f)) != bits) return std::nullopt;
  return bits_of(f);
}

const char* type_name(int type) {
  constexpr const char* names[] = {"",    "u8",  "u16", "u32", "u64", "i8",
                                   "i16", "i32", "i64", "f32", "f64"};
  return names[type];
}

std::string hexadecimal(std::uint64_t value, unsigned digits) {
  std::string s(digits, '0');
  for (unsigned i = 0; i < digits; ++i) {
    s[digits - 1 - i] = "0123456789abcdef"[(value >> (4 * i)) & 15];
  }
  return s;
}

std::string value_text(int type, std::uint64_t bits) {
  if (type >= kF32) return hexadecimal(bits, 2 * size_of(type));
  const Integer n = integer_from(type, bits);
  std::string s = n.negative ? "-" : "";
  return s += std::to_string(n.magnitude);
}

std::string label_text(const std::string& label) {
  if (label.empty()) return "-";
  std::string s;
  for (char c : label) s += hexadecimal(static_cast<unsigned char>(c), 2);
  return s;
}

std::string header_text(const Object& object) {
  constexpr const char* kinds[] = {"", "DenseMatrix", "CSRMatrix", "Frame"};
  std::string s = "dbdf v1 " + std::string(kinds[object.data_type]) + " rows " +
                  std::to_string(object.rows) + " cols " + std::to_string(object.cols);
  if (object.data_type != 3) return s + " vt " + type_name(object.types[0]) + "\n";
  s += "\n";
  for (std::uint64_t c = 0; c < object.cols; ++c) {
    s += "col " + std::to_string(c) + " vt " + type_name(object.types[c]) + " label " +
         label_text(object.labels[c]) + "\n";
  }
  return s;
}

}  // namespace

std::optional<std::uint64_t> convert(int from, std::uint64_t bits, int to) {
  if (from == to) return bits;
  if (from < kF32) {
    const Integer n = integer_from(from, bits);
    return to < kF32 ? integer_to(to, n) : integer_to_float(to, n);
  }
  if (to >= kF32) return to == kF64 ? widen(bits) : shorten(bits);
  const double d = from == kF32 ? static_cast<double>(as_float(bits)) : as_double(bits);
  const auto n = integer_from_double(d);
  return n ? integer_to(to, *n) : std::nullopt;
}

std::string text(const Object& object) {
  std::uint64_t uncovered = 0;
  std::string lines;
  for (std::uint64_t i = 0; i < object.cells.size(); ++i) {
    const Cell& cell = object.cells[i];
    const std::uint64_t row = i / object.cols, col = i % object.cols;
    if (cell.state == State::absent) ++uncovered;
    if (cell.state == State::absent || cell.bits == 0) continue;
    lines += "c " + std::to_string(row) + " " + std::to_string(col) + " " +
             value_text(object.type_of(col), cell.bits) + "\n";
  }
  return header_text(object) + "uncovered " + std::to_string(uncovered) + "\n" + lines;
}

}  // namespace reference
