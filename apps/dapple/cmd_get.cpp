// dapple get: any part of an object as text, or as a file of any format.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "collection_text.h"
#include "dapple/where_rows.h"
#include "destination.h"
#include "found_rows.h"
#include "input.h"
#include "json_rows.h"
#include "pages.h"
#include "report.h"
#include "screen.h"
#include "selection.h"
#include "sparse_text.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

constexpr std::string_view kDefaultFormat = "csv";

/// Of so few cells, another thread would only wait for its start.
void use_one_thread_for_few(const BlockedObject& object, const Selection& part, Console& console) {
  constexpr double kFew = 65536;
  const double rows = static_cast<double>(part.rows.value_or(Range{0, object.rows()}).size());
  const double cols = static_cast<double>(part.cols ? part.cols->size() : object.cols());
  if (rows * cols <= kFew) console.threads = 1;
}

/// The value of a single cell, as it is.
void print_value(const CellPages& pages, Output& out) {
  pages.for_each([&](Range, const std::vector<PageColumn>& page) {
    out.write(page.front().cells.front() + "\n");
  });
}

/// Whether a flag other than --column chooses cells.
bool chooses_cells(const SelectionFlags& flags) {
  return flags.block || flags.tile || flags.around || flags.cell || flags.rows || flags.cols ||
         flags.row_name;
}

/// The columns of these labels; of text, too.
std::vector<ShownColumn> labelled_columns(const Frame& frame,
                                          const std::vector<std::string>& labels) {
  std::vector<ShownColumn> columns;
  for (const std::string& label : labels) {
    const auto texts = frame.text_columns();
    const auto text = std::ranges::find(texts, label, &TextColumn::label);
    if (text != texts.end()) {
      columns.push_back({true, static_cast<std::uint64_t>(text - texts.begin())});
      continue;
    }
    const Range found = labelled_range(frame, label);
    for (std::uint64_t col = found.begin; col < found.end; ++col) columns.push_back({false, col});
  }
  return columns;
}

/// Prints the rows that meet a condition.
int print_where(Input& input, const std::string& text, const std::vector<std::string>& labels,
                const TextOptions& options, Console& console) {
  const Expression wanted = Expression::parse(text);
  const auto object = open_input(input, console);
  say_note(input, base(object), console);
  const auto* const frame = std::get_if<Frame>(&object);
  if (frame == nullptr) {
    throw Error(
        Errc::invalid_argument, input.name(), std::nullopt,
        "the file holds a matrix, whose columns have no labels; 'dapple where' finds cells");
  }
  FoundRows rows(*frame, labels.empty() ? shown_columns(*frame) : labelled_columns(*frame, labels),
                 RowNumbers::no, console, options);
  where(*frame, wanted, [&](std::span<const std::uint64_t> found) { rows.print(found); },
        {.absent = options.reading.absent});
  rows.finish();
  return kDone;
}

