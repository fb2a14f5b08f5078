// What the columns of a frame mean: numbers, or numbers that stand for words, times or truth
// values.
//
// A frame stores only numbers. A column of anything else stores codes or ticks, and its Meaning
// says how to read them. Programs that ignore meanings still see a sound numeric frame. The bytes
// are described in lib/dbdf/FORMAT.md, "Columns".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dapple/value_type.h"

namespace dapple {

/// What the numbers of a column stand for.
enum class MeaningKind : std::uint8_t {
  number,     // themselves
  boolean,    // 0 false, 1 true
  timestamp,  // ticks of `unit` since 1970-01-01T00:00:00, in UTC when there is a zone
  duration,   // ticks of `unit`
  category,   // code k is word k - 1 of the dictionary, 0 is missing; words repeat
  text,       // the same, but most words occur once
};

/// "number", "boolean", "timestamp", "duration", "category" or "text".
std::string_view name(MeaningKind kind) noexcept;

/// One tick of a timestamp or a duration.
enum class TimeUnit : std::uint8_t { day, second, millisecond, microsecond, nanosecond };

/// "D", "s", "ms", "us" or "ns", as NumPy writes them.
std::string_view name(TimeUnit unit) noexcept;

/// An immutable list of UTF-8 strings. Any thread. The strings stay valid as long as the
/// dictionary.
class Dictionary {
 public:
  virtual ~Dictionary() = default;
  /// O(1); the first call reads the column where the file has no list of its words (IDV, npy,
  /// AnnData), and throws what that does, such as corrupt.
  virtual std::uint64_t size() const = 0;
  /// Word `i`, counted from 0. Throws out_of_range; corrupt when the words in the file are damaged.
  /// The first call compares them with their hash, O(bytes); later ones are O(1).
  virtual std::string_view operator[](std::uint64_t i) const = 0;
  /// The file that holds the words, which errors about codes name; "" if there is none.
  virtual std::string_view file() const noexcept { return {}; }
};

namespace detail {
class WordTable;
}

/// Makes the dictionary of a category or text column, and the codes that the column stores.
class DictionaryBuilder {
 public:
  DictionaryBuilder();
  /// The code of a word: a new word gets the next one, from 1; code 0 (`kMissingCode`) is a missing
  /// word. Throws invalid_argument beyond 2^32 - 2 words. O(bytes of the word).
  std::uint32_t add(std::string_view word);
  std::uint64_t size() const noexcept;
  /// The smallest type that holds all codes so far, for `Column::value_type`.
  ValueType code_type() const noexcept;
  /// The dictionary, for `Meaning::words`; the builder is empty afterwards. Words that are not
  /// UTF-8 are refused when a file is written. O(1).
  std::shared_ptr<const Dictionary> finish();

 private:
  std::shared_ptr<detail::WordTable> table_;
};

/// How the cells of a column are to be read.
struct Meaning {
  MeaningKind kind = MeaningKind::number;
  TimeUnit unit = TimeUnit::second;  // of timestamps and durations
  bool ordered = false;              // the words of the category are in a meaningful order
  std::string zone{};                // of timestamps: "" local time, "UTC", or an IANA name
  /// The bits of the stored value that marks a missing cell, in the low bytes: of an i32, 32 bits
  /// that are not extended by the sign. `usual_mark` gives one for each type. A NaN with other bits
  /// is a value.
  std::optional<std::uint64_t> missing{};
  std::shared_ptr<const Dictionary> words{};  // of categories and text

  bool has_words() const noexcept {
    return kind == MeaningKind::category || kind == MeaningKind::text;
  }
  bool has_time() const noexcept {
    return kind == MeaningKind::timestamp || kind == MeaningKind::duration;
  }
};

/// The bits that mark a missing f64: a quiet NaN with the payload 1954, as R uses for NA.
inline constexpr std::uint64_t kMissingF64 = 0x7ff80000000007a2U;
/// The same of an f32.
inline constexpr std::uint64_t kMissingF32 = 0x7fc007a2U;
/// The tick that marks a missing time, as in NumPy (NaT).
inline constexpr std::uint64_t kMissingTick = 0x8000000000000000U;
/// The value that marks a missing truth value.
inline constexpr std::uint64_t kMissingBoolean = 2;
/// The code that marks a missing word.
inline constexpr std::uint64_t kMissingCode = 0;

/// The bits that usually mark a missing number: of floats the NaNs above, of signed integers the
/// least, of unsigned ones the greatest.
std::uint64_t usual_mark(ValueType type) noexcept;

/// The value with those bits, for cells that are put.
template <Value T>
T missing_value() noexcept {
  const std::uint64_t bits = usual_mark(value_type_of<T>());
  T value;
  std::memcpy(&value, &bits, sizeof value);  // the low bytes
  return value;
}

/// Neighbouring columns of a frame, or all of a matrix, that are one vector with a name, as ML.NET
/// has them.
struct ColumnGroup {
  std::string name{};                              // at most 65535 bytes
  std::uint64_t size = 0;                          // columns
  std::shared_ptr<const Dictionary> slot_names{};  // as many, "" for none; null: no slot has one

  /// The slot's own name, or "". Throws corrupt when the names in the file are damaged. REQUIRES
  /// slot < size.
  std::string_view slot_name(std::uint64_t slot) const {
    return slot_names != nullptr ? (*slot_names)[slot] : std::string_view();
  }
  /// The slot's own name, or "NAME.2" without one.
  std::string label(std::uint64_t slot) const;
};

/// A column of a frame.
struct Column {
  std::string label{};  // at most 65535 bytes
  ValueType value_type = ValueType::f64;
  Meaning meaning{};
  std::shared_ptr<const ColumnGroup> group{};  // null: it belongs to none
  std::uint64_t slot = 0;                      // its place in the group
};

/// True when label, type, meaning and place in a group agree, dictionaries word by word. O(words).
bool operator==(const Column& a, const Column& b);

/// True when the column's cells are numbers, none of them missing.
inline bool is_plain(const Column& column) noexcept {
  return column.meaning.kind == MeaningKind::number && !column.meaning.missing;
}

/// The bits of the stored value that marks a missing cell, if one does. Code 0 has no word, so it
/// is a missing one even where `missing` says nothing: absent cells may be read as 0.
inline std::optional<std::uint64_t> mark_of(const Meaning& meaning) noexcept {
  return meaning.has_words() ? kMissingCode : meaning.missing;
}

/// True when `bits`, a stored value of the column, marks a missing cell.
inline bool is_missing(const Meaning& meaning, std::uint64_t bits) noexcept {
  return mark_of(meaning) == bits;
}

/// Appends a number as text. Text has no value types, and its readers take every real number as
/// f64: an f32 gets the digits that give back the same value as f64 (0.1f as 0.10000000149011612).
/// Otherwise integers plain, floats in the fewest digits; `nan`, `inf`, `-inf`, `-0`. `bits` is the
/// value, in the low bytes.
void append_number(ValueType type, std::uint64_t bits, std::string& out);

/// Appends a cell as text: a word, `true`, an ISO 8601 time, a number as
/// `append_number` has it; nothing for a missing cell.
/// `bits` is the stored value, in the low bytes. REQUIRES a dictionary where the meaning has words.
/// Throws corrupt for a code without a word and for a damaged dictionary.
void append_text(const Column& column, std::uint64_t bits, std::string& out);

}  // namespace dapple
