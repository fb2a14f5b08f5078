#include "lib/foreign/idv/idv_plan.h"

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_origin.h"
#include "lib/foreign/idv/idv_primitives.h"
#include "lib/object/dictionary.h"
#include "lib/object/groups.h"

namespace dapple::detail::idv {

namespace {

constexpr std::string_view kMatrixColumn = "Features";

class Planner {
 public:
  Planner(const Source& source, const ConvertOptions& options)
      : source_(source), options_(options), columns_(source.schema().columns) {}

  std::vector<OutColumn> plan() {
    if (source_.kind() == ObjectKind::matrix) {
      add_matrix();
      return std::move(out_);
    }
    for (std::uint64_t col = 0; col < columns_.size(); col = out_.back().cols.end) {
      OutColumn column = column_of_file(col);
      if (column.cols.empty()) column = group_of_columns(col);
      if (column.cols.empty()) column = numbered_columns(col);
      if (column.cols.empty()) column = single_column(col);
      out_.push_back(std::move(column));
    }
    split_hiding();
    if (out_.size() > kMaxInt) fail("an ML.NET file has at most 2147483647 columns");
    for (const OutColumn& column : out_) require_name(column);
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string detail, std::string_view option = {}) const {
    throw Error(Errc::unsupported, source_.store().file().name(), std::nullopt, std::move(detail),
                option);
  }

  void add_matrix() {
    const Schema& schema = source_.schema();
    if (schema.cols < 1 || schema.cols > kMaxInt) {
      fail("a matrix of " + std::to_string(schema.cols) +
           " columns makes no vector of ML.NET, which has 1 to 2147483647 slots");
    }
    OutColumn column;
    column.toc.name = kMatrixColumn;
    column.toc.codec.item = &number_item(schema.value_type);
    column.toc.codec.vector = true;
    column.toc.codec.size = schema.cols;
    column.cols = {0, schema.cols};
    if (schema.group != nullptr) {
      if (!schema.group->name.empty()) column.toc.name = schema.group->name;
      column.slot_names = schema.group->slot_names;
    }
    if (source_.drops_labels()) {
      column.slot_names = nullptr;
    } else if (const auto names = source_.names_to_write()) {
      std::vector<std::string> slots;
      for (std::uint64_t slot = 0; slot < schema.cols; ++slot) slots.emplace_back((*names)[slot]);
      column.slot_names = listed_dictionary(std::move(slots));
    }
    take_vector_of_file(column);
    out_.push_back(std::move(column));
  }

  /// A matrix that is all of a vector of ML.NET files has the same items there.
  void take_vector_of_file(OutColumn& column) const {
    if (!keeps_codecs() || whole_column(source_, 0) != column.cols.size()) return;
    const Origins origins = origins_of(source_, 0);
    column.toc.codec = merged_codec(origins);
    if (column.toc.codec.key_count == 0) return;
    column.key_values = origins.files.front().key_words();
    column.key_block = merged_key_values(origins, column.key_values.get());
  }

  /// Vectors of our own making whose name another column has are columns of their own again:
  /// ML.NET sees only the last column of a name.
  void split_hiding() {
    std::map<std::string, std::size_t> named;
    for (const OutColumn& column : out_) ++named[column.toc.name];
    for (bool again = true; again;) {
      again = false;
      std::vector<OutColumn> all;
      for (OutColumn& column : out_) {
        if (column.own || !column.vector() || named[column.toc.name] == 1) {
          all.push_back(std::move(column));
          continue;
        }
        again = true;
        --named[column.toc.name];
        for (std::uint64_t col = column.cols.begin; col < column.cols.end; ++col) {
          ++named[all.emplace_back(single_column(col)).toc.name];
        }
      }
      out_ = std::move(all);
    }
    std::vector<std::string_view> hidden;
    for (const auto& [name, count] : named) {
      if (count > 1) hidden.push_back(name);
    }
    if (!options_.note) return;
    note_named("column", hidden, "of columns of one name ML.NET shows only the last",
               options_.note);
  }

