// dapple verify: everything that is wrong with a file, one line each.
#include <fmt/format.h>

#include "dapple/verify.h"
#include "input.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "verbs.h"

namespace dapple::cli {

namespace {

int run_verify(const Arguments& arguments, Console& console) {
  Input input;
  bool payload = false;
  Command command(kVerifyVerb);
  command.operand("FILE", input.file,
                  "the file to check; all that it holds, unless --array names one");
  command.section("how much to check");
  command.flag("--payload", payload, "also read every value and compare every hash");
  add_reading_flags(command, input.options);
  add_shared_flags(command, console, "one JSON object per finding, then one that counts them");
  command.parse(arguments);

  require_named_file(input, "verify");
  require_flags_fit(input, console);
  const Level level = payload ? Level::payload : Level::structure;
  const VerifyReport report = [&] {
    Progress progress(printable(input.file), console.quiet);
    return verify(input.file, level, input.options,
                  [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
  }();
  for (const Error& finding : report.findings) {
    console.out.write((console.json ? error_json(finding) : error_line(finding)) + '\n');
  }
  const std::uint64_t found = report.findings.size();
  if (console.json) {
    console.out.print("{{\"findings\":{},\"blocks\":{},\"level\":\"{}\"}}\n", found, report.blocks,
                      payload ? "payload" : "structure");
  } else if (!console.quiet) {
    console.out.print(
        "{} in {} ({})\n", counted(found, "finding"), counted(report.blocks, "block"),
        payload ? "structure and payload" : "structure only; --payload also reads values");
  }
  return found == 0 ? kDone : kBadData;
}

}  // namespace

const Verb kVerifyVerb = {"verify",
                          "FILE",
                          "check a file and list everything that is wrong",
                          "The exit status is 1 when anything was found.\n",
                          "  dapple verify ratings.dbdf\n"
                          "  dapple verify ratings.dbdf --payload && echo sound\n",
                          run_verify};

}  // namespace dapple::cli
