#include "lib/foreign/zarr/metadata.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "lib/base/bytes.h"
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

bool store_float(double value, ValueType type, std::byte* out) {
  if (type == ValueType::f64) {
    store_le(out, value);
    return true;
  }
  store_le(out, static_cast<float>(value));
  return type == ValueType::f32;
}

bool parse_text(std::string_view text, ValueType type, std::byte* out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!is_float(type)) return false;
  if (text == "NaN") return store_float(std::numeric_limits<double>::quiet_NaN(), type, out);
  if (text == "Infinity") return store_float(kInfinity, type, out);
  if (text == "-Infinity") return store_float(-kInfinity, type, out);
  if (!text.starts_with("0x") || text.size() != 2 + 2 * size_of(type)) return false;
  const auto bits = parse<std::uint64_t>(text.substr(2), 16);
  if (bits) store_bits(type, out, *bits);
  return bits.has_value();
}

}  // namespace

bool parse_fill(const Json& fill, ValueType type, std::byte* out) {
  if (fill.is(Json::Kind::string)) return parse_text(fill.text, type, out);
  std::optional<double> number;
  if (fill.is(Json::Kind::boolean)) number = fill.truth ? 1 : 0;
  if (fill.is(Json::Kind::number)) number = parse<double>(fill.text);
  if (!number) return false;
  if (is_float(type)) return store_float(*number, type, out);
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
