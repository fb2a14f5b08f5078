// dapple-bench: how fast dapple is, next to what the machine can do and to other ways of storing
// the same cells, all measured in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "harness/machine.h"
#include "harness/session.h"
#include "peers/hdf5_matrix.h"
#include "peers/lmdb_store.h"
#include "peers/python_peers.h"
#include "report/json.h"
#include "report/show.h"
#include "workloads/workloads.h"

namespace dapple::bench {

namespace {

constexpr const char* kHelp =
    R"(dapple-bench measures how fast dapple is, against what the machine can do (the limit) and
against other ways of storing the same cells (the peers), all in one run.)";

constexpr const char* kHelpEnd = R"(
How to read the tables: a figure is the median of several samples, with the least and the most.
'x limit' is a contender's time over the limit's time, the median over the rounds in which both
ran, so 1.00 is as fast as the machine allows. 'n' counts the samples. '(disturbed)' says that other
programs were at work in nearly all of them: believe the ratios rather than the figures then.
A wrong answer ends a workload: everything that is timed is also checked.

The data is made at the first run (31 GiB for all workloads) and used again by later ones; remove
the folder to be rid of it. A full run takes about a quarter of an hour, and needs 16 GiB of memory.
Contenders that are not built in, or whose Python library is missing, are left out:
apps/install_packages.sh bench installs all of them on Debian.

Examples:
  dapple-bench                           everything
  dapple-bench --only W1,W5              two workloads
  dapple-bench --json run.json           also for programs: see apps/bench/publish.py

Exit status: 0 everything was measured, whatever the goals say; 1 a workload failed or an answer
was wrong; 2 wrong usage.)";

struct Flags {
  std::string data = default_data_folder().string();
  std::string json;
  std::vector<std::string> only;
  bool quick = false, list = false;
};

void add_flags(CLI::App& app, Flags& flags) {
  app.add_option("--only", flags.only, "run these workloads only, for example W1,W3")
      ->delimiter(',')
      ->type_name("W,...");
  app.add_option("--data", flags.data, "folder for the data that is measured on")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_option("--json", flags.json, "write everything as JSON; - is standard output")
      ->type_name("FILE");
  app.add_flag("--quick", flags.quick,
               "tiny data, one sample: shows that it runs, measures nothing");
  app.add_flag("--list", flags.list, "list the workloads and the questions that they answer");
  app.footer(kHelpEnd);
}

bool is_wanted(const Flags& flags, std::string_view id) {
  return flags.only.empty() ||
         std::find(flags.only.begin(), flags.only.end(), id) != flags.only.end();
}

/// A name in --only that no workload has; "" when all are known.
std::string find_unknown(const Flags& flags) {
  for (const std::string& id : flags.only) {
    const auto known = workloads();
    if (std::none_of(known.begin(), known.end(), [&](const Workload& w) { return w.id == id; })) {
      return id;
    }
  }
  return {};
}

std::map<std::string, std::string> all_versions(const PythonPeers& python) {
  std::map<std::string, std::string> versions = python.versions();
  versions["dapple"] = DAPPLE_VERSION;
  if constexpr (kHasLmdb) versions["LMDB"] = lmdb_version();
  if constexpr (kHasHdf5) versions["HDF5"] = hdf5_version();
  return versions;
}

WorkloadResult run(const Workload& workload, Session& session, std::FILE* out) {
  fmt::print(out, "{}  {}\n", workload.id, workload.question);
  session.begin(workload.id, workload.question);
  try {
    workload.run(session);
  } catch (const std::exception& error) {
    session.fail(error.what());
  }
  WorkloadResult result = session.end();
  show_end(out, result);
  return result;
}

int run(const Flags& flags) {
  std::FILE* const out = flags.json == "-" ? stderr : stdout;
  const auto machine = describe_machine();
  PythonPeers python;
  const auto versions = all_versions(python);
  for (const auto& [name, value] : machine) fmt::print(out, "{:<14} {}\n", name, value);
  for (const auto& [name, value] : versions) fmt::print(out, "{:<14} {}\n", name, value);
  fmt::print(out, "\n");

  Session session(DataFolder(flags.data), flags.quick, python,
                  [out](const SeriesResult& series) { show_series(out, series); });
  std::vector<WorkloadResult> results;
  for (const Workload& workload : workloads()) {
    if (is_wanted(flags, workload.id)) results.push_back(run(workload, session, out));
  }
  show_summary(out, results);
  if (!flags.json.empty()) write_json(flags.json, machine, versions, results);
  const bool failed = std::any_of(results.begin(), results.end(),
                                  [](const WorkloadResult& r) { return !r.failure.empty(); });
  return failed ? 1 : 0;
}

}  // namespace

}  // namespace dapple::bench

int main(int argc, char** argv) {
  using namespace dapple::bench;
  std::signal(SIGPIPE, SIG_IGN);  // a helper process that died is seen where it is asked
  CLI::App app(kHelp, "dapple-bench");
  Flags flags;
  add_flags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (const std::string unknown = find_unknown(flags); !unknown.empty()) {
    fmt::print(stderr, "dapple-bench: unknown workload '{}'; --list names them\n", unknown);
    return 2;
  }
  if (flags.list) {
    for (const Workload& w : workloads()) fmt::print("{:<4} {}\n", w.id, w.question);
    return 0;
  }
  try {
    return run(flags);
  } catch (const std::exception& error) {
    fmt::print(stderr, "dapple-bench: {}\n", error.what());
    return 1;
  }
}
