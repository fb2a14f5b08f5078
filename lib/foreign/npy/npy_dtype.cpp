#include "lib/foreign/npy/npy_dtype.h"

#include <charconv>
#include <optional>

#include "dapple/column.h"

namespace dapple::detail::npy {

namespace {

char letter_of(ValueType type) noexcept {
  return is_float(type) ? 'f' : is_signed(type) ? 'i' : 'u';
}

std::optional<ValueType> value_type_of(const Dtype& dtype) {
  if (dtype.kind == 'b' && dtype.size == 1) return ValueType::u8;
  for (const ValueType type : kValueTypes) {
    if (letter_of(type) == dtype.kind && size_of(type) == dtype.size) return type;
  }
  return std::nullopt;
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
  text += letter_of(type);
  text += std::to_string(size_of(type));
  return text;
}

}  // namespace dapple::detail::npy
