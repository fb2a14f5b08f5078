// What the columns of a data set are, when a part joins it.

#include <algorithm>
#include <string>

#include "dapple/where_rows.h"
#include "lib/base/text.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/concat_columns.h"
#include "lib/dataset/draft.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/object/dictionary.h"
#include "lib/object/make_object.h"

namespace dapple::detail::dataset {

namespace {

/// How many words both dictionaries start with.
std::uint64_t common_words(const Dictionary& a, const Dictionary& b) {
  const std::uint64_t n = std::min(a.size(), b.size());
  for (std::uint64_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return i;
  }
  return n;
}

std::string told_with_type(const Column& column) {
  return told(column.meaning) + " of " + std::string(name(column.value_type));
}

[[noreturn]] void fail_column(const std::string& file, const Column& column,
                              const std::string& what) {
  throw Error(Errc::invalid_argument, file, std::nullopt,
              "column " + shown(column.label) + " " + what);
}

bool holds_integers(const Column& column) {
  return column.meaning.kind == MeaningKind::number && !is_float(column.value_type);
}

/// A mark of missing cells that no value of either column can be.
bool is_safe_mark(const Column& column) {
  return column.meaning.kind != MeaningKind::number ||
         (is_float(column.value_type) && column.meaning.missing == usual_mark(column.value_type));
}

/// Throws unless numbers of the part's column mean the same in the data set; takes over its mark of
/// missing cells. True where that is an integer, which a cell of the parts before may be.
bool merge_meaning(Column& whole, const Column& part, const std::string& file) {
  Meaning& all = whole.meaning;
  const Meaning& own = part.meaning;
  const bool words = all.has_words() && own.has_words();
  const bool same = all.kind == own.kind && all.unit == own.unit && all.zone == own.zone;
  if (!words && (!same || !holds_all(whole.value_type, part.value_type))) {
    fail_column(file, part,
                "is a " + told_with_type(part) + " here and a " + told_with_type(whole) +
                    " in the data set; write the part with that");
  }
  const auto mark = words ? own.missing : mark_as(part, whole.value_type);
  if (!own.missing || (mark && all.missing == mark)) return false;
  const bool integers = holds_integers(whole) && holds_integers(part);
  // Codes of more words are of a wider type, and their mark is the same.
  const bool safe = is_safe_mark(part) && (words || whole.value_type == part.value_type);
  if (all.missing || !mark || !(safe || integers)) {
    fail_column(file, part,
                "marks missing cells in another way than the data set; write the part "
                "with that mark");
  }
  all.missing = mark;
  return integers;
}

/// Throws where a part whose column has no mark holds the integer that marks missing cells in
/// `where`, which would make one of it. O(cells of the column), less what statistics rule out.
void require_no_mark(const std::shared_ptr<const Store>& part, std::uint64_t col,
                     const Column& whole, const std::string& where) {
  const Column& own = part->schema().columns[col];
  const auto mark = whole.meaning.missing;
  if (!mark || own.meaning.missing || !holds_integers(whole)) return;
  std::string number;
  append_number(whole.value_type, *mark, number);
  const Expression is_mark(col, *Condition::parse("==", number));
  if (count_where(ObjectMaker::frame(part), is_mark, {.absent = Absent::zero}) == 0) return;
  fail_column(part->file().name(), own,
              "holds " + number + ", which marks missing cells in " + where +
                  "; make a data set whose column has another mark, or a wider type");
}

}  // namespace

void Draft::merge_schema(const std::shared_ptr<const Store>& store, const std::string& folder) {
  const Store& part = *store;
  const Schema& next = part.schema();
  const std::string& file = part.file().name();
  if (next.kind != schema_.kind) {
    throw Error(Errc::invalid_argument, file, std::nullopt,
                schema_.kind == ObjectKind::frame
                    ? "the part is a matrix, and the data set holds a frame"
                    : "the part is a frame, and the data set holds a matrix");
  }
  if (next.kind == ObjectKind::matrix) {
    if (holds_all(schema_.value_type, next.value_type)) return;
    throw Error(Errc::invalid_argument, file, std::nullopt,
                "the part is of " + std::string(name(next.value_type)) +
                    ", and not all of its values fit the " + std::string(name(schema_.value_type)) +
                    " of the data set; write it with that value type");
  }
  if (next.columns.size() != schema_.columns.size()) {
    throw Error(Errc::invalid_argument, file, std::nullopt,
                "the part has " + counted(next.columns.size(), "column") +
                    ", and the data set has " + std::to_string(schema_.columns.size()) +
                    "; parts of a frame have all of its columns");
  }
  std::vector<std::size_t> marked;  // columns that get a mark of missing integers
  for (std::size_t c = 0; c < next.columns.size(); ++c) {
    const Column& column = next.columns[c];
    if (column.label != schema_.columns[c].label) {
      fail_column(file, column,
                  "is in the place of column " + shown(schema_.columns[c].label) +
                      " of the data set; parts have the same labels in the same order");
    }
    if (merge_meaning(schema_.columns[c], column, file)) marked.push_back(c);
    require_no_mark(store, c, schema_.columns[c], "the data set");
    if (column.meaning.has_words()) {
      merge_words(schema_.columns[c], column, static_cast<std::uint32_t>(c), file);
    }
  }
  if (marked.empty()) return;
  for (const PartRecord& record : parts_) {
    const auto before = dbdf::open_dbdf(open_local_part(folder, record)->file, {});
    for (const std::size_t c : marked) require_no_mark(before, c, schema_.columns[c], file);
  }
}

void Draft::merge_words(Column& whole, const Column& part, std::uint32_t col,
                        const std::string& file) {
  const Dictionary &known = *whole.meaning.words, &own = *part.meaning.words;
  const std::uint64_t common = common_words(known, own);
  if (common < own.size() && common == known.size()) {
    whole.meaning.words = part.meaning.words;  // it goes on
    words_.erase(col);
  } else if (common < own.size()) {
    if (whole.meaning.ordered || part.meaning.ordered) {
      fail_column(file, part,
                  "has words in another order than the data set; write the part with "
                  "the words of the data set in their order");
    }
    const auto [found, fresh] = words_.try_emplace(col);
    MergedWords& words = found->second;
    if (fresh) words.add(known);
    CodeMap map{static_cast<std::uint32_t>(parts_.size()), col, words.add(own), 0};
    whole.meaning.words = words.words();
    map.most = *std::max_element(map.codes.begin(), map.codes.end());
    maps_.push_back(std::move(map));
  }
  whole.meaning.ordered = whole.meaning.ordered && part.meaning.ordered;
  const ValueType least = code_type(whole.meaning.words->size());
  if (size_of(least) > size_of(whole.value_type)) whole.value_type = least;
  if (size_of(part.value_type) > size_of(whole.value_type)) whole.value_type = part.value_type;
}

std::optional<ValueType> Draft::recoded_type(const Store& part, const Entry& entry) const {
  std::optional<ValueType> type;
  const auto last = static_cast<std::uint32_t>(parts_.size() - 1);
  auto map = std::lower_bound(maps_.begin(), maps_.end(), entry.pos.cx,
                              [&](const CodeMap& other, std::uint64_t col) {
                                return other.part < last || other.column < col;
                              });
  for (; map != maps_.end() && map->column - entry.pos.cx < entry.cols; ++map) {
    if (!type) type = entry.value_type;
    if (is_signed(*type) || is_float(*type)) {
      fail_column(part.file().name(), part.schema().columns[map->column],
                  "has codes that are stored as " + std::string(name(*type)) +
                      "; write the part with dapple");
    }
    const ValueType codes = code_type(map->most);
    if (size_of(codes) > size_of(*type)) type = codes;
  }
  return type;
}

}  // namespace dapple::detail::dataset
