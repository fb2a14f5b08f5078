#include "lib/compute/concat_columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "lib/base/text.h"
#include "lib/base/timestamp.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/every_cell.h"
#include "lib/compute/merged_words.h"
#include "lib/object/dictionary.h"
#include "lib/object/groups.h"

namespace dapple::detail {

namespace {

bool is_nan(ValueType type, std::uint64_t bits) noexcept {
  if (!is_float(type)) return false;
  return std::isnan(type == ValueType::f32 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                           : std::bit_cast<double>(bits));
}

/// True where columns differ in nothing that one which is all missing would decide.
bool is_alike(const Column& a, const Column& b) noexcept {
  return a.meaning.kind == b.meaning.kind && a.meaning.zone == b.meaning.zone &&
         is_float(a.value_type) == is_float(b.value_type);
}

/// True for labels alone, which say nothing of what the columns hold.
bool is_untyped(const Store& store) {
  const std::vector<Column>& columns = store.schema().columns;
  return store.schema().rows == 0 && is_csv(store) &&
         std::all_of(columns.begin(), columns.end(), is_plain);
}

/// One column of frames that are put together by rows.
class ColumnMerge {
 public:
  ColumnMerge(const Store& store, const Column& first) : first_(store), column_(first) {}

  /// Adds the column of another frame.
  void add(const Store& store, const Column& next) {
    Meaning& meaning = column_.meaning;
    const bool words = meaning.has_words() && next.meaning.has_words();
    if (!words && (meaning.kind != next.meaning.kind || meaning.zone != next.meaning.zone)) {
      // Text that looks like numbers, say, can be read as words.
      const bool here = is_csv(store) && meaning.has_words();
      const bool before = is_csv(first_) && next.meaning.has_words();
      fail_piece(store, Errc::invalid_argument,
                 "column " + shown(next.label) + " is a " + told(next.meaning) + " here and a " +
                     told(meaning) + " before",
                 here || before ? "csv.type=text" : "");
    }
    meaning.unit = std::max(meaning.unit, next.meaning.unit);
    if (!meaning.missing) meaning.missing = next.meaning.missing;
    column_.value_type = common_type(column_.value_type, next.value_type);
    if (words) dictionaries_.emplace_back(next.meaning.words.get(), next.meaning.ordered);
  }

  /// Gives a column of words those of all frames; returns how the codes of each change.
  std::span<const NewCodes> join_words(const ConcatOptions& options, WordJoins& joins) {
    Meaning& meaning = column_.meaning;
    if (!meaning.has_words()) return {};
    const JoinedWords& joined = joins.of(dictionaries_);
    if (joined.disagrees) {
      const std::string what = "column " + shown(column_.label) +
                               ": the parts do not agree on one order of all its words";
      if (options.keep_order) {
        fail_piece(first_, Errc::invalid_argument,
                   what + "; concat puts them together without one");
      }
      if (options.note) options.note(what + "; they are put together without an order");
    }
    meaning.words = joined.words;
    meaning.ordered = joined.ordered;
    if (joined.ordered) meaning.kind = MeaningKind::category;
    column_.value_type = code_type(joined.words->size());
    return joined.codes;
  }

  /// The column, with a mark for missing cells if `missing`.
  Column finish(bool missing) {
    Meaning& meaning = column_.meaning;
    if (missing && !meaning.missing) meaning.missing = missing_mark(meaning.kind);
    return column_;
  }

