#include "lib/foreign/zarr/metadata.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "lib/base/bytes.h"
#include "lib/base/half.h"
#include "lib/cells/convert_cells.h"

namespace dapple::detail::zarr {

namespace {

/// All of the text as a number.
template <class T, class... Base>
std::optional<T> parse(std::string_view text, Base... base) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, base...);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

/// Rounds to the nearest half, ties to even.
double nearest_half(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const double step = std::ldexp(1, std::max(std::ilogb(value), -14) - 10);
  const double half = std::nearbyint(value / step) * step;
  return std::abs(half) <= 65504 ? half
                                 : std::copysign(std::numeric_limits<double>::infinity(), value);
}

bool store_float(double value, const CellType& type, std::byte* out) {
  if (type.half) value = nearest_half(value);
  if (type.read_as == ValueType::f64) {
    store_le(out, value);
    return true;
  }
  store_le(out, static_cast<float>(value));
  return true;
}

bool parse_text(std::string_view text, const CellType& type, std::byte* out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!is_float(type.read_as)) return false;
  if (text == "NaN") return store_float(std::numeric_limits<double>::quiet_NaN(), type, out);
  if (text == "Infinity") return store_float(kInfinity, type, out);
  if (text == "-Infinity") return store_float(-kInfinity, type, out);
  if (!text.starts_with("0x") || text.size() != 2 + 2 * type.size) return false;
  const auto bits = parse<std::uint64_t>(text.substr(2), 16);
  if (!bits) return false;
  if (type.half) {
    store_le(out, half_to_float(static_cast<std::uint16_t>(*bits)));
  } else {
    store_bits(type.read_as, out, *bits);
  }
  return true;
}

}  // namespace

bool parse_fill(const Json& fill, const CellType& cells, std::byte* out) {
  const ValueType type = cells.read_as;
  if (fill.is(Json::Kind::string)) return parse_text(fill.text, cells, out);
  std::optional<double> number;
  if (fill.is(Json::Kind::boolean)) number = fill.truth ? 1 : 0;
  if (fill.is(Json::Kind::number)) number = parse<double>(fill.text);
  if (!number) return false;
  if (is_float(type)) return store_float(*number, cells, out);
  std::uint64_t bits = 0;
  bool fits = false;
  if (const auto n = parse<std::uint64_t>(fill.text)) {
    fits = convert_cell(ValueType::u64, *n, type, bits);
  } else if (const auto negative = parse<std::int64_t>(fill.text)) {
    fits = convert_cell(ValueType::i64, static_cast<std::uint64_t>(*negative), type, bits);
  } else {  // 0.0 for integers, as some programs write it
    fits = convert_cell(ValueType::f64, std::bit_cast<std::uint64_t>(*number), type, bits);
  }
  store_bits(type, out, bits);
  return fits;
}

}  // namespace dapple::detail::zarr
