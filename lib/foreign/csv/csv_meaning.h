// Columns of delimited text that hold more than numbers: what they mean, and their cells as codes
// and ticks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/column.h"
#include "lib/foreign/csv/csv_text.h"
#include "lib/foreign/csv/recent_words.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::csv {

/// What helps to find the words of one column, which are read in the order of the text.
struct WordMemory {
  RecentWords recent;
  std::uint32_t next = 0;  // see `WordFinder::find`
};

/// Reads the fields of one column as the values that a frame stores. Any thread.
class FieldReader {
 public:
  /// `words` are those of the meaning, if it has some. Numbers are integers of any type.
  FieldReader(Meaning meaning, ValueType type, std::shared_ptr<const WordFinder> words)
      : meaning_(std::move(meaning)), type_(type), words_(std::move(words)) {}

  const Meaning& meaning() const noexcept { return meaning_; }
  ValueType value_type() const noexcept { return type_; }
  /// Null for numbers, truth values and times.
  const WordFinder* words() const noexcept { return words_.get(); }

  /// The stored value, in the low bytes; nothing for a field that the column cannot hold, among
  /// them a number that is the mark of a missing cell.
  std::optional<std::uint64_t> read(const Field& field, const MissingWords& missing,
                                    WordMemory& memory) const {
    if (words_ == nullptr) return read_value(field, missing);
    if (const std::uint64_t* const known = memory.recent.find(field)) return *known;
    return read_word(field, missing, memory);
  }
  /// True for a field whose number is the mark of a missing cell.
  bool is_mark(const Field& field) const noexcept;

 private:
  std::optional<std::uint64_t> read_value(const Field& field, const MissingWords& missing) const;
  std::optional<std::uint64_t> read_word(const Field& field, const MissingWords& missing,
                                         WordMemory& memory) const;

  Meaning meaning_;
  ValueType type_;
  std::shared_ptr<const WordFinder> words_;
};

/// The type that such a column is stored as: of words, the smallest for all codes. REQUIRES a
/// meaning other than number.
ValueType stored_type(const Meaning& meaning) noexcept;

/// The value of `true` or `false`, in any case.
std::optional<std::uint64_t> truth_of(std::string_view text) noexcept;

/// What the caller wants a column to be.
using WantedMeanings = std::vector<std::optional<MeaningKind>>;

/// What a column may still be, while its fields are read; and its words. A column is of words when
/// it is neither of truth values nor of times, and only from then on are its words collected.
class ColumnGuess {
 public:
  /// Fields are read from a text that ends at `end`.
  ColumnGuess(std::optional<MeaningKind> wanted, const char* end);

  /// Takes a column for one of words before the first field is seen, unless it is wanted to be of
  /// other things.
  void expect_words() noexcept;

  /// False when the field is none that the column must hold.
  bool see(const Field& field, const MissingWords& missing) {
    if (!has_words() || recent_.find(field) == nullptr) return see_other(field, missing);
    if (collected_ == values_) ++collected_;  // one of words_
    ++values_;
    return true;
  }
  /// Takes note of fields that were not shown: `n` numbers, and `unsure` ones that are missing
  /// unless the column is of words; and whether others were missing.
  void skip(std::uint64_t n, std::uint64_t unsure, bool missing) noexcept;
  /// True unless the column must be what it is not together with a later part of it.
  bool agrees(const ColumnGuess& later) const noexcept;
  /// Takes over what was seen in a later part. REQUIRES agrees(later).
  void merge(const ColumnGuess& later);

  /// True when all words were collected, or none are needed.
  bool is_complete() const noexcept;
  /// True when the column is of words, whatever follows.
  bool has_words() const noexcept { return !boolean_ && !is_time() && !duration_; }

  /// REQUIRES is_complete().
  std::shared_ptr<const FieldReader> finish() const;

 private:
  bool is_time() const noexcept {
    return time_ && (unit_ < TimeUnit::nanosecond || in_nanoseconds_);
  }
  bool see_other(const Field& field, const MissingWords& missing);
  void narrow(const ColumnGuess& later) noexcept;
  void settle() noexcept;
  void collect(const Field& field);
  void add_pending() const;
  void see_time(std::string_view text) noexcept;
  void see_duration(std::string_view text) noexcept;

  std::optional<MeaningKind> wanted_;
  bool boolean_, time_, duration_;  // all fields so far are
  bool missing_ = false;
  bool zoned_ = false;          // times have a zone
  bool in_nanoseconds_ = true;  // all times can be expressed so
  TimeUnit unit_ = TimeUnit::day;
  std::uint64_t values_ = 0;  // fields that are not missing
  std::uint64_t unsure_ = 0;  // that are missing unless the column is of words, which it is not yet
  std::uint64_t collected_ = 0;  // of which the words are known: all of them or none
  std::shared_ptr<WordTable> words_ = std::make_shared<WordTable>();
  RecentWords recent_;  // of words_
  std::string scratch_;

  // Words wait until their places in a large hash table have been loaded.
  struct Pending {
    std::string_view word;
    std::uint32_t tag;
  };
  static constexpr std::size_t kPending = 16, kLargeTable = 4096;
  std::array<Pending, kPending> pending_;
  mutable std::size_t waiting_ = 0;
};

}  // namespace dapple::detail::csv
