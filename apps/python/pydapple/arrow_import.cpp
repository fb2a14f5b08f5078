// Columns from an Arrow stream, put together from some batches or all: stored values, which of them
// are missing, and what they mean.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>

#include "core.h"
#include "dapple/arrow_abi.h"
#include "dapple/column.h"
#include "numpy_api.h"
#include "words.h"

namespace pydapple {

namespace {

using dapple::Meaning;
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

nb::list to_list(const Pairs& pairs) {
  nb::list out;
  for (const auto& [key, value] : pairs) {
    out.append(
        nb::make_tuple(nb::bytes(key.data(), key.size()), nb::bytes(value.data(), value.size())));
  }
  return out;
}

class Imported {
 public:
  explicit Imported(const ArrowSchema& schema)
      : name_(schema.name != nullptr ? schema.name : ""),
        format_(schema.format),
        metadata_(pairs_in(schema.metadata)) {
    for (const auto& [key, value] : metadata_) {
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

  /// The child's rows of a batch. Where a row of the batch is missing, so are all of its cells.
  /// REQUIRES that the batch before it is not released yet.
  void append(const ArrowArray& array, const ArrowArray& batch) {
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
    } else if (format_ == "b") {
      put<std::uint8_t>(out, rows, [&](std::size_t k) {
        return static_cast<std::uint8_t>(
            bit(array.buffers[1], first + static_cast<std::int64_t>(k)));
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

  /// True where only all of its words together tell their order.
  bool is_ordered() const noexcept { return meaning_.ordered; }
  /// That its cells and words take.
  std::size_t bytes() const noexcept { return values_.size() + missing_.size() + word_bytes_; }

  /// (name, values, whether each is missing or None, meaning); half floats are the bits of theirs.
  nb::tuple finish() {
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
    return nb::make_tuple(to_str(name_), values, missing, to_tuple(meaning_), to_list(metadata_));
  }

 private:
  std::uint32_t code_of(std::string_view word) {
    const std::uint64_t before = words_.size();
    const std::uint32_t code = words_.add(word);
    if (words_.size() > before) word_bytes_ += word.size() + sizeof(word);
    return code;
  }

  /// Of the rows from `before` on, those that an array says are, from its row `first` on.
  void mark_missing(const ArrowArray& array, std::int64_t first, std::size_t before) {
    if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return;
    for (std::size_t k = before; k < missing_.size(); ++k) {
      if (!bit(array.buffers[0], first + static_cast<std::int64_t>(k - before))) missing_[k] = 1;
    }
  }

  /// Dates in milliseconds (date64) are days like other dates; unless one is no whole day, which
  /// Arrow does not allow, or none of date32.
  void count_days() {
    constexpr std::int64_t day = 86'400'000;
    std::vector<std::byte> days(values_.size());
    for (std::size_t k = 0; k < missing_.size(); ++k) {
      const auto ticks = load<std::int64_t>(values_.data(), static_cast<std::int64_t>(k));
      const std::int64_t value = missing_[k] != 0 ? 0 : ticks / day;
      if (missing_[k] == 0 && (ticks % day != 0 || value != static_cast<std::int32_t>(value)))
        return;
      std::memcpy(days.data() + k * sizeof value, &value, sizeof value);
    }
    values_ = std::move(days);
    meaning_.unit = TimeUnit::day;
  }

  void read_format() {
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
    if (format_ == "b") {
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
  std::string_view kind_of_others() const {
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

  TimeUnit unit_of(char letter) const {
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
  static void put(std::byte* out, std::size_t rows, const F& value) {
    for (std::size_t k = 0; k < rows; ++k) {
      const T one = value(k);
      std::memcpy(out + k * sizeof(T), &one, sizeof one);
    }
  }

  /// The codes of a dictionary's words. Each batch may bring its own; their words are merged in
  /// order. One in the memory of that of the batch before, which is still there, is the same.
  const std::vector<std::uint32_t>& codes_of(const ArrowArray& dictionary) {
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

  void append_codes(const ArrowArray& array, std::int64_t first, std::size_t rows,
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

  std::string name_, format_, dictionary_format_;
  Pairs metadata_;
  ValueType type_ = ValueType::u8;
  Meaning meaning_;
  dapple::DictionaryBuilder words_;
  std::size_t word_bytes_ = 0;
  /// The dictionary of the batch before.
  struct Known {
    std::int64_t offset, length;
    std::vector<const void*> memory;
    std::vector<std::uint32_t> codes;

    bool is(const Known& other) const {
      return offset == other.offset && length == other.length && memory == other.memory;
    }
  };
  std::optional<Known> known_;
  std::vector<std::byte> values_;
  std::vector<std::uint8_t> missing_;
};

/// Releases what a producer made, however this ends.
template <class Made>
struct Owned : Made {
  Owned() : Made{} {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (this->release != nullptr) this->release(this);
  }
};

void check(ArrowArrayStream& stream, int status) {
  if (status == 0) return;
  const char* const words = stream.get_last_error(&stream);
  throw dapple::Error(dapple::Errc::invalid_argument,
                      words != nullptr ? words : "the Arrow stream failed");
}

/// What call() gives: a producer may wait for threads of its own, which need the GIL to read a file
/// through Python.
template <class Call>
int without_gil(const Call& call) {
  const nb::gil_scoped_release release;
  return call();
}

/// The rows of a stream, some at a time.
class Reader {
 public:
  explicit Reader(nb::handle capsule) {
    auto* const held =
        static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), kArrowStreamName));
    if (held == nullptr) throw nb::python_error();
    if (held->release == nullptr)
      throw dapple::Error(dapple::Errc::invalid_argument, "the Arrow stream was read before");
    static_cast<ArrowArrayStream&>(stream_) = *held;  // moved, as Arrow's interface has it
    held->release = nullptr;
    check(stream_, without_gil([&] { return stream_.get_schema(&stream_, &schema_); }));
    if (std::string(schema_.format) != "+s") {
      throw nb::type_error("the Arrow stream holds one array, but a frame is made of columns");
    }
    start_columns();
    for (const Imported& column : columns_) whole_ |= column.is_ordered();
  }

  nb::list metadata() const { return to_list(pairs_in(schema_.metadata)); }

  /// [(name, values, missing, meaning, metadata)] of all columns, of the next rows, up to the batch
  /// that makes them `most` bytes; of all rows where only all words of a category together tell
  /// its order. None where no rows follow, other than at first.
  nb::object next(std::uint64_t most) {
    std::uint64_t bytes = 0, batches = 0;
    std::unique_ptr<Owned<ArrowArray>> before;
    while (whole_ || bytes < most) {
      auto made = std::make_unique<Owned<ArrowArray>>();
      ArrowArray& batch = *made;
      check(stream_, without_gil([&] { return stream_.get_next(&stream_, &batch); }));
      if (batch.release == nullptr) break;
      if (batch.n_children != schema_.n_children) {
        throw dapple::Error(dapple::Errc::invalid_argument,
                            "a batch of the Arrow stream does not fit its schema");
      }
      bytes = 0;
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        columns_[k].append(*batch.children[k], batch);
        bytes += columns_[k].bytes();
      }
      before = std::move(made);
      ++batches;
      check_signals();
    }
    if (batches == 0 && started_) return nb::none();
    started_ = true;
    nb::list out;
    for (Imported& column : columns_) out.append(column.finish());
    start_columns();
    return out;
  }

 private:
  void start_columns() {
    columns_.clear();
    for (std::int64_t k = 0; k < schema_.n_children; ++k)
      columns_.emplace_back(*schema_.children[k]);
  }

  Owned<ArrowArrayStream> stream_;
  Owned<ArrowSchema> schema_;
  std::vector<Imported> columns_;  // of the rows that are being read
  bool whole_ = false, started_ = false;
};

}  // namespace

void bind_arrow_import(nb::module_& m) {
  nb::class_<Reader>(m, "ArrowReader")
      .def(nb::init<nb::handle>())
      .def("metadata", &Reader::metadata)
      .def("next", &Reader::next);
}

}  // namespace pydapple