int run_get(const Arguments& arguments, Console& console) {
  Input input;
  SelectionFlags wanted;
  Destination destination;
  Absent absent = Absent::error;
  bool sparse = false;
  std::optional<std::string> where;
  Command command(kGetVerb);
  add_input(command, input);
  add_selection_flags(command, wanted);
  add_absent_flag(command, absent);
  command.flag(
      "--sparse", sparse,
      "print row,column,value of the cells that are neither zero nor missing; cells that no "
      "block covers are an error, or left out with --absent zero");
  command.option(
      "--where", "EXPR", [&](const std::string& text) { where = text; },
      "print the rows of a frame that meet a condition, as of 'dapple where', as CSV; with "
      "--column, some columns of them");
  command.section("writing a file");
  command.option(
      "-o,--output", "OUT", [&](const std::string& text) { take_output(text, destination); },
      "write to the file OUT, in the format of its extension; - is standard output");
  add_destination_flags(command, destination);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console,
                   "rows as JSON, one a line: objects of a frame, arrays of a matrix; errors, too");
  command.parse(arguments);

  require_consistent(wanted);
  const bool as_text =
      destination.is_stdout() && (destination.to.empty() || destination.to == kDefaultFormat);
  const bool as_value =
      as_text && destination.to.empty() && wanted.cell && !sparse && !console.json;
  const bool as_json = as_text && destination.to.empty() && console.json && !sparse;
  const bool as_screen =
      as_text && destination.to.empty() && console.out.is_terminal() && !as_value && !as_json;
  if (destination.is_stdout() && (destination.force || destination.large || !destination.sync)) {
    const char* const flag = destination.force   ? "--force"
                             : destination.large ? "--large"
                                                 : "--no-sync";
    throw UsageError(fmt::format("{} needs -o OUT", flag));
  }
  if (sparse && !as_text) {
    throw UsageError("--sparse prints text: it goes with neither -o OUT nor --to");
  }
  if (sparse && console.json) throw UsageError("--sparse prints no JSON");
  if (sparse && absent == Absent::nan) {
    throw UsageError(
        "--sparse prints the cells that are not zero, and NaN is not: --absent nan would print all "
        "that no block covers; --absent zero leaves them out");
  }
  if (where) {
    if (!as_text || sparse || chooses_cells(wanted)) {
      throw UsageError("--where prints rows as text, for > OUT.csv, and goes with --column only");
    }
    const TextOptions text{{absent}, destination.short_floats};
    return print_where(input, *where, wanted.labels, text, console);
  }
  if (!as_screen) {
    if (as_text) destination.to = kDefaultFormat;
    format_to_write(destination);
    require_replaceable(destination);
  }

  for (const std::string& label : wanted.labels) {
    input.options.format_options.emplace("idv.column", label);
  }
  if (wanted.rows) input.options.first_rows = wanted.rows->end;
  if (wanted.cell) input.options.first_rows = wanted.cell->first + 1;
  std::optional<std::variant<Matrix, Frame>> opened;
  try {
    opened = open_input(input, console);
  } catch (const Error& error) {
    const bool whole = !chooses_cells(wanted) && wanted.labels.empty();
    if (whole && as_text && !sparse && print_json_member(input, error, console)) return kDone;
    throw;
  }
  const auto& object = *opened;
  const Selection part = resolve(wanted, object, input.name());
  say_note(input, base(object), console);
  use_one_thread_for_few(base(object), part, console);
  const TextOptions text{{absent, console.threads}, destination.short_floats};
  if (sparse) {
    print_sparse(object, part, text, console.out);
    return kDone;
  }
  if (as_json) {
    print_json_rows(object, part, text, console);
    return kDone;
  }
  const CellPages pages(object, part, text);
  if (as_value) {
    print_value(pages, console.out);
    return kDone;
  }
  if (as_text && pages.cols() == 0) return kDone;  // nothing to print
  if (as_screen) {
    const auto give = [&](const std::string& hint) {
      console.out.flush();
      say("dapple: " + printable(input.name()) + ": " + hint);
    };
    const std::string known = console.quiet ? "" : sparse_hint(object, part);
    if (!known.empty()) give(known);
    ZeroCounter zeros(pages);
    print_screen(pages, console.out, [&](const std::vector<PageColumn>& page) {
      if (console.quiet || !known.empty()) return;
      if (const std::string hint = zeros.add(page); !hint.empty()) give(hint);
    });
    return kDone;
  }
  ConvertOptions options;
  options.absent = absent;
  if (!as_text) options.note = notes_to(console);
  deliver(object, part, destination, options, console);
  return kDone;
}

}  // namespace

const Verb kGetVerb = {
    "get",
    "FILE",
    "cells as text, or to a file",
    "On a terminal, cells are aligned, with row and column numbers or labels; anywhere\n"
    "else they are CSV. Rows and columns count from zero. A member of a collection that is JSON\n"
    "is printed as it is.\n",
    "  dapple get ratings.dbdf --rows 0:10 --cols :5\n"
    "  dapple get ratings.dbdf --sparse | head\n"
    "  dapple get ratings.dbdf --cell 70000,12345\n"
    "  dapple get ratings.dbdf --around 70000,12345 -o around.npy\n"
    "  dapple get wine.dbdf --column pH --column quality > wine.csv\n"
    "  dapple get wine.dbdf --rows :3 --json\n"
    "  dapple get wine.dbdf --where 'pH < 3.2 and quality >= 7'\n"
    "  dapple get ratings.dbdf --tile 3,4 --to npy | python3 -c \\\n"
    "      'import numpy, io, sys; print(numpy.load(io.BytesIO(sys.stdin.buffer.read())))'\n",
    run_get};

}  // namespace dapple::cli
