// Columns of delimited text that hold more than numbers: what they mean, and their cells as codes
// and ticks, both found in one pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/column.h"
#include "lib/foreign/csv/csv_cells.h"
#include "lib/foreign/csv/csv_text.h"
#include "lib/foreign/csv/recent_words.h"
#include "lib/object/dictionary.h"

namespace dapple::detail::csv {

/// The type that a column of this meaning is stored as: of words, the smallest for all codes.
/// REQUIRES a meaning other than number.
ValueType stored_type(const Meaning& meaning) noexcept;

/// The value of `true` or `false`, in any case.
std::optional<std::uint64_t> truth_of(std::string_view text) noexcept;

/// What the caller wants a column to be.
using WantedMeanings = std::vector<std::optional<MeaningKind>>;

/// What a column may still be, while its fields are read; and its words. A column is of words when
/// it is neither of truth values nor of times, and only from then on are its words collected. Cells
/// are right as long as the column is what it was at first.
class ColumnGuess {
 public:
  /// Fields are read from a text that ends at `end`. Times are in `unit`, or a finer one.
  ColumnGuess(std::optional<MeaningKind> wanted, const char* end, TimeUnit unit = TimeUnit::day);

  /// Takes a column for one of words before the first field is seen, unless it is wanted to be of
  /// other things.
  void expect_words() noexcept;

  /// Takes fields, up to one that the column must not hold; returns how many. Their cells go to
  /// `cells`, which has room.
  std::size_t see(const FieldColumn& fields, const MissingWords& missing, ColumnCells& cells);
  /// Looks up the words that wait for that. Call before the cells are used.
  void add_pending(ColumnCells& cells);
  /// Takes note of fields that were not shown: `n` numbers, and `unsure` ones that are missing
  /// unless the column is of words; and whether others were missing.
  void skip(std::uint64_t n, std::uint64_t unsure, bool missing) noexcept;
  /// True unless the column must be what it is not together with a later part of it.
  bool agrees(const ColumnGuess& later) const noexcept;
  /// Takes over what was seen in a later part, and gives the codes that take the place of its own.
  /// REQUIRES agrees(later), and that no word waits.
  std::vector<std::uint32_t> merge(const ColumnGuess& later);

  /// True when the column is of words, whatever follows.
  bool has_words() const noexcept { return !boolean_ && !is_time() && !duration_; }
  TimeUnit unit() const noexcept { return unit_; }

  /// What the column means. REQUIRES that no word waits.
  Meaning finish() const;

 private:
  bool is_time() const noexcept { return time_ && unit_ <= finest_; }
  static std::size_t see_truths(const FieldColumn& fields, std::uint64_t* cells) noexcept;
  std::size_t see_times(const FieldColumn& fields, std::uint64_t* cells) const noexcept;
  bool see_other(const Field& field, const MissingWords& missing, ColumnCells& cells);
  void narrow(const ColumnGuess& later) noexcept;
  void settle() noexcept;
  void collect(const Field& field, ColumnCells& cells);
  std::uint64_t see_value(std::string_view text) noexcept;
  std::uint64_t see_time(std::string_view text) noexcept;
  std::uint64_t see_duration(std::string_view text) noexcept;

  std::optional<MeaningKind> wanted_;
  bool boolean_, time_, duration_;  // all fields so far are
  bool zoned_ = false;              // times have a zone
  TimeUnit unit_ = TimeUnit::day;
  TimeUnit finest_ = TimeUnit::nanosecond;  // in which all times have room
  std::uint64_t values_ = 0;                // fields that are not missing
  std::uint64_t missing_ = 0;
  std::uint64_t unsure_ = 0;  // that are missing unless the column is of words, which it is not yet
  std::shared_ptr<WordTable> words_ = std::make_shared<WordTable>();
  RecentWords recent_;  // of words_
  std::string scratch_;

  // Words wait until their places in a large hash table have been loaded.
  struct Pending {
    Field field;
    std::uint32_t tag = 0;
    std::size_t cell = 0;
  };
  static constexpr std::size_t kPending = 16, kLargeTable = 4096;
  std::vector<Pending> pending_;
};

}  // namespace dapple::detail::csv