 private:
  const Store& first_;
  Column column_;
  std::vector<WordJoins::Part> dictionaries_;  // of each frame, if the column is one of words
};

/// A frame that has a column which is no column of words.
struct FramePart {
  const Store* store;
  const Column* column;
};

/// True when no cell of these frames that is not missing has this value.
bool is_free(std::span<const FramePart> parts, std::size_t col, const StoredNumber& value) {
  return std::all_of(parts.begin(), parts.end(), [&](const FramePart& part) {
    const ValueType type = part.column->value_type;
    std::uint64_t bits = 0;
    if (mark_as(*part.column, value.type) == value.bits ||
        !convert_cell(value.type, value.bits, type, bits)) {
      return true;
    }
    return every_cell(*part.store, col, [&](std::uint64_t cell) {
      return cell != bits || cell == part.column->meaning.missing;
    });
  });
}

/// The NaN or the ends of the range of a type; of 64 bits, beyond which nothing is, also others.
std::vector<std::uint64_t> usual_marks(ValueType type) {
  const std::uint64_t usual = usual_mark(type);
  if (is_float(type)) return {usual};
  std::vector<std::uint64_t> marks{usual, is_signed(type) ? usual - 1 : 0};
  if (size_of(type) == 8) {
    // The digits of pi, e and the golden ratio, which are nobody's ends or powers.
    marks.insert(marks.end(), {0x243f6a8885a308d3, 0x2b7e151628aed2a6, 0x1e3779b97f4a7c15});
  }
  return marks;
}

/// Numbers of this type and of all wider ones that may mark missing cells, best first.
std::vector<StoredNumber> possible_marks(std::span<const FramePart> parts, ValueType type) {
  std::vector<StoredNumber> marks;
  for (const FramePart& part : parts) {
    if (part.column->value_type != type || !part.column->meaning.missing) continue;
    marks.push_back({type, *part.column->meaning.missing});
    break;
  }
  for (const ValueType wide :
       {type, ValueType::i16, ValueType::i32, ValueType::i64, ValueType::u64, ValueType::f64}) {
    if (!holds_all(wide, type)) continue;
    for (const std::uint64_t bits : usual_marks(wide)) marks.push_back({wide, bits});
  }
  return marks;
}

/// Gives the merged column a mark for missing cells that is no value of any frame.
void merge_marks(std::span<const FramePart> parts, std::size_t col, Column& column) {
  if (!column.meaning.missing) return;
  if (column.meaning.kind != MeaningKind::number) {
    column.meaning.missing = missing_mark(column.meaning.kind);
    return;
  }
  for (const StoredNumber& mark : possible_marks(parts, column.value_type)) {
    // A NaN of these bits is missing wherever it comes from.
    const bool usual = is_float(mark.type) && mark.bits == usual_mark(mark.type);
    if (!usual && !is_free(parts, col, mark)) continue;
    column.value_type = mark.type;
    column.meaning.missing = mark.bits;
    return;
  }
  fail_piece(*parts.back().store, Errc::invalid_argument,
             "column " + shown(column.label) +
                 " holds all numbers that are tried to mark its missing cells");
}

/// Tells of a column of integers that becomes one of floats, which round large ones.
void note_float(std::span<const Store* const> frames, std::size_t col, const Column& column,
                const TakeNote& note) {
  if (!is_float(column.value_type) || is_float(frames[0]->schema().columns[col].value_type)) return;
  const auto floats = std::find_if(frames.begin(), frames.end(), [&](const Store* store) {
    return is_float(store->schema().columns[col].value_type);
  });
  if (floats == frames.end()) return;
  const std::string type(name(frames[0]->schema().columns[col].value_type));
  note("column " + shown(column.label) + " is one of " + std::string(name(column.value_type)) +
       " from now on, as in " + (*floats)->known_as() +
       (is_csv(**floats) ? "; read it as " + type + " there if only missing cells make it that"
                         : ""));
}

}  // namespace

void fail_piece(const Store& store, Errc code, const std::string& detail, std::string_view option) {
  throw Error(code, store.known_as(), std::nullopt, detail, option);
}

bool is_csv(const Store& store) { return store.format() == "csv"; }

bool is_all_missing(const Store& store, std::size_t col) {
  const Column& column = store.schema().columns[col];
  const Meaning& meaning = column.meaning;
  if (meaning.has_words() && meaning.words->size() != 0) return false;
  const bool numbers = meaning.kind == MeaningKind::number;
  return every_cell(store, col, [&](std::uint64_t bits) {
    return bits == meaning.missing || (numbers && is_nan(column.value_type, bits));
  });
}

std::int64_t ticks_in(TimeUnit coarse, TimeUnit fine) {
  constexpr std::int64_t kSecondsPerDay = 86400;
  if (coarse == fine) return 1;
  if (coarse == TimeUnit::day) return kSecondsPerDay * ticks_per_second(fine);
  return ticks_per_second(fine) / ticks_per_second(coarse);
}

ValueType common_type(ValueType a, ValueType b) noexcept {
  for (const ValueType type : {a, b, ValueType::i16, ValueType::i32, ValueType::i64, ValueType::u64,
                               ValueType::f32, ValueType::f64}) {
    if (holds_all(type, a) && holds_all(type, b)) return type;
  }
  return is_float(a) || is_float(b) ? ValueType::f64 : ValueType::i64;
}

std::optional<std::uint64_t> mark_as(const Column& column, ValueType type) noexcept {
  const std::optional<std::uint64_t>& mark = column.meaning.missing;
  std::uint64_t bits = 0;
  if (!mark || !convert_cell(column.value_type, *mark, type, bits)) return std::nullopt;
  return bits;
}

std::string told(const Meaning& meaning) {
  std::string text(name(meaning.kind));
  if (meaning.has_time()) text += " in " + std::string(name(meaning.unit));
  return meaning.zone.empty() ? text : text + " (" + shown(meaning.zone) + ")";
}

std::optional<std::pair<ValueType, ValueType>> rounding(ValueType part, ValueType whole,
                                                        const ConcatOptions& options) noexcept {
  const bool may_round = options.allow_loss && is_float(whole) && !holds_all(whole, part);
  return may_round ? std::optional(std::pair(part, whole)) : std::nullopt;
}

Column merge_column(std::span<const Store* const> frames, std::size_t col,
                    const ConcatOptions& options, WordJoins& joins, std::vector<Recode>& recode) {
  const auto column_of = [&](std::size_t i) -> const Column& {
    return frames[i]->schema().columns[col];
  };
  const Column& first = column_of(0);
  const bool untyped_only = std::all_of(frames.begin(), frames.end(),
                                        [](const Store* store) { return is_untyped(*store); });
  const Column* in_group = &first;  // the first that is in one
  bool differ = false;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    if (column_of(i).label != first.label) {
      fail_piece(*frames[i], Errc::invalid_argument,
                 "column " + shown(column_of(i).label) + " is in the place of column " +
                     shown(first.label) +
                     "; frames that are put together by rows need the same labels in "
                     "the same order");
    }
    if (in_group->group == nullptr) {
      in_group = &column_of(i);
    } else if (column_of(i).group != nullptr && !same_slot(*in_group, column_of(i))) {
      fail_piece(*frames[i], Errc::invalid_argument,
                 "column " + shown(first.label) + " is a slot of group " +
                     shown(column_of(i).group->name) + " here, and another one of group " +
                     shown(in_group->group->name) + " before");
    }
    differ = differ || !is_alike(column_of(i), first);
  }
  std::vector<std::size_t> empty, others;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (is_untyped(*frames[i]) && !untyped_only) continue;
    (differ && is_all_missing(*frames[i], col) ? empty : others).push_back(i);
  }
  if (others.empty()) {  // none says what it holds: it is what it is in the first
    others.push_back(empty.front());
    empty.erase(empty.begin());
  }
  ColumnMerge merge(*frames[others.front()], column_of(others.front()));
  for (const std::size_t i : others) merge.add(*frames[i], column_of(i));
  const auto codes = merge.join_words(options, joins);
  for (std::size_t k = 0; k < codes.size(); ++k) recode[others[k]].codes = codes[k];
  Column column = merge.finish(!empty.empty());
  column.group = in_group->group;
  column.slot = in_group->slot;
  if (!column.meaning.has_words()) {
    std::vector<FramePart> parts;
    for (const std::size_t i : others) parts.push_back({frames[i], &column_of(i)});
    merge_marks(parts, col, column);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Column& from = *parts[k].column;
      Recode& change = recode[others[k]];
      if (column.meaning.has_time()) {
        change.ticks = ticks_in(from.meaning.unit, column.meaning.unit);
        change.unit = column.meaning.unit;
      }
      change.rounds = rounding(from.value_type, column.value_type, options);
      const bool same_mark = mark_as(from, column.value_type) == column.meaning.missing;
      if (!from.meaning.missing || (same_mark && change.ticks == 1)) continue;
      change.missing = {column.value_type, *column.meaning.missing};
      change.mark = {from.value_type, *from.meaning.missing};
    }
  }
  for (const std::size_t i : empty) {
    recode[i].missing = {column.value_type, *column.meaning.missing};
  }
  if (options.note) note_float(frames, col, column, options.note);
  return column;
}

}  // namespace dapple::detail
