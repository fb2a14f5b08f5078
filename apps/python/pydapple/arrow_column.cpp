#include "arrow_column.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <nanobind/stl/string.h>

#include "numpy_api.h"
#include "words.h"

namespace pydapple {

namespace {

using dapple::MeaningKind;
using dapple::TimeUnit;
using dapple::ValueType;

[[noreturn]] void fail_column(const std::string& name, const std::string& why) {
  throw nb::type_error(("column '" + name + "' " + why).c_str());
}

bool bit(const void* bits, std::int64_t k) noexcept {
  return (static_cast<const std::uint8_t*>(bits)[k / 8] >> (k % 8) & 1) != 0;
}

template <class T>
T load(const void* buffer, std::int64_t k) noexcept {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(buffer) + k * std::int64_t{sizeof(T)},
              sizeof value);
  return value;
}

/// Strings of an array in any of Arrow's layouts: "u", "U" or "vu".
class Strings {
 public:
  static bool is_format(const std::string& format) noexcept {
    return format == "u" || format == "U" || format == "vu";
  }
  Strings(const std::string& format, const ArrowArray& array) : format_(format), array_(array) {}

  /// Row `k`, counted from the start of the buffers.
  std::string_view operator[](std::int64_t k) const noexcept {
    if (format_ == "vu") return view(k);
    const bool wide = format_ == "U";
    const auto at = [&](std::int64_t i) {
      return wide ? load<std::int64_t>(array_.buffers[1], i)
                  : std::int64_t{load<std::int32_t>(array_.buffers[1], i)};
    };
    const auto* const bytes = static_cast<const char*>(array_.buffers[2]);
    return {bytes + at(k), static_cast<std::size_t>(at(k + 1) - at(k))};
  }

 private:
  /// 16 bytes: the length, then the string itself, or where it is.
  std::string_view view(std::int64_t k) const noexcept {
    const auto* const p = static_cast<const char*>(array_.buffers[1]) + 16 * k;
    const auto size = static_cast<std::size_t>(load<std::int32_t>(p, 0));
    if (size <= 12) return {p + 4, size};
    const auto* const bytes =
        static_cast<const char*>(array_.buffers[2 + load<std::int32_t>(p, 2)]);
    return {bytes + load<std::int32_t>(p, 3), size};
  }

