// dapple info: what a file holds. Reads only its header and index.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "attributes.h"
#include "collection_text.h"
#include "dapple/convert.h"
#include "dapple/sidecar.h"
#include "info.h"
#include "input.h"
#include "names.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

constexpr std::size_t kLabelWidth = 40;  // on a terminal
constexpr std::size_t kDetailWidth = 100;
constexpr std::uint64_t kLinesOnTerminal = 24;
constexpr std::uint64_t kManyBlocks = 1000;  // from here on, saving the index is worthwhile

/// Prints a key and its value, aligned.
void print_line(Output& out, std::string_view key, std::string_view value) {
  out.print("{:<12}{}\n", key, value);
}

std::string format_title(const BlockedObject& object) {
  for (const FormatInfo& format : formats()) {
    if (format.name == object.format()) return std::string(format.title);
  }
  return std::string(object.format());
}

/// "125 = 25 x 5 tiles of 4096 x 4096; last row 1696, last column 3616".
std::string tiling(const BlockedObject& object) {
  const std::uint64_t total = object.counts().total;
  const auto grid = object.grid();
  if (total == 0) return "none";
  if (!grid) return fmt::format("{}, no regular tiling", total);
  if (total == 1) return "1, the whole object";
  std::string text = fmt::format("{} = {} x {} tiles of {} x {}", total, grid->rows, grid->cols,
                                 grid->tile.rows, grid->tile.cols);
  std::string_view separator = "; ";
  if (const std::uint64_t rest = object.rows() % grid->tile.rows; rest != 0) {
    text += fmt::format("{}last row {}", separator, rest);
    separator = ", ";
  }
  if (const std::uint64_t rest = object.cols() % grid->tile.cols; rest != 0) {
    text += fmt::format("{}last column {}", separator, rest);
  }
  return text;
}

std::string stored(const BlockedObject& object) {
  const std::uint64_t n = object.counts().stored;
  std::string text = counted(n, "value");
  const double cells = static_cast<double>(object.rows()) * static_cast<double>(object.cols());
  if (cells > 0) text += fmt::format(" ({:.4g} %)", 100 * static_cast<double>(n) / cells);
  return text;
}

/// What an index or a copy is beside, when there is one.
std::filesystem::path own_file(const Input& input) {
  return file_to_index(input.file, input.options);
}

std::string index_text(const BlockedObject& object, const Input& input) {
  switch (object.index_origin()) {
    case IndexOrigin::embedded:
      return "embedded";
    case IndexOrigin::sidecar:
      return fmt::format("sidecar {}", printable(sidecar_path(own_file(input)).string()));
    case IndexOrigin::scanned:
      break;
  }
  const bool walked = object.format() == "dbdf" && object.counts().total >= kManyBlocks;
  return walked ? "scanned; 'dapple index' saves it beside the file, which makes opening faster"
                : "scanned";
}

/// "f64", "ordered category of 3 words", "timestamp[us, UTC], some missing", "f32, slot 0 of
/// 'Features'".
std::string type_text(const Column& column) {
  const Meaning& meaning = column.meaning;
  const bool ordered = meaning.kind == MeaningKind::category && meaning.ordered;
  std::string text(ordered ? "ordered " : "");
  text += meaning.kind == MeaningKind::number ? name(column.value_type) : name(meaning.kind);
  // How many words a text has may only be known once all of it was read.
  if (meaning.kind == MeaningKind::category) {
    const auto words = count_words(meaning);
    text += words ? fmt::format(" of {}", counted(*words, "word")) : ", whose words are damaged";
  }
  if (meaning.has_time()) {
    text += fmt::format("[{}{}{}]", name(meaning.unit), meaning.zone.empty() ? "" : ", ",
                        printable(meaning.zone));
  }
  if (meaning.missing) text += ", some missing";
  if (column.group != nullptr) {
    text += fmt::format(", slot {} of '{}'", column.slot, printable(column.group->name));
  }
  return text;
}

