// dapple info: what a file holds. Reads only its header and index.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "attributes.h"
#include "collection_text.h"
#include "dapple/convert.h"
#include "dapple/sidecar.h"
#include "input.h"
#include "names.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

/// JSON keys for the meaning of a column; nothing for plain numbers.
std::string meaning_json(const Meaning& meaning) {
  std::string text;
  if (meaning.kind != MeaningKind::number)
    text += fmt::format(R"(,"meaning":"{}")", name(meaning.kind));
  if (meaning.kind == MeaningKind::category)
    text += fmt::format(R"(,"words":{})", meaning.words->size());
  if (meaning.kind == MeaningKind::category && meaning.ordered) text += R"(,"ordered":true)";
  if (meaning.has_time()) {
    text += fmt::format(R"(,"unit":"{}","zone":{})", name(meaning.unit), json_string(meaning.zone));
  }
  if (meaning.missing) text += R"(,"missing":true)";
  return text;
}

/// JSON keys for the vector that a column is a slot of.
std::string group_json(const Column& column) {
  if (column.group == nullptr) return "";
  std::string text = fmt::format(R"(,"group":{})", json_string(column.group->name));
  const std::string_view slot = column.group->slot_name(column.slot);
  if (!slot.empty()) text += fmt::format(R"(,"slot":{})", json_string(slot));
  return text;
}

/// JSON keys for what the columns of a matrix are called.
void print_names_json(const Matrix& matrix, Output& out) {
  const ColumnGroup* const group = matrix.group();
  if (group == nullptr) return;
  out.print(R"(,"group":{})", json_string(group->name));
  if (group->slot_names == nullptr) return;
  for (std::uint64_t slot = 0; slot < group->size; ++slot) {
    out.print("{}{}", slot == 0 ? R"(,"slots":[)" : ",", json_string(group->slot_name(slot)));
  }
  out.write("]");
}

constexpr std::size_t kLabelWidth = 40;  // on a terminal
constexpr std::size_t kDetailWidth = 100;
constexpr std::uint64_t kLinesOnTerminal = 24;
constexpr std::uint64_t kManyBlocks = 1000;  // from here on, saving the index is worthwhile

/// What is to be told of a copy by column; "" when there is none.
std::string_view copy_state(const std::variant<Matrix, Frame>& object) {
  const auto* const matrix = std::get_if<Matrix>(&object);
  switch (matrix != nullptr ? column_copy_state(*matrix) : SidecarState::none) {
    case SidecarState::fresh:
      return "fresh";
    case SidecarState::stale:
      return "stale";
    case SidecarState::damaged:
      return "damaged";
    case SidecarState::none:
      break;
  }
  return "";
}

/// What the objects of a file that holds several are called.
std::string_view title_of_contents(const BlockedObject& object) {
  return object.format() == "futhark" ? "values" : "arrays";
}

/// Keys that only some files have: several objects, text columns, attributes, a note, details.
void print_more_json(const BlockedObject& object, std::span<const Detail> details,
                     const std::string& attributes, Output& out) {
  if (object.contents().size() > 1) {
    out.print(R"(,"{}":)", title_of_contents(object));
    std::string_view before = "[";
    for (const std::string& one : object.contents()) {
      out.print("{}{}", before, json_string(one));
      before = ",";
    }
    out.write("]");
  }
  if (!object.text_columns().empty()) {
    std::string_view before = R"(,"text_columns":[)";
    for (const TextColumn& column : object.text_columns()) {
      out.print(R"({}{{"label":{},"type":{}}})", before, json_string(column.label),
                json_string(column.type));
      before = ",";
    }
    out.write("]");
  }
  if (attributes != "{}") out.print(R"(,"attributes":{})", on_one_line(attributes));
  if (!object.note().empty()) out.print(R"(,"note":{})", json_string(object.note()));
  if (!details.empty()) {
    std::string_view before = R"(,"details":[)";
    for (const Detail& detail : details) {
      out.print(R"({}{{"title":{},"text":{}}})", before, json_string(detail.title),
                json_string(detail.text));
      before = ",";
    }
    out.write("]");
  }
}

struct PackedBlocks {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0, plain_bytes = 0;
};

/// Bytes of a block in the published format.
std::uint64_t plain_bytes(const BlockInfo& block) {
  const std::uint64_t size = size_of(block.value_type);
  switch (block.kind) {
    case BlockKind::dense:
      return 10 + block.stored * size;
    case BlockKind::csr:
      return 18 + 4 * std::uint64_t{block.rows} + block.stored * (4 + size);
    case BlockKind::coo:
      return 14 + block.stored * ((block.cols == 1 ? 4 : 8) + size);
    case BlockKind::empty:
      break;
  }
  return 9;
}