  const std::string& format_;
  const ArrowArray& array_;
};

TimeUnit unit_of(char letter) noexcept {
  switch (letter) {
    case 's':
      return TimeUnit::second;
    case 'm':
      return TimeUnit::millisecond;
    case 'u':
      return TimeUnit::microsecond;
    default:
      return TimeUnit::nanosecond;
  }
}

template <class T, class F>
void put(std::byte* out, std::size_t rows, const F& value) {
  for (std::size_t k = 0; k < rows; ++k) {
    const T one = value(k);
    std::memcpy(out + k * sizeof(T), &one, sizeof one);
  }
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The metadata of a schema or field: a count of pairs, then each key and value after its length.
Pairs pairs_in(const char* metadata) {
  Pairs out;
  if (metadata == nullptr) return out;
  const auto number = [&] {
    const auto value = load<std::int32_t>(metadata, 0);
    metadata += sizeof value;
    return value;
  };
  const auto text = [&] {
    const auto size = static_cast<std::size_t>(number());
    return std::string(std::exchange(metadata, metadata + size), size);
  };
  for (std::int32_t pairs = number(); pairs > 0; --pairs) {
    std::string key = text();
    out.emplace_back(std::move(key), text());
  }
  return out;
}

}  // namespace

nb::list metadata_of(const ArrowSchema& schema) {
  nb::list out;
  for (const auto& [key, value] : pairs_in(schema.metadata)) {
    out.append(
        nb::make_tuple(nb::bytes(key.data(), key.size()), nb::bytes(value.data(), value.size())));
  }
  return out;
}

ArrowColumn::ArrowColumn(const ArrowSchema& schema)
    : name_(schema.name != nullptr ? schema.name : ""),
      format_(schema.format),
      metadata_(metadata_of(schema)) {
  for (const auto& [key, value] : pairs_in(schema.metadata)) {
    if (key != "ARROW:extension:name" || value.empty()) continue;  // "pandas.period", say
    fail_column(name_, "is of Arrow's extension type " + value +
                           ", of which only the storage could be kept; cast it to that first");
  }
  if (schema.dictionary != nullptr) {
    dictionary_format_ = schema.dictionary->format;
    constexpr std::int64_t ordered = 1;
    meaning_.kind = MeaningKind::category;
    meaning_.ordered = (schema.flags & ordered) != 0;
  } else {
    read_format();
  }
  if (meaning_.has_words()) type_ = ValueType::u32;
}

void ArrowColumn::append(const ArrowArray& array, const ArrowArray& batch) {
  const std::int64_t first = array.offset + batch.offset;
  const auto rows = static_cast<std::size_t>(batch.length);
  const std::size_t before = missing_.size();
  missing_.resize(before + rows, format_ == "n");
  mark_missing(array, first, before);
  mark_missing(batch, batch.offset, before);
  values_.resize((before + rows) * dapple::size_of(type_));
  if (rows == 0) known_.reset();  // this batch is then the one before
  if (rows == 0 || format_ == "n") return;
  std::byte* const out = values_.data() + before * dapple::size_of(type_);
  if (!dictionary_format_.empty()) {
    append_codes(array, first, rows, before, out);
  } else if (meaning_.has_words()) {
    const Strings strings(format_, array);
    put<std::uint32_t>(out, rows, [&](std::size_t k) {
      if (missing_[before + k] != 0) return 0U;
      return code_of(strings[first + static_cast<std::int64_t>(k)]);
    });
  } else if (decimal_) {
    append_decimals(array.buffers[1], first, rows, before, out);
  } else if (format_ == "b") {
    put<std::uint8_t>(out, rows, [&](std::size_t k) {
      return static_cast<std::uint8_t>(bit(array.buffers[1], first + static_cast<std::int64_t>(k)));
    });
  } else if (format_ == "tdD") {
    put<std::int64_t>(out, rows, [&](std::size_t k) {
      return std::int64_t{
          load<std::int32_t>(array.buffers[1], first + static_cast<std::int64_t>(k))};
    });
  } else {
    const std::size_t item = dapple::size_of(type_);
    std::memcpy(
        out,
        static_cast<const std::byte*>(array.buffers[1]) + static_cast<std::size_t>(first) * item,
        rows * item);
  }
}

nb::tuple ArrowColumn::finish() {
  if (format_ == "tdm") count_days();
  nb::object values = new_array(missing_.size(), type_);
  if (!values_.empty()) std::memcpy(data_of(values), values_.data(), values_.size());
  nb::object missing = nb::none();
  if (std::find(missing_.begin(), missing_.end(), 1) != missing_.end()) {
    missing = new_array(missing_.size(), ValueType::u8);
    std::memcpy(data_of(missing), missing_.data(), missing_.size());
  }
  if (format_ == "e") values = values.attr("view")("f2");
  if (meaning_.has_words()) meaning_.words = words_.finish();
  return nb::make_tuple(to_str(name_), values, missing, to_tuple(meaning_), metadata_);
}

std::uint32_t ArrowColumn::code_of(std::string_view word) {
  const std::uint64_t before = words_.size();
  const std::uint32_t code = words_.add(word);
  if (words_.size() > before) word_bytes_ += word.size() + sizeof(word);
  return code;
}

/// Of the rows from `before` on, those that an array says are, from its row `first` on.
void ArrowColumn::mark_missing(const ArrowArray& array, std::int64_t first, std::size_t before) {
  if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return;
  for (std::size_t k = before; k < missing_.size(); ++k) {
    if (!bit(array.buffers[0], first + static_cast<std::int64_t>(k - before))) missing_[k] = 1;
  }
}

/// Dates in milliseconds (date64) are days like other dates; unless one is no whole day, which
/// Arrow does not allow, or none of date32.
void ArrowColumn::count_days() {
  constexpr std::int64_t day = 86'400'000;
  std::vector<std::byte> days(values_.size());
  for (std::size_t k = 0; k < missing_.size(); ++k) {
    const auto ticks = load<std::int64_t>(values_.data(), static_cast<std::int64_t>(k));
    const std::int64_t value = missing_[k] != 0 ? 0 : ticks / day;
    if (missing_[k] == 0 && (ticks % day != 0 || value != static_cast<std::int32_t>(value))) return;
    std::memcpy(days.data() + k * sizeof value, &value, sizeof value);
  }
  values_ = std::move(days);
  meaning_.unit = TimeUnit::day;
}

void ArrowColumn::read_format() {
  constexpr std::pair<const char*, ValueType> numbers[] = {
      {"C", ValueType::u8},  {"S", ValueType::u16}, {"I", ValueType::u32}, {"L", ValueType::u64},
      {"c", ValueType::i8},  {"s", ValueType::i16}, {"i", ValueType::i32}, {"l", ValueType::i64},
      {"f", ValueType::f32}, {"g", ValueType::f64}, {"e", ValueType::u16}, {"n", ValueType::f64}};
  for (const auto& [format, value_type] : numbers) {
    if (format_ != format) continue;
    type_ = value_type;
    return;
  }
  type_ = ValueType::i64;
  decimal_ = ArrowDecimal::of_format(format_);
  if (decimal_) {
    if (!decimal_->is_whole()) type_ = ValueType::f64;
  } else if (format_ == "b") {
    type_ = ValueType::u8;
    meaning_.kind = MeaningKind::boolean;
  } else if (Strings::is_format(format_)) {
    meaning_.kind = MeaningKind::text;
  } else if (format_ == "tdD" || format_ == "tdm") {
    meaning_.kind = MeaningKind::timestamp;
    meaning_.unit = format_ == "tdD" ? TimeUnit::day : TimeUnit::millisecond;
  } else if (format_.starts_with("ts") && format_.size() >= 4) {
    meaning_.kind = MeaningKind::timestamp;
    meaning_.unit = unit_of(format_[2]);
    meaning_.zone = format_.substr(4);
  } else if (format_.starts_with("tD") && format_.size() == 3) {
    meaning_.kind = MeaningKind::duration;
    meaning_.unit = unit_of(format_[2]);
  } else {
    fail_column(name_, "holds " + std::string(kind_of_others()) + " (Arrow format '" + format_ +
                           "'), which no column of a file does; cast it to numbers, Booleans, "
                           "times, text or a dictionary first, or leave it out");
  }
}

/// What values are called that no column holds.
std::string_view ArrowColumn::kind_of_others() const {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"d:", "decimals"}, {"tt", "times of day"},   {"ti", "intervals of a calendar"},
      {"z", "bytes"},     {"Z", "bytes"},           {"vz", "bytes"},
      {"w:", "bytes"},    {"+l", "lists"},          {"+L", "lists"},
      {"+v", "lists"},    {"+w", "lists"},          {"+s", "structs"},
      {"+m", "maps"},     {"+r", "runs of values"}, {"+u", "unions"}};
  for (const auto& [format, kind] : kinds) {
    if (format_.starts_with(format)) return kind;
  }
  return "other values";
}