  void require_name(const OutColumn& column) const {
    const std::string number = std::to_string(column.cols.begin);
    if (column.toc.name.empty()) {  // the format could hold it; ML.NET refuses the file
      fail("column " + number + " has no label, which ML.NET needs for every column");
    }
    if (!is_utf8(column.toc.name)) {
      fail("the label of column " + number + " is not UTF-8, as labels in an ML.NET file must be");
    }
  }

  /// Columns of ML.NET files stay what they are there.
  bool keeps_codecs() const noexcept { return !options_.value_type && !options_.stored_numbers; }

  /// All of a column of ML.NET files, if that is what starts here.
  OutColumn column_of_file(std::uint64_t col) const {
    const std::uint64_t n = keeps_codecs() ? whole_column(source_, col) : 0;
    if (n == 0) return {};
    const Origins origins = origins_of(source_, col);
    const Column& described = columns_[col];
    const Meaning& meaning = described.meaning;
    OutColumn column;
    column.own = true;
    column.toc.name = origins.files.front().column().name;
    column.toc.codec = merged_codec(origins);
    column.cols = {col, col + n};
    if (meaning.has_time()) column.scale = scale_of(meaning.unit, !item_is("TimeSpan", column));
    const ValueCodec& codec = column.toc.codec;
    if (codec.text() || item_is("Boolean", column) || meaning.has_time()) {
      column.described = &described;
    }
    if (codec.key_count > 0 && meaning.has_words()) {
      make_key(column, described, codec.item->value_type);
      column.key_block = merged_key_values(origins, meaning.words.get());
    }
    if (described.group != nullptr) column.slot_names = described.group->slot_names;
    return column;
  }

  static bool item_is(std::string_view title, const OutColumn& column) {
    return column.item().title == title;
  }

  /// The vector that starts here, if columns of one group do.
  OutColumn group_of_columns(std::uint64_t col) const {
    const Range cols = whole_group(columns_, col);
    if (cols.empty() || columns_[col].group->name.empty()) return {};
    const ColumnGroup& group = *columns_[col].group;
    OutColumn column = single_column(col);
    for (std::uint64_t other = col + 1; other < cols.end; ++other) require_alike(col, other);
    if (column.described != nullptr && !item_is("Boolean", column)) {
      fail("group " + shown(group.name) + " is of " +
               std::string(name(columns_[col].meaning.kind)) +
               "s, which dapple writes to no vector of ML.NET",
           "stored_numbers");
    }
    column.described = nullptr;
    column.toc.name = group.name;
    column.toc.codec.vector = true;
    column.toc.codec.size = cols.size();
    column.cols = cols;
    column.slot_names = group.slot_names;
    return column;
  }

  /// Throws unsupported for two slots of one vector that hold different things.
  void require_alike(std::uint64_t first, std::uint64_t other) const {
    const Column &a = columns_[first], &b = columns_[other];
    const Meaning &m = a.meaning, &n = b.meaning;
    const bool words = !m.has_words() || same_words(m.words.get(), n.words.get());
    if (a.value_type == b.value_type &&
        (options_.stored_numbers || (m.kind == n.kind && m.missing == n.missing && words))) {
      return;
    }
    fail("columns " + shown(a.label) + " and " + shown(b.label) + " of group " +
             shown(a.group->name) +
             " differ in type or words, and the slots of an ML.NET vector are all alike",
         a.value_type == b.value_type ? "stored_numbers" : "value_type");
  }

