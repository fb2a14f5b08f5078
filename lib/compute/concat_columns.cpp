#include "lib/compute/concat_columns.h"

#include <algorithm>
#include <memory>
#include <string>

#include "lib/base/text.h"
#include "lib/object/dictionary.h"

namespace dapple::detail {

namespace {

[[noreturn]] void fail_column(const Store& store, const std::string& detail) {
  throw Error(Errc::invalid_argument, store.file().name(), std::nullopt, detail);
}

/// True when every cell of a column of numbers is missing.
bool is_all_missing(const Store& store, std::size_t col) {
  constexpr std::uint64_t kRowsAtOnce = std::uint64_t{64} << 10;
  const Schema& schema = store.schema();
  const Meaning& meaning = schema.columns[col].meaning;
  if (meaning.kind != MeaningKind::number || meaning.missing != kMissingF64) return false;
  std::vector<std::uint64_t> cells;
  for (std::uint64_t row = 0; row < schema.rows; row += kRowsAtOnce) {
    const Range rows{row, row + std::min(kRowsAtOnce, schema.rows - row)};
    cells.resize(rows.size());
    const ColumnBuffer buffer{col, ValueType::f64, reinterpret_cast<std::byte*>(cells.data()),
                              sizeof(std::uint64_t)};
    store.read_rows(rows, {&buffer, 1}, {});
    const auto missing = [](std::uint64_t bits) { return bits == kMissingF64; };
    if (!std::all_of(cells.begin(), cells.end(), missing)) return false;
  }
  return true;
}

/// One column of frames that are put together by rows.
class ColumnMerge {
 public:
  explicit ColumnMerge(const Column& first) : column_(first) {}

  /// Adds the column of another frame; returns how its codes change.
  Recode add(const Store& store, const Column& next) {
    Meaning& meaning = column_.meaning;
    const bool words = meaning.has_words() && next.meaning.has_words();
    const bool same_time = !meaning.has_time() ||
                           (meaning.unit == next.meaning.unit && meaning.zone == next.meaning.zone);
    if (!words && (meaning.kind != next.meaning.kind || !same_time)) {
      fail_column(store, "column " + shown(next.label) + " is a " +
                             std::string(name(next.meaning.kind)) + " here and a " +
                             std::string(name(meaning.kind)) +
                             " before, or of another unit or time zone");
    }
    if (!meaning.missing) meaning.missing = next.meaning.missing;
    column_.value_type = common_type(column_.value_type, next.value_type);
    if (!words) return {};
    if (next.meaning.kind == MeaningKind::text) meaning.kind = MeaningKind::text;
    meaning.ordered = meaning.ordered && next.meaning.ordered;
    Recode recode;
    recode.codes.push_back(static_cast<std::uint32_t>(kMissingCode));
    for (std::uint64_t i = 0; i < next.meaning.words->size(); ++i) {
      recode.codes.push_back(words_->add((*next.meaning.words)[i]));
    }
    return recode;
  }

  /// The column, with a mark for missing cells if `missing`.
  Column finish(bool missing) {
    Meaning& meaning = column_.meaning;
    if (meaning.has_words()) {
      meaning.words = words_;
      column_.value_type = code_type(words_->size());
    }
    if (missing && !meaning.missing) meaning.missing = missing_mark(meaning.kind);
    return column_;
  }

 private:
  Column column_;
  std::shared_ptr<WordTable> words_ = std::make_shared<WordTable>();
};

}  // namespace

ValueType common_type(ValueType a, ValueType b) noexcept {
  for (const ValueType type : {a, b, ValueType::i16, ValueType::i32, ValueType::i64, ValueType::u64,
                               ValueType::f32, ValueType::f64}) {
    if (holds_all(type, a) && holds_all(type, b)) return type;
  }
  return is_float(a) || is_float(b) ? ValueType::f64 : ValueType::i64;
}

Column merge_column(std::span<const Store* const> frames, std::size_t col,
                    std::vector<Recode>& recode) {
  const auto column_of = [&](std::size_t i) -> const Column& {
    return frames[i]->schema().columns[col];
  };
  const Column& first = column_of(0);
  bool differ = false;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    if (column_of(i).label != first.label) {
      fail_column(*frames[i], "column " + shown(column_of(i).label) +
                                  " is in the place of column " + shown(first.label) +
                                  "; frames that are put together by rows need the same labels in "
                                  "the same order");
    }
    differ = differ || column_of(i).meaning.kind != first.meaning.kind;
  }
  std::vector<std::size_t> empty, others;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    (differ && is_all_missing(*frames[i], col) ? empty : others).push_back(i);
  }
  ColumnMerge merge(column_of(others.front()));
  for (const std::size_t i : others) recode[i] = merge.add(*frames[i], column_of(i));
  Column column = merge.finish(!empty.empty());
  for (const std::size_t i : empty) {
    recode[i].missing = column.meaning.missing;
    recode[i].type = column.value_type;
  }
  return column;
}

}  // namespace dapple::detail
