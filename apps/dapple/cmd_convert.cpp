// dapple convert: from any readable format to any writable one.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "attributes.h"
#include "destination.h"
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

int run_convert(const Arguments& arguments, Console& console) {
  Input input;
  Destination destination;
  SelectionFlags wanted;
  WriteFlags write;
  ConvertOptions options;
  std::vector<std::pair<std::string, std::string>> attributes;
  NameFlags names;
  Command command(kConvertVerb);
  add_input(command, input, "IN");
  command.operand("OUT", destination.path, "the file to write; - is standard output");
  command.section("what to write");
  add_column_flag(command, wanted.labels);
  add_absent_flag(command, options.absent);
  command.option(
      "--value-type", "TYPE",
      [&](const std::string& text) { options.value_type = parse_value_type(text); },
      "write all cells as TYPE: u8 to u64, i8 to i64, f32, f64");
  command.flag("--allow-loss", options.allow_loss,
               "with --value-type or --append: round values that are not exact");
  command.flag(
      "--append", destination.append,
      "if OUT exists: append the rows to OUT, a dbdf file with the same columns; their tiles are "
      "shaped like those of OUT, or larger where OUT is too short for a whole one, unless --tile "
      "is given");
  command.flag("--transpose", options.transpose,
               "write a matrix with its rows as columns, to dbdf");
  add_attribute_flag(command, attributes);
  add_name_flags(command, names);
  add_destination_flags(command, destination);
  add_write_flags(command, write);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  if (options.allow_loss && !options.value_type && !destination.append) {
    throw UsageError("--allow-loss needs --value-type or --append");
  }
  const FormatInfo& format = format_to_write(destination);
  if (destination.append && format.name != "dbdf") {
    throw UsageError(fmt::format("--append is for dbdf, not {}", format.name));
  }
  if (destination.append && (options.value_type || !wanted.labels.empty())) {
    throw UsageError("--append takes all columns as they are: no --column, no --value-type");
  }
  if (options.transpose && (destination.append || write.options.tile)) {
    throw UsageError("--transpose chooses the tiles, and cannot append");
  }
  if (!attributes.empty() && (destination.append || write.options.plain || format.name != "dbdf")) {
    throw UsageError("--attribute is for a new dbdf file, without --append and --plain");
  }
  if (names.any() && (destination.append || write.options.plain || format.name != "dbdf")) {
    throw UsageError("names are for a new dbdf file, without --append and --plain");
  }
  require_flags_for(format, write);
  require_replaceable(destination);

  input.options.idv.columns = wanted.labels;
  const auto object = open_input(input, console);
  Selection part = resolve(wanted, object, input.name());
  say_note(input, base(object), console);
  options.write = write.options;
  take_names(names, object, part, options.write);
  if (!attributes.empty()) {
    options.write.attributes = with_members(base(object).attributes(), attributes);
  }
  options.note = notes_to(console);
  const auto written = deliver(object, part, destination, options, console);
  if (written && !console.quiet && !console.json) {
    say(summary_text(destination, object, part, options, *written));
  }
  return kDone;
}

}  // namespace

const Verb kConvertVerb = {
    "convert",
    "IN OUT",
    "from any readable format to any writable one",
    "OUT appears whole or not at all.\n",
    "  dapple convert counts.btable counts.dbdf --tile 1024x1024\n"
    "  dapple convert table.csv table.dbdf --missing nan\n"
    "  dapple convert today.csv all.dbdf --append\n"
    "  dapple convert scan.npy scan.dbdf --attribute run=12 --attribute 'units=\"mm\"'\n"
    "  dapple convert wide.dbdf narrow.npy --column pH --value-type f32 --allow-loss\n"
    "  dapple convert counts.csv.gz small.dbdf\n"
    "  dapple convert people.csv people.dbdf --row-names name\n"
    "  dapple convert counts.mtx counts.dbdf --row-names-file genes.txt\n",
    run_convert};

}  // namespace dapple::cli
