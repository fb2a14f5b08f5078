#include "lib/catalog/formats.h"

#include <string>
#include <vector>

#include "lib/base/text.h"
#include "lib/object/groups.h"

namespace dapple::detail {

namespace {

using NameList = std::vector<std::string_view>;

/// What messages call dbdf without auxiliary blocks.
constexpr std::string_view kPlainLayout = "the plain layout";

/// Tells of the columns for which `loses` holds, by label.
template <class Loses>
void note_columns(const Source& source, const TakeNote& note, const std::string& what,
                  const Loses& loses) {
  NameList labels;
  for (const Column& column : source.schema().columns) {
    if (loses(column)) labels.push_back(column.label);
  }
  note_named("column", labels, what, note);
}

/// Of the meanings of columns.
void note_meanings(const Source& source, const Format& format, const TakeNote& note) {
  const std::string target(format.info.name);
  const Format::Lost& lost = format.lost;
  if (lost.zones) {
    note_columns(source, note, target + " keeps no names of zones; the times are in UTC",
                 [&](const Column& column) {
                   const std::string& zone = column.meaning.zone;
                   return !zone.empty() && (zone != "UTC" || lost.utc);
                 });
  }
  if (lost.order) {
    note_columns(source, note, target + " does not keep that the words have an order",
                 [](const Column& column) { return column.meaning.ordered; });
  }
  if (lost.missing_floats) {
    note_columns(
        source, note, target + " has no missing floats; such cells are NaN",
        [](const Column& column) { return column.meaning.missing && is_float(column.value_type); });
  }
  if (lost.durations) {
    note_columns(
        source, note,
        target + " does not tell durations from words; give the columns that type when it is read",
        [](const Column& column) { return column.meaning.kind == MeaningKind::duration; });
  }
  if (format.note_mistaken != nullptr) format.note_mistaken(source, target, note);
}

/// Of vectors with a name, and of the names of a matrix's columns.
void note_groups(const Schema& schema, const std::string& target, const TakeNote& note) {
  NameList names;
  for (const Range group : all_groups(schema.columns)) {
    names.push_back(schema.columns[group.begin].group->name);
  }
  note_named("group", names, target + " keeps the columns, but not that they are one vector", note);
}

/// How many text columns a message names.
constexpr std::size_t kNamedColumns = 8;

/// Throws unsupported: the object has text columns.
[[noreturn]] void fail_text(const Source& source) {
  const auto columns = source.store().text_columns();
  std::string names;
  for (std::size_t i = 0; i < source.text_columns().size(); ++i) {
    if (i == kNamedColumns) {
      names += " and others";
      break;
    }
    const TextColumn& column = columns[source.text_columns()[i]];
    names += (i == 0 ? "'" : ", '") + column.label + "' (" + column.type + ')';
  }
  throw Error(Errc::unsupported, source.store().known_as(), std::nullopt,
              "these columns are not numbers: " + names, "idv.drop_unsupported");
}

/// Throws unsupported for a column whose label is more than its number.
void require_no_labels(const Source& source, const Format& format) {
  const auto& columns = source.schema().columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& label = columns[i].label;
    if (label.empty() || label == std::to_string(i)) continue;
    throw Error(
        Errc::unsupported, source.store().known_as(), std::nullopt,
        std::string(format.info.name) + " has no place for column labels such as " + shown(label),
        "drop_labels");
  }
}

/// Throws unsupported for a column whose numbers mean something that the target cannot express.
void require_plain_numbers(const Source& source, const std::string& target) {
  for (const Column& column : source.schema().columns) {
    if (is_plain(column)) continue;
    const bool missing = column.meaning.kind == MeaningKind::number;
    throw Error(
        Errc::unsupported, source.store().known_as(), std::nullopt,
        "column " + shown(column.label) +
            (missing ? " has missing values" : " is a " + std::string(name(column.meaning.kind))) +
            ", which cannot be written to " + target,
        "stored_numbers");
  }
}

bool is_dbdf(const Format& format) { return &format == &native_format(); }

/// True when a dbdf file without auxiliary blocks is to be written.
bool is_plain_layout(const Format& format, const ConvertOptions& options) {
  return options.write.plain && is_dbdf(format);
}

/// Tells of names that are not kept: those of rows, and, where `of_columns`, those of the columns
/// of a matrix.
void note_names(const Source& source, const std::string& target, bool of_columns,
                const ConvertOptions& options) {
  const auto any = [](const std::shared_ptr<const Names>& given, const ReadNames& own) {
    const auto names = given != nullptr || !own ? given : own();
    return names != nullptr && names->size() > 0;
  };
  if (any(options.write.row_names, source.schema().row_names)) {
    options.note(target + " keeps no names of rows");
  }
  const auto& group = source.schema().group;
  const bool slots = group != nullptr && group->slot_names != nullptr;
  if (of_columns && (slots || any(options.write.col_names, source.schema().col_names))) {
    options.note(target + " keeps no names of the columns of a matrix");
  }
}

/// Tells `options.note` of what is lost. REQUIRES that there is one.
void note_losses(const Source& source, const Format& format, const ConvertOptions& options) {
  const Schema& schema = source.schema();
  const bool plain = is_plain_layout(format, options);
  const std::string target(plain ? kPlainLayout : format.info.name);
  // Text has the words, times and truth values in any case.
  const bool meanings = !options.stored_numbers || format.holds_text;
  if (meanings) note_meanings(source, format, options.note);
  if ((format.lost.groups || plain) && !options.drop_labels) {
    note_groups(schema, target, options.note);
  }
  if ((!is_dbdf(format) || plain) &&
      (!options.write.attributes.empty() || !schema.read_attributes().empty())) {
    options.note(target + " keeps no attributes");
  }
  if (!is_dbdf(format) || plain) {
    const bool of_columns = (format.lost.matrix_names || plain) && !options.drop_labels;
    note_names(source, target, of_columns, options);
  }
  for (const Format& own : all_formats()) {
    if (own.own_losses == nullptr) continue;
    const bool back = &own == &format && !options.value_type && !options.stored_numbers;
    for (const OwnLoss& loss : own.own_losses(source, back)) {
      if (loss.of_meaning && !meanings) continue;
      note_named("column", loss.names, target + ' ' + std::string(loss.what), options.note);
    }
  }
}

}  // namespace

void judge_losses(const Source& source, const Format& format, const ConvertOptions& options) {
  if (!format.holds_text && !source.text_columns().empty()) fail_text(source);
  if (!options.stored_numbers) {
    if (is_plain_layout(format, options)) require_plain_numbers(source, std::string(kPlainLayout));
    if (!format.holds_meanings) require_plain_numbers(source, std::string(format.info.name));
  }
  if (!format.holds_labels && !options.drop_labels) require_no_labels(source, format);
  if (options.note) note_losses(source, format, options);
}

}  // namespace dapple::detail
