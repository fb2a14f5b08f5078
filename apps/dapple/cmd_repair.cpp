// dapple repair: what can still be read, in a sound file.
#include <fmt/format.h>

#include "dapple/convert.h"
#include "dapple/verify.h"
#include "destination.h"
#include "input.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "verbs.h"
#include "write_flags.h"

namespace dapple::cli {

namespace {

/// "; 5 of 20 cells are absent", or nothing if blocks cover every cell.
std::string absent_text(const BlockedObject& object) {
  std::uint64_t absent = 0;
  if (__builtin_mul_overflow(object.rows(), object.cols(), &absent)) return "";
  const std::uint64_t cells = absent;
  for (const BlockInfo& block : object.blocks()) absent -= std::uint64_t{block.rows} * block.cols;
  return absent == 0 ? "" : fmt::format("; {} of {} cells are absent", absent, cells);
}

/// Other programs would take the file for what its name says.
void require_own_ending(const std::string& path) {
  std::string_view named = "dbdf";
  try {
    named = dapple::format_to_write("", path).name;
  } catch (const Error&) {  // the name says nothing
  }
  if (named == "dbdf") return;
  throw UsageError(
      fmt::format("repair writes dbdf, and '{}' is a name for {}; 'dapple convert' "
                  "makes that of what was repaired",
                  printable(path), named));
}

int run_repair(const Arguments& arguments, Console& console) {
  Input input;
  Destination destination;
  WriteFlags write;
  Command command(kRepairVerb);
  command.operand("FILE", input.file, "the file to repair; it is not touched");
  command.section("writing");
  command.option(
      "-o,--output", "OUT", [&](const std::string& text) { take_output(text, destination); },
      "the file to write");
  command.flag("--force", destination.force, "replace OUT if it exists");
  add_pack_flag(command, write);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "one JSON object per loss, then one that counts them");
  command.parse(arguments);

  require_named_file(input, "repair");
  require_flags_fit(input, console);
  if (destination.path.empty()) throw UsageError("-o OUT is missing");
  if (destination.is_stdout())
    throw UsageError("cannot repair to standard output; -o OUT must name a file");
  require_own_ending(destination.path);
  require_replaceable(destination);
  WriteOptions& options = write.options;
  options.overwrite = destination.force;
  const RepairReport report = [&] {
    Progress progress(printable(input.file), console.quiet);
    progress.may_leave(destination.path);
    return repair(input.file, destination.path, options, input.options,
                  [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
  }();
  for (const Error& loss : report.lost) {
    console.out.write((console.json ? error_json(loss) : error_line(loss)) + '\n');
  }
  if (console.json) {
    console.out.print("{{\"lost\":{},\"kept\":{},\"meanings_lost\":{},\"bytes\":{}}}\n",
                      report.blocks_lost, report.blocks_kept, report.meanings_lost,
                      report.written.bytes);
  } else if (!console.quiet) {
    const auto saved = open(destination.path);
    console.out.print("{}: kept {}, lost {}{}{}\n", printable(destination.path),
                      counted(report.blocks_kept, "block"), report.blocks_lost,
                      report.meanings_lost == 0 ? "" : "; meanings of columns are lost, too",
                      absent_text(base(saved)));
  }
  return report.lost.empty() ? kDone : kBadData;
}

}  // namespace

const Verb kRepairVerb = {
    "repair",
    "FILE -o OUT",
    "write what can still be read into a sound file",
    "Keeps every block of a dbdf file whose bytes are undamaged, and lists what was\n"
    "lost. Cells of lost blocks are absent, never invented. A column whose words are\n"
    "lost keeps their codes. The exit status is 1 when anything was lost.\n",
    "  dapple repair cut.dbdf -o saved.dbdf\n"
    "  dapple get saved.dbdf --absent zero\n",
    run_repair};

}  // namespace dapple::cli
