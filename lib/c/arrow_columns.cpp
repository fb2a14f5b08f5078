#include "lib/c/arrow_columns.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "lib/base/bytes.h"

namespace dapple::detail::c {

namespace {

const char* format_of(ValueType type) noexcept {
  constexpr const char* formats[] = {"", "C", "S", "I", "L", "c", "s", "i", "l", "f", "g"};
  return formats[static_cast<std::size_t>(type)];
}

bool is_number(const ArrowColumn& column) noexcept {
  return column.meaning.kind == MeaningKind::number && !column.meaning.missing;
}

bool is_valid(const ArrayData& out, std::uint64_t row) noexcept {
  return out.valid.size() == 0 || (out.valid[row / 8] >> row % 8 & 1) != 0;
}

[[noreturn]] void fail(const ArrowColumn& column, const char* what) {
  throw Error(Errc::corrupt, "column '" + column.name + "' holds " + what);
}

template <class T>
void to_bits(const ArrowColumn& column, const T* values, std::uint64_t rows, ArrayData& out) {
  Array<std::byte> bits((rows + 7) / 8);
  std::memset(bits.data(), 0, bits.size());
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (values[row] == 0) continue;
    if (values[row] != 1) fail(column, "a number that is neither true nor false");
    bits[row / 8] |= static_cast<std::byte>(1U << row % 8);
  }
  out.values = std::move(bits);
  out.buffers[1] = out.values.data();
}

/// Of a category the places of its words, of text the words themselves.
template <class T>
void to_words(const ArrowColumn& column, T* codes, std::uint64_t rows, ArrayData& out) {
  const Dictionary& words = *column.meaning.words;
  const bool text = column.meaning.kind == MeaningKind::text;
  auto texts = text ? std::make_shared<Texts>() : nullptr;
  if (text) {
    texts->offsets.reset(rows + 1);
    texts->offsets[0] = 0;
  }
  for (std::uint64_t row = 0; row < rows; ++row) {
    const auto code = static_cast<std::uint64_t>(codes[row]);
    if (is_valid(out, row)) {
      if (code == 0 || code > words.size()) fail(column, "a code without a word");
      codes[row] = static_cast<T>(code - 1);
      if (text) append_text(texts->bytes, words[code - 1]);
    }
    if (text) texts->offsets[row + 1] = static_cast<std::int64_t>(texts->bytes.size());
  }
  if (text) {
    set_texts(out, std::move(texts));
  } else {
    out.words = column.words;
  }
}

template <class T>
void days(const ArrowColumn& column, T* values, std::uint64_t rows, ArrayData& out) {
  constexpr std::int64_t day = 86400;
  if (!column.is_date()) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::int64_t seconds;
      if (__builtin_mul_overflow(static_cast<std::int64_t>(values[row]), day, &seconds)) {
        fail(column, "a duration that Arrow cannot hold in seconds");
      }
      values[row] = static_cast<T>(seconds);
    }
    return;
  }
  Array<std::byte> narrow(rows * sizeof(std::int32_t));
  for (std::uint64_t row = 0; row < rows; ++row) {
    const auto date = static_cast<std::int32_t>(values[row]);
    if (static_cast<T>(date) != values[row]) fail(column, "a date that Arrow cannot hold");
    std::memcpy(narrow.data() + row * sizeof date, &date, sizeof date);
  }
  out.values = std::move(narrow);
  out.buffers[1] = out.values.data();
}

/// Turns stored values into what Arrow wants of the column's meaning.
template <class T>
void describe_as(const ArrowColumn& column, std::uint64_t rows, ArrayData& out) {
  auto* const values = reinterpret_cast<T*>(out.values.data());
  const Meaning& meaning = column.meaning;
  if (const auto mark = mark_of(meaning)) {
    const auto missing = static_cast<BitsOf<T>>(*mark);
    for (std::uint64_t row = 0; row < rows; ++row) {
      if (std::bit_cast<BitsOf<T>>(values[row]) != missing) continue;
      if (out.valid.size() == 0) {
        out.valid.reset((rows + 7) / 8);
        std::memset(out.valid.data(), 0xFF, out.valid.size());
      }
      out.valid[row / 8] = static_cast<std::uint8_t>(out.valid[row / 8] & ~(1U << row % 8));
      values[row] = T{};
      ++out.nulls;
    }
    if (out.nulls != 0) out.buffers[0] = out.valid.data();
  }
  if constexpr (std::is_integral_v<T>) {
    if (meaning.kind == MeaningKind::boolean) to_bits(column, values, rows, out);
    if (meaning.has_words()) to_words(column, values, rows, out);
    if (meaning.has_time() && meaning.unit == TimeUnit::day) {
      days(column, values, rows, out);
    }
  }
}

}  // namespace

std::string format_of(const ArrowColumn& column) {
  constexpr const char* units = "ssmun";  // Arrow has no durations in days
  const Meaning& meaning = column.meaning;
  const char unit = units[static_cast<std::size_t>(meaning.unit)];
  switch (meaning.kind) {
    case MeaningKind::number:
    case MeaningKind::category:
      return column.shown ? "U" : format_of(column.type);
    case MeaningKind::boolean:
      return "b";
    case MeaningKind::timestamp:
      return column.is_date() ? "tdD" : std::string("ts") + unit + ":" + meaning.zone;
    case MeaningKind::duration:
      return std::string("tD") + unit;
    case MeaningKind::text:
      return "U";
  }
  return {};
}

std::shared_ptr<const Texts> texts_of(const Dictionary& words) {
  auto out = std::make_shared<Texts>();
  out->offsets.reset(words.size() + 1);
  out->offsets[0] = 0;
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    append_text(out->bytes, words[i]);
    out->offsets[i + 1] = static_cast<std::int64_t>(out->bytes.size());
  }
  return out;
}

void set_texts(ArrayData& out, std::shared_ptr<const Texts> texts) {
  out.buffers = {out.valid.size() != 0 ? out.valid.data() : nullptr, texts->offsets.data(),
                 texts->bytes.data()};
  out.texts = std::move(texts);
}

void describe(const ArrowColumn& column, std::uint64_t rows, ArrayData& out) {
  if (is_number(column)) return;
  visit_type(column.type, [&](auto tag) { describe_as<decltype(tag)>(column, rows, out); });
}

}  // namespace dapple::detail::c