/// The codes of a dictionary's words. Each batch may bring its own; their words are merged in
/// order. One in the memory of that of the batch before, which is still there, is the same.
const std::vector<std::uint32_t>& ArrowColumn::codes_of(const ArrowArray& dictionary) {
  const void* const* const buffers = dictionary.buffers;
  std::vector<const void*> memory(buffers, buffers + dictionary.n_buffers);
  Known known{dictionary.offset, dictionary.length, std::move(memory), {}};
  if (known_ && known_->is(known)) return known_->codes;
  const Strings strings(dictionary_format_, dictionary);
  for (std::int64_t i = 0; i < dictionary.length; ++i) {
    const std::int64_t at = dictionary.offset + i;
    const bool gone = dictionary.null_count != 0 && dictionary.buffers[0] != nullptr &&
                      !bit(dictionary.buffers[0], at);
    known.codes.push_back(gone ? 0 : code_of(strings[at]));
  }
  known_ = std::move(known);
  return known_->codes;
}

void ArrowColumn::append_codes(const ArrowArray& array, std::int64_t first, std::size_t rows,
                               std::size_t before, std::byte* out) {
  const ArrowArray& dictionary = *array.dictionary;
  if (dictionary.length > 0 && !Strings::is_format(dictionary_format_)) {  // without words: any
    fail_column(name_, "is a category of other things than words (Arrow format '" +
                           dictionary_format_ + "'); cast it to these first");
  }
  const std::vector<std::uint32_t>& codes = codes_of(dictionary);
  const auto fill = [&](auto tag) {
    using Index = decltype(tag);
    put<std::uint32_t>(out, rows, [&](std::size_t k) {
      if (missing_[before + k] != 0) return 0U;
      const auto index = static_cast<std::uint64_t>(
          load<Index>(array.buffers[1], first + static_cast<std::int64_t>(k)));
      if (index >= codes.size()) fail_column(name_, "has an index outside its dictionary");
      missing_[before + k] = codes[index] == 0;
      return codes[index];
    });
  };
  switch (format_[0]) {
    case 'c':
      return fill(std::int8_t{});
    case 'C':
      return fill(std::uint8_t{});
    case 's':
      return fill(std::int16_t{});
    case 'S':
      return fill(std::uint16_t{});
    case 'i':
      return fill(std::int32_t{});
    case 'I':
      return fill(std::uint32_t{});
    default:
      return fill(std::int64_t{});
  }
}

/// Decimals with digits after the point as the nearest f64, others as i64.
void ArrowColumn::append_decimals(const void* cells, std::int64_t first, std::size_t rows,
                                  std::size_t before, std::byte* out) {
  const auto put_all = [&](const auto& value, const char* why) {
    using Value = std::decay_t<decltype(*value(first))>;
    put<Value>(out, rows, [&](std::size_t k) {
      if (missing_[before + k] != 0) return Value{};
      const auto made = value(first + static_cast<std::int64_t>(k));
      if (!made) fail_column(name_, why);
      return *made;
    });
  };
  if (decimal_->is_whole()) {
    return put_all([&](std::int64_t k) { return decimal_->integer(cells, k); },
                   "holds a decimal beyond 64 bits; cast it to float64 first");
  }
  put_all(
      [&](std::int64_t k) { return decimal_->real(cells, k); },
      "holds a decimal of which float64 does not keep every digit; cast it to that first, or to "
      "text");
}

}  // namespace pydapple