/// What packing saved: nothing is read but the index.
PackedBlocks packed_blocks(const BlockedObject& object) {
  PackedBlocks found;
  if (object.format() != "dbdf" && object.format() != "dataset") return found;
  for (const BlockInfo& block : object.blocks()) {
    const std::uint64_t plain = plain_bytes(block);
    if (block.bytes == plain) continue;
    ++found.blocks;
    found.bytes += block.bytes;
    found.plain_bytes += plain;
  }
  return found;
}

void print_json(const std::variant<Matrix, Frame>& object, Output& out) {
  const BlockedObject& o = base(object);
  const BlockCounts counts = o.counts();
  const std::vector<Detail> details = o.details();  // before printing, because these may throw
  const std::string attributes = o.attributes();
  out.print(R"({{"format":{})", json_string(o.format()));
  if (const auto* matrix = std::get_if<Matrix>(&object)) {
    out.print(R"(,"kind":"matrix","storage":"{}","rows":{},"cols":{},"value_type":"{}")",
              matrix->storage() == Storage::csr ? "csr" : "dense", o.rows(), o.cols(),
              name(matrix->value_type()));
    print_names_json(*matrix, out);
  } else {
    const Frame& frame = std::get<Frame>(object);
    out.print(R"(,"kind":"frame","rows":{},"cols":{},"columns":[)", o.rows(), o.cols());
    for (std::uint64_t col = 0; col < frame.cols(); ++col) {
      const Column& column = frame.column_info(col);
      out.print(R"({}{{"label":{},"value_type":"{}"{}{}}})", col == 0 ? "" : ",",
                json_string(column.label), name(column.value_type), meaning_json(column.meaning),
                group_json(column));
    }
    out.write("]");
  }
  out.print(R"(,"blocks":{{"total":{},"empty":{},"dense":{},"csr":{},"coo":{}}})", counts.total,
            counts.empty, counts.dense, counts.csr, counts.coo);
  if (const auto grid = o.grid()) {
    out.print(R"(,"grid":{{"rows":{},"cols":{},"tile_rows":{},"tile_cols":{}}})", grid->rows,
              grid->cols, grid->tile.rows, grid->tile.cols);
  } else {
    out.write(R"(,"grid":null)");
  }
  out.print(R"(,"stored":{},"bytes":{},"index":"{}")", counts.stored, o.bytes(),
            name(o.index_origin()));
  if (const auto packed = packed_blocks(o); packed.blocks > 0) {
    out.print(R"(,"packed":{{"blocks":{},"bytes":{},"plain_bytes":{}}})", packed.blocks,
              packed.bytes, packed.plain_bytes);
  }
  const std::string_view copy = copy_state(object);
  if (!copy.empty()) out.print(R"(,"column_copy":"{}")", copy);
  out.write(names_json(object));
  print_more_json(o, details, attributes, out);
  out.write("}\n");
}

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

std::string index_text(const BlockedObject& object, const std::string& file) {
  switch (object.index_origin()) {
    case IndexOrigin::embedded:
      return "embedded";
    case IndexOrigin::sidecar:
      return fmt::format("sidecar {}", printable(sidecar_path(file).string()));
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
  if (meaning.kind == MeaningKind::category)
    text += fmt::format(" of {}", counted(meaning.words->size(), "word"));
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

void print_screen(const std::variant<Matrix, Frame>& object, const std::string& file, Output& out) {
  const BlockedObject& o = base(object);
  const BlockCounts counts = o.counts();
  print_line(out, "file",
             fmt::format("{} ({}), {}", printable(file), human_size(o.bytes()), format_title(o)));
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
  if (const auto packed = packed_blocks(o); packed.blocks > 0) {
    print_line(out, "packed",
               fmt::format("{} of {} block{}, {} in place of {}", packed.blocks, counts.total,
                           counts.total == 1 ? "" : "s", human_size(packed.bytes),
                           human_size(packed.plain_bytes)));
  }
  print_line(out, "index", index_text(o, file));
  if (const auto copy = copy_state(object); !copy.empty()) {
    print_line(out, "by column",
               fmt::format("{}{}", printable(column_copy_path(file).string()),
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
  if (console.json) {
    print_json(object, console.out);
  } else {
    print_screen(object, input.name(), console.out);
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
