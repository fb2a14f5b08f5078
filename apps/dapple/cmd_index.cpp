// dapple index: the index of a file, saved beside it.
#include <fmt/format.h>

#include "dapple/sidecar.h"
#include "input.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

int run_index(const Arguments& arguments, Console& console) {
  Input input;
  SidecarOptions options;
  bool written = false;
  Command command(kIndexVerb);
  command.operand("FILE", input.file, "the file to index");
  command.flag("--force", options.even_if_indexed,
               "write FILE.dpx even when FILE has an index of its own");
  command.flag("--stats", options.statistics, "also statistics of the values of each block");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  require_named_file(input, "index");
  {
    Progress progress(printable(input.file), console.quiet);
    options.threads = console.threads;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    input.options.threads = console.threads;
    written = write_sidecar(input.file, input.options, options);
  }
  if (!written) {
    if (!console.quiet && !console.json) {
      say(fmt::format("{} has an index of its own; nothing was written (--force writes one)",
                      printable(input.file)));
    }
  } else if (!console.quiet && !console.json) {
    const auto object = open_input(input, console);
    say(fmt::format("{}: {}", printable(sidecar_path(input.file).string()),
                    counted(base(object).counts().total, "block")));
  }
  return kDone;
}

}  // namespace

const Verb kIndexVerb = {
    "index",
    "FILE",
    "save the index of a file beside it",
    "Writes FILE.dpx, so that opening FILE needs no walk through its blocks, and no pass over\n"
    "its text if it is CSV. FILE is not touched; an index of an older state of it is\n"
    "replaced. A file that dapple wrote has an index already, and needs none beside it. The\n"
    "index of a CSV file is used when FILE is read with the same flags. With --stats, every block\n"
    "is read, and 'dapple where' and 'dapple stats' can do without most of them from then on.\n",
    "  dapple index from-elsewhere.dbdf\n"
    "  dapple index large.csv --missing nan\n"
    "  dapple index from-elsewhere.dbdf --stats\n",
    run_index};

}  // namespace dapple::cli
