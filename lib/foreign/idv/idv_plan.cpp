#include "lib/foreign/idv/idv_plan.h"

#include <limits>
#include <set>
#include <utility>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/foreign/idv/idv.h"
#include "lib/foreign/idv/idv_items.h"
#include "lib/foreign/idv/idv_metadata.h"
#include "lib/foreign/idv/idv_primitives.h"
#include "lib/foreign/idv/idv_state.h"
#include "lib/object/groups.h"

namespace dapple::detail::idv {

namespace {

constexpr std::string_view kMatrixColumn = "Features";

const ItemType& item_titled(std::string_view title) {
  for (const ItemType& item : item_types()) {
    if (item.title == title && !item.load_name.starts_with("Dv")) return item;
  }
  return item_types().front();  // not reached: the titles are those of the table
}

/// How many columns of a source, an ML.NET file, from `col` on are all of one column of the file,
/// in its order; 0 when they are not.
std::uint64_t whole_column(const Source& source, std::uint64_t col) {
  const Contents& contents = source.store().state<State>().contents();
  const Strip* strip = &strip_of(contents, source.object_col(col));
  const std::uint32_t column = strip->column;
  const ValueCodec& codec = contents.toc[column].codec;
  const std::uint64_t slots = codec.vector ? codec.size : 1;
  const std::uint64_t n = slots * parts_of(*codec.item).size();
  if (n > source.cols() - col) return 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t from = source.object_col(col + i);
    if (from < strip->begin || from - strip->begin >= strip->width) {
      strip = &strip_of(contents, from);
    }
    const std::uint64_t slot = strip->first_slot + (from - strip->begin);
    if (strip->column != column || strip->part != i / slots || slot != i % slots) return 0;
  }
  return n;
}

class Planner {
 public:
  Planner(const Source& source, const ConvertOptions& options)
      : source_(source), options_(options), columns_(source.schema().columns) {}

  std::vector<OutColumn> plan() {
    if (source_.kind() == ObjectKind::matrix) {
      add_matrix();
      return std::move(out_);
    }
    for (std::uint64_t col = 0; col < columns_.size();) {
      OutColumn column = column_of_file(col);
      if (column.cols.empty()) column = group_of_columns(col);
      if (column.cols.empty()) column = numbered_columns(col);
      if (column.cols.empty()) column = single_column(col);
      require_name(column);
      col = column.cols.end;
      column.toc.compression = options_.idv.deflate ? Compression::deflate : Compression::none;
      out_.push_back(std::move(column));
    }
    if (out_.size() > kMaxInt) fail("an ML.NET file has at most 2147483647 columns");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string detail, Remedy remedy = Remedy::none) const {
    throw Error(Errc::unsupported, source_.store().file().name(), std::nullopt, std::move(detail),
                remedy);
  }

  void add_matrix() {
    const Schema& schema = source_.schema();
    if (schema.cols < 1 || schema.cols > kMaxInt) {
      fail("a matrix of " + std::to_string(schema.cols) +
           " columns makes no vector of ML.NET, which has 1 to 2147483647 slots");
    }
    OutColumn column;
    column.toc.compression = options_.idv.deflate ? Compression::deflate : Compression::none;
    column.toc.name = kMatrixColumn;
    column.toc.codec.item = &number_item(schema.value_type);
    column.toc.codec.vector = true;
    column.toc.codec.size = schema.cols;
    column.cols = {0, schema.cols};
    if (schema.group != nullptr) {
      if (!schema.group->name.empty()) column.toc.name = schema.group->name;
      column.slot_names = schema.group->slot_names;
    }
    take_vector_of_file(column);
    out_.push_back(std::move(column));
  }

  /// A matrix that is all of a vector of an ML.NET file has the same items there.
  void take_vector_of_file(OutColumn& column) const {
    const Strip* const first = strip(0);
    if (first == nullptr || whole_column(source_, 0) != column.cols.size()) return;
    const Contents& contents = source_.store().state<State>().contents();
    const TocColumn& toc = contents.toc[first->column];
    column.toc.codec = toc.codec;
    column.toc.codec.item = &current_item(*toc.codec.item);
    if (toc.codec.key_count == 0) return;
    const auto metadata = metadata_of(toc);
    column.key_values =
        cells_of(source_.store().shared_file(), contents.header, toc, metadata, 0).meaning.words;
    column.key_block = key_block(toc, metadata);
  }

