// dapple concat: several matrices, or several frames, as one file.
#include "dapple/concat.h"

#include <fmt/format.h>

#include "destination.h"
#include "input.h"
#include "report.h"
#include "selection.h"
#include "text.h"
#include "verbs.h"
#include "write_flags.h"

namespace dapple::cli {

namespace {

constexpr std::pair<std::string_view, Axis> kAxes[] = {{"rows", Axis::rows},
                                                       {"columns", Axis::columns}};

int run_concat(const Arguments& arguments, Console& console) {
  Input input;  // opens each file in turn
  std::vector<std::string> files;
  Destination destination;
  Axis axis = Axis::rows;
  WriteFlags write;
  ConvertOptions options;
  ConcatOptions how;
  Command command(kConcatVerb);
  command.operands("IN", files, "the files to put together, of any formats");
  command.section("what to write");
  command.option(
      "-o", "OUT", [&](const std::string& text) { take_output(text, destination); },
      "the file to write; - is standard output");
  command.option(
      "--by", "AXIS", [&](const std::string& text) { axis = parse_choice("--by", text, kAxes); },
      "rows (each file's rows follow those of the file before) or columns; rows unless given");
  add_absent_flag(command, options.absent);
  command.flag("--allow-loss", how.allow_loss,
               "round integers that are put together with floats and not exact as such");
  add_destination_flags(command, destination);
  add_write_flags(command, write);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  if (destination.path.empty()) throw UsageError("-o OUT is missing");
  require_flags_for(format_to_write(destination), write);
  require_replaceable(destination);
  how.note = options.note = notes_to(console);
  std::vector<std::variant<Matrix, Frame>> parts;
  for (const std::string& file : files) {
    input.file = file;
    parts.push_back(open_input(input, console));
    say_note(input, base(parts.back()), console);
  }
  const std::variant<Matrix, Frame> whole = concat(parts, axis, how);
  options.write = write.options;
  const auto written = deliver(whole, {}, destination, options, console);
  if (written && !console.quiet && !console.json) {
    say(summary_text(destination, whole, {}, options, *written));
  }
  return kDone;
}

}  // namespace

const Verb kConcatVerb = {
    "concat",
    "IN... -o OUT",
    "put several files together as one",
    "Files may be of different formats. Value types are widened to one that holds all cells,\n"
    "and frames that follow each other by rows need the same columns: their words are merged,\n"
    "and times get the finest of their units.\n"
    "OUT appears whole or not at all.\n",
    "  dapple concat january.csv february.csv march.dbdf -o quarter.dbdf\n"
    "  dapple concat left.npy right.mtx --by columns -o wide.dbdf\n",
    run_concat};

}  // namespace dapple::cli
