// dapple convert: from any readable format to any writable one.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attributes.h"
#include "destination.h"
#include "guest.h"
#include "input.h"
#include "names.h"
#include "report.h"
#include "selection.h"
#include "text.h"
#include "verbs.h"
#include "write_flags.h"

namespace dapple::cli {

namespace {

ValueType parse_value_type(const std::string& text) {
  if (const auto type = find_value_type(text)) return *type;
  throw UsageError(fmt::format(
      "--value-type must be one of u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, not '{}'",
      printable(text)));
}

/// What the command line says.
struct Conversion {
  Input input;
  Destination destination;
  SelectionFlags part;
  WriteFlags write;
  ConvertOptions options;
  std::vector<std::pair<std::string, std::string>> attributes;
  NameFlags names;
};

void add_flags(Command& command, Conversion& wanted) {
  ConvertOptions& options = wanted.options;
  add_input(command, wanted.input, "IN");
  command.operand("OUT", wanted.destination.path, "the file to write; - is standard output");
  command.section("what to write");
  add_column_flag(command, wanted.part.labels);
  add_absent_flag(command, options.absent);
  command.option(
      "--value-type", "TYPE",
      [&](const std::string& text) { options.value_type = parse_value_type(text); },
      "write all cells as TYPE: u8 to u64, i8 to i64, f32, f64");
  command.flag("--allow-loss", options.allow_loss,
               "with --value-type or --append: round values that are not exact");
  command.flag(
      "--append", wanted.destination.append,
      "if OUT exists: append the rows to OUT, a dbdf file with the same columns; their tiles are "
      "shaped like those of OUT, or larger where OUT is too short for a whole one, unless --tile "
      "is given");
  command.flag("--transpose", options.transpose,
               "write a matrix with its rows as columns, to dbdf");
  add_attribute_flag(command, wanted.attributes);
  add_name_flags(command, wanted.names);
  add_destination_flags(command, wanted.destination);
  add_write_flags(command, wanted.write);
  add_reading_flags(command, wanted.input.options);
}

/// Throws UsageError for flags that do not go together, or with the format.
void require_consistent(const Conversion& wanted, const FormatInfo& format) {
  const bool append = wanted.destination.append;
  const auto& options = wanted.options;
  if (options.allow_loss && !options.value_type && !append) {
    throw UsageError("--allow-loss needs --value-type or --append");
  }
  if (append && format.name != "dbdf") {
    throw UsageError(fmt::format("--append is for dbdf, not {}", format.name));
  }
  if (append && (options.value_type || !wanted.part.labels.empty())) {
    throw UsageError("--append takes all columns as they are: no --column, no --value-type");
  }
  if (options.transpose && (append || wanted.write.options.tile)) {
    throw UsageError("--transpose chooses the tiles, and cannot append");
  }
  if (options.transpose && format.name != "dbdf") {
    throw UsageError(fmt::format("--transpose is for dbdf, not {}", format.name));
  }
  const bool keeps = !append && !wanted.write.options.plain && format.name == "dbdf";
  if (!wanted.attributes.empty() && !keeps) {
    throw UsageError("--attribute is for a new dbdf file, without --append and --plain");
  }
  if (wanted.names.of_rows() && !keeps) {
    throw UsageError("names of rows are for a new dbdf file, without --append and --plain");
  }
  if (wanted.names.col_file && (append || wanted.write.options.plain)) {
    throw UsageError("names of columns go with neither --append nor --plain");
  }
  require_flags_for(format, wanted.write);
}

void write(Conversion& wanted, Guest& guest, Console& console) {
  auto& [input, destination, chosen, flags, options, attributes, names] = wanted;
  for (const std::string& label : chosen.labels) {
    input.options.format_options.emplace("idv.column", label);
  }
  const auto object = open_input(input, console);
  Selection part = resolve(chosen, object, input.name());
  say_note(input, base(object), console);
  options.write = flags.options;
  take_names(names, object, part, options.write);
  if (!attributes.empty()) {
    options.write.attributes = with_members(base(object).attributes(), attributes);
  }
  options.note = notes_to(console);
  auto written = deliver(object, part, destination, options, console);
  guest.finish(destination, written);
  if (written && !console.quiet && !console.json) {
    say(summary_text(destination, object, part, options, *written));
  }
}

int run_convert(const Arguments& arguments, Console& console) {
  Conversion wanted;
  Command command(kConvertVerb);
  add_flags(command, wanted);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  const bool to_guest = Guest::takes(wanted.destination);
  const FormatInfo& format = to_guest ? Guest::format() : format_to_write(wanted.destination);
  require_consistent(wanted, format);
  require_replaceable(wanted.destination);
  if (format.name == "dbdf" && !wanted.destination.is_stdout() && !wanted.destination.append) {
    parse_in(std::filesystem::path(wanted.destination.path).parent_path(), wanted.input.options);
  }
  Guest guest(wanted.input, wanted.destination);
  try {
    write(wanted, guest, console);
  } catch (const Error& error) {
    throw guest.named(error);
  }
  return kDone;
}

}  // namespace

const Verb kConvertVerb = {
    "convert",
    "IN OUT",
    "from any readable format to any writable one",
    "OUT appears whole or not at all. It is compressed where the name of a file of csv, tsv, mtx,\n"
    "npy, futhark or btable goes on with .gz or .zst.\n"
    "\n"
    "Files whose names end in .parquet, .feather or .arrow are read and written by pydapple and\n"
    "pyarrow, for their formats take more code than all of dapple, and who has such files has\n"
    "that: 'pip install pydapple pyarrow'. DAPPLE_PYTHON is the Python that has them, python3\n"
    "unless it is set.\n",
    "  dapple convert counts.btable counts.dbdf --tile 1024x1024\n"
    "  dapple convert sales.parquet sales.dbdf\n"
    "  dapple convert table.csv table.dbdf --missing nan\n"
    "  dapple convert today.csv all.dbdf --append\n"
    "  dapple convert scan.npy scan.dbdf --attribute run=12 --attribute 'units=\"mm\"'\n"
    "  dapple convert wide.dbdf narrow.npy --column pH --value-type f32 --allow-loss\n"
    "  dapple convert counts.csv.gz small.dbdf\n"
    "  dapple convert small.dbdf again.csv.gz\n"
    "  dapple convert people.csv people.dbdf --row-names name\n"
    "  dapple convert counts.mtx counts.dbdf --row-names-file genes.txt\n",
    run_convert};

}  // namespace dapple::cli