/// "11 f64, 2 i64": how many columns have which type.
std::string type_summary(const Frame& frame) {
  std::array<std::uint64_t, kValueTypes.size() + 1> counts{};
  for (std::uint64_t col = 0; col < frame.cols(); ++col) {
    ++counts[static_cast<std::size_t>(frame.column_type(col))];
  }
  std::string text;
  for (const ValueType type : kValueTypes) {
    const std::uint64_t n = counts[static_cast<std::size_t>(type)];
    if (n > 0) text += fmt::format(", {} {}", n, name(type));
  }
  return text;
}

/// Calls `take(label, type)` for at most `most` columns, of numbers and of text, in file order.
template <class Take>
void for_each_column(const Frame& frame, std::uint64_t most, std::size_t label_width,
                     const Take& take) {
  const auto texts = frame.text_columns();
  std::size_t k = 0;
  for (std::uint64_t col = 0; col <= frame.cols() && col + k < most; ++col) {
    for (; k < texts.size() && texts[k].before <= col; ++k) {
      take(label_text(texts[k].label, label_width),
           printable(texts[k].type) + (texts[k].readable ? "" : ", not readable"));
    }
    if (col == frame.cols()) break;
    take(label_text(frame.label(col), label_width), type_text(frame.column_info(col)));
  }
}

void print_columns(const Frame& frame, Output& out) {
  const std::uint64_t total = frame.cols() + frame.text_columns().size();
  const std::uint64_t shown = out.is_terminal() ? std::min(total, kLinesOnTerminal) : total;
  const std::size_t label_width =
      out.is_terminal() ? kLabelWidth : std::numeric_limits<std::size_t>::max();
  // Files may have millions of columns, or a label of a megabyte: lines are made twice instead of
  // stored, and a long label moves the types of the others no further than kLabelWidth.
  std::size_t width = 0;
  std::uint64_t lines = 0;
  for_each_column(frame, shown, label_width, [&](const std::string& label, const std::string&) {
    ++lines;
    width = std::min(std::max(width, display_width(label)), kLabelWidth);
  });
  std::string_view key = "columns";
  for_each_column(frame, shown, label_width,
                  [&](const std::string& label, const std::string& type) {
                    const std::size_t used = std::min(display_width(label), width);
                    print_line(out, key, label + std::string(width - used + 2, ' ') + type);
                    key = "";
                  });
  if (lines < total) {
    print_line(out, "", fmt::format("... and {} more; --json lists all", total - lines));
  }
}

/// What the columns of a matrix are called: "'Features', slots p, q, r".
void print_names(const Matrix& matrix, Output& out) {
  const ColumnGroup* const group = matrix.group();
  if (group == nullptr) return;
  std::string text = group->name.empty() ? "" : fmt::format("'{}'", printable(group->name));
  const std::uint64_t named = group->slot_names == nullptr ? 0 : group->size;
  const std::uint64_t shown = out.is_terminal() ? std::min(named, kLinesOnTerminal) : named;
  for (std::uint64_t slot = 0; slot < shown; ++slot) {
    text += slot > 0 ? ", " : text.empty() ? "slots " : ", slots ";
    text += label_text(group->label(slot), kLabelWidth);
  }
  if (shown < named) text += fmt::format(" and {} more; --json lists all", named - shown);
  print_line(out, "vector", text);
}

/// The objects of a file that holds several: values by number, arrays by name.
void print_contents(const BlockedObject& object, Output& out) {
  const std::vector<std::string>& values = object.contents();
  if (values.size() < 2) return;
  const std::size_t shown =
      out.is_terminal() ? std::min<std::size_t>(values.size(), kLinesOnTerminal) : values.size();
  const bool numbered = object.format() == "futhark";
  for (std::size_t i = 0; i < shown; ++i) {
    print_line(out, i == 0 ? title_of_contents(object) : "",
               numbered ? fmt::format("{:>{}}  {}", i, digits(shown - 1), values[i])
                        : label_text(values[i], std::string::npos));
  }
  if (shown < values.size()) {
    print_line(out, "", fmt::format("... and {} more; --json lists all", values.size() - shown));
  }
}

