// dapple pack: what packing would save, before anything is written.
#include <fmt/format.h>

#include "dapple/packing.h"
#include "input.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

int run_pack(const Arguments& arguments, Console& console) {
  Input input;
  ConvertOptions options;
  Command command(kPackVerb);
  add_input(command, input);
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "one object");
  command.parse(arguments);

  const auto object = open_input(input, console);
  options.threads = console.threads;
  const PackingEstimate found = estimate_packing(object, options);
  if (console.json) {
    console.out.print(R"({{"plain":{},"fast":{},"small":{},"sampled":{}}})"
                      "\n",
                      found.plain, found.fast, found.small, found.sampled);
    return kDone;
  }
  std::string reading;  // as it was asked for, for a shell
  for (const std::string& argument : arguments) reading += shell_word(argument) + ' ';
  const std::string_view about = found.sampled ? "about " : "";
  const auto line = [&](std::string_view name, std::uint64_t bytes, std::string_view flag) {
    const double share = found.plain == 0
                             ? 100
                             : 100 * static_cast<double>(bytes) / static_cast<double>(found.plain);
    console.out.print("{:<7}{}{} ({:.0f} %): dapple convert {}{}OUT.dbdf\n", name, about,
                      human_size(bytes), share, flag, reading);
  };
  line("plain", found.plain, "");
  line("fast", found.fast, "--pack ");
  line("small", found.small, "--pack=small ");
  return kDone;
}

}  // namespace

const Verb kPackVerb = {
    "pack",
    "FILE",
    "estimate what packing would save, and say how",
    "Of a large file, runs of rows from all over it are written to temporary files and\n"
    "measured. FILE may be of any format; it is not touched.\n",
    "  dapple pack counts.h5ad\n"
    "  dapple convert counts.h5ad counts.dbdf --pack\n",
    run_pack};

}  // namespace dapple::cli