  /// Columns "x.0", "x.1" ... of plain numbers of one type.
  OutColumn numbered_columns(std::uint64_t col) const {
    const std::string& label = columns_[col].label;
    if (!label.ends_with(".0") || label.size() == 2) return {};
    const std::string prefix = label.substr(0, label.size() - 1);
    std::uint64_t end = col;
    while (end < columns_.size() && columns_[end].label == prefix + std::to_string(end - col) &&
           columns_[end].value_type == columns_[col].value_type && is_plain(columns_[end])) {
      ++end;
    }
    if (end - col < 2) return {};
    OutColumn column;
    column.toc.name = prefix.substr(0, prefix.size() - 1);
    column.toc.codec.item = &number_item(columns_[col].value_type);
    column.toc.codec.vector = true;
    column.toc.codec.size = end - col;
    column.cols = {col, end};
    return column;
  }

  OutColumn single_column(std::uint64_t col) const {
    const Column& c = columns_[col];
    const Meaning& meaning = c.meaning;
    OutColumn column;
    column.toc.name = c.label;
    column.toc.codec.item = &number_item(c.value_type);
    column.cols = {col, col + 1};
    if (options_.stored_numbers) return column;
    switch (meaning.kind) {
      case MeaningKind::number:
        // A float that is missing is a NaN, as in ML.NET.
        if (!meaning.missing || is_float(c.value_type)) return column;
        [[fallthrough]];
      case MeaningKind::category:
        make_key(column, c, ValueType::u32);
        take_key_of_file(column);
        return column;
      case MeaningKind::text:
        column.toc.codec.item = &text_item();
        break;
      case MeaningKind::boolean:
        column.toc.codec.item = &item_titled("Boolean");
        break;
      case MeaningKind::timestamp:
        column.toc.codec.item = &item_titled(meaning.zone.empty() ? "DateTime" : "DateTimeOffset");
        column.scale = scale_of(meaning.unit, true);
        break;
      case MeaningKind::duration:
        column.toc.codec.item = &item_titled("TimeSpan");
        column.scale = scale_of(meaning.unit, false);
        break;
    }
    column.described = &c;
    return column;
  }

  /// A key of at least this type, the one that ML.NET's trainers take, with a value for each word;
  /// with as many as the column's type has, where there are no words.
  void make_key(OutColumn& column, const Column& c, ValueType least) const {
    const bool words = c.meaning.has_words();
    if ((!words && is_signed(c.value_type)) || c.meaning.missing.value_or(0) != 0) {
      fail("column " + shown(c.label) + " has missing values, which ML.NET's integers have not",
           "stored_numbers");
    }
    std::uint64_t count = words ? c.meaning.words->size() : 0;
    if (count > kMaxInt) {
      fail("column " + shown(c.label) + " has " + std::to_string(count) +
           " words, and ML.NET's keys have at most 2147483647");
    }
    ValueType type = least;
    if (count > 0) column.key_values = c.meaning.words;
    if (words && count > most_of(type)) type = ValueType::u32;
    if (!words && size_of(c.value_type) > size_of(type)) type = c.value_type;
    column.toc.codec.item = &number_item(type);
    column.toc.codec.key_count = count > 0 ? count : most_of(words ? type : c.value_type);
  }

  /// A slot of a vector of keys of an ML.NET file, say, is a key of the same type and number.
  void take_key_of_file(OutColumn& column) const {
    const Origins origins = keeps_codecs() ? origins_of(source_, column.cols.begin) : Origins();
    if (!origins.own()) return;
    const ValueCodec codec = merged_codec(origins);
    if (codec.key_count == 0 || column.toc.codec.key_count > most_of(codec.item->value_type))
      return;
    column.toc.codec.item = codec.item;
    if (column.key_values == nullptr) column.toc.codec.key_count = codec.key_count;
  }

  static std::uint64_t most_of(ValueType type) noexcept {
    return std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * size_of(type));
  }

  const Source& source_;
  const ConvertOptions& options_;
  const std::vector<Column>& columns_;
  std::vector<OutColumn> out_;
};

}  // namespace

std::vector<OutColumn> plan_columns(const Source& source, const ConvertOptions& options) {
  return Planner(source, options).plan();
}

}  // namespace dapple::detail::idv