/// Details that only some formats have. Printed last, because reading them may fail.
void print_details(const BlockedObject& object, Output& out) {
  std::string last;
  for (const Detail& detail : object.details()) {
    const std::string text = printable(detail.text);
    print_line(out, detail.title == last ? "" : detail.title,
               out.is_terminal() ? shortened(text, kDetailWidth) : text);
    last = detail.title;
  }
}

/// The size of the file: that of its content is another one where it is compressed, or its text was
/// parsed.
std::uint64_t bytes_of_file(const Input& input, const BlockedObject& object) {
  std::error_code error;
  const std::uint64_t bytes =
      input.is_stream() ? object.bytes() : std::filesystem::file_size(input.file, error);
  return error ? object.bytes() : bytes;  // of what is no file, such as a data set
}

void print_screen(const std::variant<Matrix, Frame>& object, const Input& input,
                  std::uint64_t bytes, Output& out) {
  const BlockedObject& o = base(object);
  const BlockCounts counts = o.counts();
  print_line(
      out, "file",
      fmt::format("{} ({}), {}", printable(input.name()), human_size(bytes), format_title(o)));
  print_contents(o, out);
  if (const auto* matrix = std::get_if<Matrix>(&object)) {
    print_line(out, "matrix",
               fmt::format("{} x {}, {}{}", o.rows(), o.cols(), name(matrix->value_type()),
                           matrix->storage() == Storage::csr ? " (CSRMatrix)" : ""));
    print_names(*matrix, out);
  } else {
    const Frame& frame = std::get<Frame>(object);
    print_line(out, "frame", fmt::format("{} x {}{}", o.rows(), o.cols(), type_summary(frame)));
    print_columns(frame, out);
  }
  print_line(out, "blocks", tiling(o));
  if (counts.total > 0) print_line(out, "kinds", kinds_text(counts));
  print_line(out, "stored", stored(o));
  if (const auto packed = o.packed(); packed.blocks > 0) {
    print_line(out, "packed",
               fmt::format("{} of {} block{}, {} in place of {}", packed.blocks, counts.total,
                           counts.total == 1 ? "" : "s", human_size(packed.bytes),
                           human_size(packed.plain_bytes)));
  }
  print_line(out, "index", index_text(o, input));
  if (const auto copy = copy_state(object); !copy.empty()) {
    print_line(out, "by column",
               fmt::format("{}{}", printable(column_copy_path(own_file(input)).string()),
                           copy == "fresh" ? ""
                                           : fmt::format(", {} and not used; 'dapple index "
                                                         "--columns' makes it again",
                                                         copy)));
  }
  for (const auto& [key, line] : names_lines(object)) print_line(out, key, line);
  if (!o.note().empty()) print_line(out, "note", printable(o.note()));
  std::string_view key = "attributes";
  for (const std::string& line : member_lines(o.attributes(), out.is_terminal())) {
    print_line(out, key, line);
    key = "";
  }
  print_details(o, out);
}

int run_info(const Arguments& arguments, Console& console) {
  Input input;
  Command command(kInfoVerb);
  add_input(command, input);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "one JSON object on one line; errors as JSON, too");
  command.parse(arguments);

  if (print_collection(input, console)) return kDone;
  input.options.cells = false;
  // Of several values, the first is shown and all are listed.
  input.options.format_options.emplace("futhark.first", "true");
  const auto object = open_input(input, console);
  const std::uint64_t bytes = bytes_of_file(input, base(object));
  if (console.json) {
    print_info_json(object, bytes, console.out);
  } else {
    print_screen(object, input, bytes, console.out);
  }
  return kDone;
}

}  // namespace

const Verb kInfoVerb = {"info",
                        "FILE",
                        "what a file holds, without reading its cells",
                        "",
                        "  dapple info ratings.dbdf\n"
                        "  dapple info table.csv --delimiter ';'\n"
                        "  dapple info ratings.dbdf --json | jq .blocks.total\n",
                        run_info};

}  // namespace dapple::cli
