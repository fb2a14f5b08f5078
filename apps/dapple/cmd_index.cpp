// dapple index: the index of a file, or a copy by column, saved beside it.
#include <fmt/format.h>

#include "dapple/sidecar.h"
#include "input.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

/// FILE.dpc, beside `file`, instead of FILE.dpx.
int copy_columns(const Input& input, const std::string& file, bool sync, Console& console) {
  WriteSummary summary;
  {
    Progress progress(printable(input.file), console.quiet);
    progress.may_leave(file);
    ColumnCopyOptions options;
    options.sync = sync;
    options.threads = console.threads;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    summary = write_column_copy(input.file, input.options, options);
  }
  if (!console.quiet && !console.json) {
    say(fmt::format("{}: {}, {}", printable(column_copy_path(file).string()),
                    counted(summary.counts.total, "block"), human_size(summary.bytes)));
  }
  return kDone;
}

int run_index(const Arguments& arguments, Console& console) {
  Input input;
  SidecarOptions options;
  bool written = false, columns = false, sync = true;
  Command command(kIndexVerb);
  command.operand("FILE", input.file, "the file to index");
  command.flag("--force", options.even_if_indexed,
               "write FILE.dpx even when FILE has an index of its own");
  command.flag("--stats", options.statistics, "also statistics of the values of each block");
  command.flag("--columns", columns, "write a copy by column, FILE.dpc, and nothing else");
  command.flag(
      "--no-sync", [&sync] { sync = false; },
      "with --columns: do not wait until the copy is on disk");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  require_named_file(input, "index");
  require_flags_fit(input, console);
  if (columns && (options.even_if_indexed || options.statistics)) {
    throw UsageError("--columns writes a copy by column, --force and --stats are about the index");
  }
  if (!columns && !sync) throw UsageError("--no-sync is for --columns");
  input.options.threads = console.threads;
  const std::string file = file_to_index(input.file, input.options).string();
  if (columns) return copy_columns(input, file, sync, console);
  {
    Progress progress(printable(input.file), console.quiet);
    progress.may_leave(file);
    options.threads = console.threads;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    written = write_sidecar(input.file, input.options, options);
  }
  if (!written) {
    if (!console.quiet && !console.json) {
      say(fmt::format("{} has an index of its own; nothing was written (--force writes one)",
                      printable(input.file)));
    }
  } else if (!console.quiet && !console.json) {
    const auto object = open_input(input, console);
    say(fmt::format("{}: {}", printable(sidecar_path(file).string()),
                    counted(base(object).counts().total, "block")));
  }
  return kDone;
}

}  // namespace

const Verb kIndexVerb = {
    "index",
    "FILE",
    "save the index of a file beside it",
    "Writes FILE.dpx, so that opening FILE needs no walk through its blocks. Of text (CSV, Matrix\n"
    "Market, BTable) it holds all cells, so that the text is not parsed again; it is used when "
    "FILE\n"
    "is read with the same flags. FILE is not touched; an index of an older state of it is\n"
    "replaced, and stays if FILE cannot be indexed. A file that dapple wrote has an index\n"
    "already, and needs none beside it. With --stats, every block is read, and 'dapple where'\n"
    "and 'dapple stats' can do without most of them from then on.\n"
    "With --columns, the copy FILE.dpc of a matrix is written, in which a column is as fast to\n"
    "read as a row; it is used as long as FILE stays as it is, and costs about its size.\n",
    "  dapple index from-elsewhere.dbdf\n"
    "  dapple index large.csv --missing nan\n"
    "  dapple index from-elsewhere.dbdf --stats\n"
    "  dapple index counts.h5ad --columns\n",
    run_index};

}  // namespace dapple::cli
