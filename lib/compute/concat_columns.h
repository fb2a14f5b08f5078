// Merging the columns of frames that are put together by rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dapple/column.h"
#include "dapple/concat.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/merged_words.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Throws, naming the file of a piece.
[[noreturn]] void fail_piece(const Store& store, Errc code, const std::string& detail,
                             std::string_view option = {});

/// The narrowest type that holds both. Where there is none, i64 for integers and f64 with floats:
/// a value that it does not hold exactly is an error when it is read (rule R6).
ValueType common_type(ValueType a, ValueType b) noexcept;

/// True for text, whose columns can be read as others.
bool is_csv(const Store& store);

/// True for a column that says nothing of what it holds: every cell is missing or, as pandas has
/// it, a NaN, and no word is kept for later.
bool is_all_missing(const Store& store, std::size_t col);

/// Ticks of the finer unit in one of the coarser.
std::int64_t ticks_in(TimeUnit coarse, TimeUnit fine);

/// The column's mark of a missing cell as a value of `type`; nothing where there is none.
std::optional<std::uint64_t> mark_as(const Column& column, ValueType type) noexcept;

/// What a column is, for messages: "category", "timestamp in ms (UTC)".
std::string told(const Meaning& meaning);

/// A stored number.
struct StoredNumber {
  ValueType type = ValueType::u32;
  std::uint64_t bits = 0;
};

/// What the stored numbers of one frame's column are in the merged column.
struct Recode {
  NewCodes codes{};                       // of words, by code
  std::optional<StoredNumber> missing{};  // the merged column's mark of a missing cell,
  std::optional<StoredNumber> mark{};  // and the frame's, which becomes that; none: every cell does
  std::int64_t ticks = 1;              // of the merged column in one of the frame's
  TimeUnit unit = TimeUnit::second;    // of the merged column
  /// Numbers of the one type are rounded to the other.
  std::optional<std::pair<ValueType, ValueType>> rounds{};

  /// Numbers are read as this type, and each has to be exact as that of the merged column.
  std::optional<ValueType> casts{};

  /// True when they stay what they are.
  bool keeps() const noexcept {
    return codes == nullptr && !missing && ticks == 1 && !rounds && !casts;
  }
  /// True when zero stays zero, as the cells that a sparse block does not store are.
  bool keeps_zero() const noexcept {
    const auto zero = (*this)(0);
    return keeps() || (zero && zero->bits == 0);
  }
  /// True when every cell is missing.
  bool is_missing() const noexcept { return missing && !mark; }
  /// The type of the stored numbers. REQUIRES that not all are missing.
  ValueType stored() const noexcept {
    if (mark) return mark->type;
    if (casts) return *casts;
    return rounds ? rounds->first : ticks != 1 ? ValueType::i64 : ValueType::u32;
  }
  /// What a stored number becomes; nothing for a code without a word, a time that the unit cannot
  /// express, and a number beyond the type that it is rounded to.
  std::optional<StoredNumber> operator()(std::uint64_t bits) const noexcept {
    if (missing && (!mark || mark->bits == bits)) return missing;
    if (ticks != 1) {
      std::int64_t scaled = 0;
      const bool fits = !__builtin_mul_overflow(static_cast<std::int64_t>(bits), ticks, &scaled);
      if (!fits) return std::nullopt;
      return StoredNumber{ValueType::i64, static_cast<std::uint64_t>(scaled)};
    }
    if (rounds) {
      std::uint64_t rounded = 0;
      if (!convert_cell_lossy(rounds->first, bits, rounds->second, rounded)) return std::nullopt;
      return StoredNumber{rounds->second, rounded};
    }
    if (missing) return StoredNumber{mark->type, bits};
    if (casts) return StoredNumber{*casts, bits};
    if (codes == nullptr || bits >= codes->size()) return std::nullopt;
    return StoredNumber{ValueType::u32, (*codes)[bits]};
  }
};

/// How numbers change where objects of these types are put together as `whole`; nothing when all
/// are kept as they are.
std::optional<std::pair<ValueType, ValueType>> rounding(ValueType part, ValueType whole,
                                                        const ConcatOptions& options) noexcept;

/// The column that column `col` of all these frames makes, and how the numbers of each frame
/// change. Times get the finest of their units. Where meanings differ, or floats join integers, a
/// column whose cells are all missing or NaN (and one of CSV without rows) has no meaning and type
/// of its own, and takes those of the others; one that is in no group takes the others'. Where
/// marks of missing cells differ, the column has one that is no value of any frame. Throws
/// invalid_argument when labels, meanings or groups differ. O(words); O(rows) for columns that may
/// be all missing, and for integers whose marks differ.
Column merge_column(std::span<const Store* const> frames, std::size_t col,
                    const ConcatOptions& options, WordJoins& joins, std::vector<Recode>& recode);

}  // namespace dapple::detail
