#include "lib/compute/fit_columns.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/text.h"
#include "lib/compute/concat_columns.h"
#include "lib/compute/concat_driver.h"
#include "lib/compute/every_cell.h"
#include "lib/object/dictionary.h"

namespace dapple::detail {

namespace {

/// What marks missing cells in a column like this one, whether it has some so far or not.
std::uint64_t mark_of(const Column& column) {
  const Meaning& meaning = column.meaning;
  if (meaning.missing) return *meaning.missing;
  return meaning.kind == MeaningKind::number ? usual_mark(column.value_type)
                                             : missing_mark(meaning.kind);
}

/// A column of a frame becomes `made`, and its stored numbers change like this.
struct Fit {
  Column made;
  Recode recode{};
};

/// The column `col` with nothing but missing cells of another kind.
Fit missing_like(Column made) {
  if (made.meaning.has_words()) {
    made.meaning.words = listed_dictionary({});
    made.value_type = code_type(0);
  }
  made.meaning.missing = mark_of(made);
  Fit fit{std::move(made)};
  fit.recode.missing = {fit.made.value_type, *fit.made.meaning.missing};
  return fit;
}

/// True when each number of the column becomes one of its new type, and none but missing cells the
/// mark of these.
bool loses_nothing(const Store& frame, std::size_t col, const Fit& fit) {
  const auto& own = frame.schema().columns[col].meaning.missing;
  const auto& mark = fit.made.meaning.missing;
  return every_cell(frame, col, [&](std::uint64_t bits) {
    const auto number = fit.recode(bits);
    std::uint64_t result = 0;
    return number && convert_cell(number->type, number->bits, fit.made.value_type, result) &&
           (bits == own || result != mark);
  });
}

/// What the column becomes; nothing where it can join one like this as it is, or not at all.
std::optional<Fit> fit_column(const Store& frame, std::size_t col, const Column& like) {
  const Column& own = frame.schema().columns[col];
  const Meaning &from = own.meaning, &to = like.meaning;
  if (own.label != like.label || (from.has_words() && to.has_words())) return std::nullopt;
  Column made = like;
  made.group = own.group;
  made.slot = own.slot;
  const bool same = from.kind == to.kind && from.zone == to.zone;
  if (!same || is_float(own.value_type) != is_float(like.value_type)) {
    if (is_all_missing(frame, col)) return missing_like(std::move(made));
    if (to.has_words() && is_csv(frame)) {
      fail_piece(frame, Errc::invalid_argument,
                 "column " + shown(own.label) + " is a " + told(from) + " here and a " + told(to) +
                     " in the data set",
                 "csv.type=text");
    }
    if (!same) return std::nullopt;
  }
  const std::uint64_t mark = mark_of(like);
  const bool keeps_mark = !from.missing || mark_as(own, like.value_type) == to.missing;
  const bool held = holds_all(like.value_type, own.value_type);
  if (held && keeps_mark && from.unit == to.unit) return std::nullopt;
  if (from.unit > to.unit) return std::nullopt;  // a coarser one may not hold its ticks
  made.meaning.missing = from.missing ? std::optional(mark) : std::nullopt;
  Fit fit{std::move(made)};
  fit.recode.ticks = ticks_in(from.unit, to.unit);
  fit.recode.unit = to.unit;
  if (from.missing) {
    fit.recode.missing = {like.value_type, mark};
    fit.recode.mark = {own.value_type, *from.missing};
  } else if (!held) {
    fit.recode.casts = own.value_type;
  }
  return loses_nothing(frame, col, fit) ? std::optional(std::move(fit)) : std::nullopt;
}

}  // namespace

std::shared_ptr<const Store> fit_columns(std::shared_ptr<const Store> frame, const Schema& like) {
  Schema schema = frame->schema();
  const bool frames = schema.kind == ObjectKind::frame && like.kind == ObjectKind::frame;
  if (!frames || schema.columns.size() != like.columns.size() || !frame->text_columns().empty()) {
    return frame;
  }
  std::vector<Recode> recode(schema.columns.size());
  bool changes = false;
  for (std::size_t c = 0; c < recode.size(); ++c) {
    auto fit = fit_column(*frame, c, like.columns[c]);
    if (!fit) continue;
    schema.columns[c] = std::move(fit->made);
    recode[c] = std::move(fit->recode);
    changes = true;
  }
  if (!changes) return frame;
  return store_of({{std::move(frame), 0, 0, std::move(recode)}}, std::move(schema), Axis::rows);
}

}  // namespace dapple::detail
