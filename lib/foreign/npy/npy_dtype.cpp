#include "lib/foreign/npy/npy_header.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "dapple/column.h"

namespace dapple::detail::npy {

namespace {

std::optional<ValueType> value_type_of(const Dtype& dtype) {
  if (dtype.kind == 'b' && dtype.size == 1) return ValueType::u8;
  if (dtype.size > 8) return std::nullopt;
  return find_value_type(dtype.kind + std::to_string(8 * dtype.size));
}

/// NumPy's other names of the types, which other programs write.
std::string_view short_name(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"?", "b1"},       {"bool", "b1"},    {"b", "i1"},          {"int8", "i1"},
      {"byte", "i1"},    {"h", "i2"},       {"int16", "i2"},      {"short", "i2"},
      {"i", "i4"},       {"int32", "i4"},   {"intc", "i4"},       {"l", "i8"},
      {"q", "i8"},       {"p", "i8"},       {"int64", "i8"},      {"int", "i8"},
      {"long", "i8"},    {"intp", "i8"},    {"longlong", "i8"},   {"B", "u1"},
      {"uint8", "u1"},   {"ubyte", "u1"},   {"H", "u2"},          {"uint16", "u2"},
      {"ushort", "u2"},  {"I", "u4"},       {"uint32", "u4"},     {"uintc", "u4"},
      {"L", "u8"},       {"Q", "u8"},       {"P", "u8"},          {"uint64", "u8"},
      {"uint", "u8"},    {"ulong", "u8"},   {"uintp", "u8"},      {"ulonglong", "u8"},
      {"e", "f2"},       {"float16", "f2"}, {"half", "f2"},       {"f", "f4"},
      {"float32", "f4"}, {"single", "f4"},  {"d", "f8"},          {"float64", "f8"},
      {"float", "f8"},   {"double", "f8"},  {"datetime64", "M8"}, {"timedelta64", "m8"},
  };
  for (const auto& [name, short_one] : names) {
    if (name == text) return short_one;
  }
  return text;
}

std::optional<TimeUnit> unit_named(std::string_view text) {
  constexpr TimeUnit units[] = {TimeUnit::day, TimeUnit::second, TimeUnit::millisecond,
                                TimeUnit::microsecond, TimeUnit::nanosecond};
  for (const TimeUnit unit : units) {
    if (name(unit) == text) return unit;
  }
  return std::nullopt;
}

}  // namespace

Dtype split_dtype(std::string_view text) {
  Dtype dtype;
  if (!text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos) {
    dtype.swapped = text[0] == '>';
    text.remove_prefix(1);
  }
  if (const std::size_t bracket = text.find('['); bracket != text.npos && text.ends_with(']')) {
    dtype.unit = text.substr(bracket + 1, text.size() - bracket - 2);
    text = text.substr(0, bracket);
  }
  text = short_name(text);
  if (text.size() < 2) return {};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + 1, end, dtype.size);
  if (result.ec != std::errc{} || result.ptr != end) return {};
  dtype.kind = text[0];
  return dtype;
}

bool describe(const Dtype& dtype, Field& field) {
  field.size = dtype.size;
  field.swapped = dtype.swapped && dtype.size > 1;
  Meaning& meaning = field.meaning;
  if (dtype.kind == 'M' || dtype.kind == 'm') {
    const auto unit = unit_named(dtype.unit);
    if (!unit || dtype.size != 8) return false;
    field.type = ValueType::i64;
    meaning.kind = dtype.kind == 'M' ? MeaningKind::timestamp : MeaningKind::duration;
    meaning.unit = *unit;
    meaning.missing = kMissingTick;
    return true;
  }
  if (!dtype.unit.empty()) return false;
  if (dtype.kind == 'f' && dtype.size == 2) {
    field.type = ValueType::f32;
    field.form = Form::half;
    return true;
  }
  constexpr std::uint64_t kMostCharacters = std::uint64_t{1} << 30;
  if ((dtype.kind == 'S' || dtype.kind == 'a' || dtype.kind == 'U') &&
      dtype.size <= kMostCharacters) {
    field.type = ValueType::u32;
    field.form = dtype.kind == 'U' ? Form::characters : Form::bytes;
    field.swapped = field.form == Form::characters && dtype.swapped;
    if (field.form == Form::characters) field.size *= 4;
    return true;
  }
  const auto type = value_type_of(dtype);
  if (!type) return false;
  field.type = *type;
  if (dtype.kind == 'b') meaning.kind = MeaningKind::boolean;
  return true;
}

std::string spell_dtype(ValueType type) {
  std::string text(1, size_of(type) == 1 ? '|' : '<');
  return (text += name(type)[0]) += std::to_string(size_of(type));
}

}  // namespace dapple::detail::npy