  std::vector<MetadataEntry> metadata_of(const TocColumn& toc) const {
    const Contents& contents = source_.store().state<State>().contents();
    MetadataRoom room(contents.header);
    return read_metadata_table(source_.store().file(), contents.header, toc, room);
  }

  /// Values of keys that are no texts.
  std::optional<MetadataBlock> key_block(const TocColumn& toc,
                                         const std::vector<MetadataEntry>& metadata) const {
    const MetadataEntry* const values = find_key_values(toc, metadata);
    if (values == nullptr || values->codec.text()) return std::nullopt;
    return copy_metadata(source_.store().file(), *values);
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

  /// The strip of an ML.NET file that a column is of; null for other sources and other types.
  const Strip* strip(std::uint64_t col) const {
    const bool kept = !options_.value_type && !options_.stored_numbers;
    if (source_.store().driver().format != kDriver.format || !kept) return nullptr;
    return &strip_of(source_.store().state<State>().contents(), source_.object_col(col));
  }

  /// All of a column of an ML.NET file, if that is what starts here.
  OutColumn column_of_file(std::uint64_t col) const {
    const Strip* const first = strip(col);
    if (first == nullptr) return {};
    const std::uint64_t n = whole_column(source_, col);
    if (n == 0) return {};
    const TocColumn& toc = source_.store().state<State>().contents().toc[first->column];
    OutColumn column;
    column.toc.name = toc.name;
    column.toc.codec = toc.codec;
    column.toc.codec.item = &current_item(*toc.codec.item);
    column.cols = {col, col + n};
    column.scale = first->scale;
    const Column& described = columns_[col];
    if (toc.codec.text() || item_is("Boolean", column) || !first->scale.is_identity()) {
      column.described = &described;
    }
    if (toc.codec.key_count > 0) {
      column.key_values = described.meaning.words;
      column.key_block = key_block(toc, metadata_of(toc));
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
           Remedy::stored_numbers);
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
         a.value_type == b.value_type ? Remedy::stored_numbers : Remedy::value_type);
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
        if (meaning.missing && !is_float(c.value_type)) make_key(column, c, 0);
        return column;  // a float that is missing is a NaN, as in ML.NET
      case MeaningKind::category:
        make_key(column, c, meaning.words->size());
        if (meaning.words->size() > 0) column.key_values = meaning.words;
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

  /// A key of `count` values, or of as many as its type has when there are none.
  void make_key(OutColumn& column, const Column& c, std::uint64_t count) const {
    if (is_signed(c.value_type) || c.meaning.missing.value_or(0) != 0) {
      fail("column " + shown(c.label) + " has missing values, which ML.NET's integers have not",
           Remedy::stored_numbers);
    }
    const std::uint64_t most =
        std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * size_of(c.value_type));
    if (count > kMaxInt) {
      fail("column " + shown(c.label) + " has " + std::to_string(count) +
           " words, and ML.NET's keys have at most 2147483647");
    }
    column.toc.codec.key_count = count == 0 ? most : count;
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

OwnColumns own_columns(const Source& source, bool back) {
  OwnColumns own;
  const Contents& contents = source.store().state<State>().contents();
  const bool matrix = source.kind() == ObjectKind::matrix;  // of one column of the file
  std::set<std::uint32_t> split, ticks;
  for (std::uint64_t col = 0; col < (matrix ? 1 : source.cols()); ++col) {
    const Strip& strip = strip_of(contents, source.object_col(col));
    const TocColumn& column = contents.toc[strip.column];
    const bool two = parts_of(*column.codec.item).size() > 1;
    if (!two && !is_time(*column.codec.item)) continue;
    if (const std::uint64_t whole = back ? whole_column(source, col) : 0; whole > 0) {
      col += whole - 1;
      continue;
    }
    if (two && split.insert(strip.column).second) own.split.push_back(column.name);
    if (strip.part == 0 && is_ticks(source.schema(), col, *column.codec.item) &&
        ticks.insert(strip.column).second) {
      own.ticks.push_back(column.name);
    }
  }
  return own;
}

}  // namespace dapple::detail::idv
