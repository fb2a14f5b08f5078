// dapple collection: several objects under one name, as a folder or as one file.
#include "dapple/collection.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "progress.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

int run_collection(const Arguments& arguments, Console& console) {
  std::string action, from, to;
  bool force = false;
  Command command(kCollectionVerb);
  command.operand("ACTION", action, "pack or unpack");
  command.operand("FROM", from, "the collection: pack reads a folder, unpack a file");
  command.operand("TO", to, "the file that pack makes; the folder that unpack makes, TO.dds");
  command.section("writing");
  command.flag("--force", force, "replace TO if it exists; of folders, only a collection");
  add_shared_flags(command, console, "errors as JSON");
  command.parse(arguments);

  if (action == "pack" && to == "-") {
    throw UsageError("cannot pack to standard output; TO must name a file");
  }
  if (action != "pack" && action != "unpack") {
    throw UsageError(fmt::format("ACTION must be pack or unpack, not '{}'", printable(action)));
  }
  std::vector<std::string> left_out;
  {
    Progress progress(printable(from), console.quiet);
    const auto show = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    if (action == "pack") {
      progress.may_leave(to);
      left_out = pack_collection(from, to, force, show);
    } else {
      progress.may_leave_folder();
      unpack_collection(from, to, force, show);
    }
  }
  const TakeNote note = notes_to(console);
  for (const std::string& name : left_out) {
    note(fmt::format("{} is no member, and not in {}", printable(name), printable(to)));
  }
  if (!console.quiet && !console.json) {
    say(fmt::format("{}: {}", printable(to),
                    counted(Collection::find(to)->members().size(), "member")));
  }
  return kDone;
}

}  // namespace

const Verb kCollectionVerb = {
    "collection",
    "ACTION A B",
    "several objects under one name, as a folder or as one file",
    "A collection is a folder whose name ends in .dds, with a file NAME.dbdf for each member,\n"
    "such as X, obs and layers/counts. Packed, it is one ZIP file without compression, for\n"
    "sending, which every verb reads where it is. 'dapple info' lists the members of either;\n"
    "every verb opens one by its path, PATH/NAME. Both appear when they are whole; members\n"
    "that do not have the rows or columns which they share are refused.\n"
    "\n",
    "  dapple info pbmc.dds\n"
    "  dapple collection pack pbmc.dds pbmc.zip\n"
    "  dapple info pbmc.zip/layers/counts\n"
    "  dapple collection unpack pbmc.zip copy.dds\n",
    run_collection};

}  // namespace dapple::cli
