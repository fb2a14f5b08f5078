// dapple-bench: how long dapple takes for what users do, beside what the machine can do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "bench.h"
#include "dapple/version.h"

namespace dapple::bench {

namespace {

constexpr const char* kHelp =
    "dapple-bench measures what users do with dapple, beside what the machine can do (the limit:\n"
    "an address, memcpy or pread). Every answer is checked.";

constexpr const char* kHelpEnd = R"(
A figure is the median of several samples, in which dapple and the limit take turns. 'processor' is
what the processor worked for it, which other programs on the machine disturb less than the time on
the clock. The data, 1.5 GB for all workloads, is made at the first run and used again by later ones.

Examples:
  dapple-bench                           everything
  dapple-bench --only "whole to CSR"     one workload
  apps/bench/compare.py OLD NEW          two builds, see apps/bench/RESULTS.md

Exit status: 0 everything was measured; 1 an answer was wrong; 2 wrong usage.)";

struct Flags {
  std::string data;
  std::vector<std::string> only;
  unsigned samples = 7;
  bool json = false, quick = false, list = false;
};

std::string default_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/dapple-bench";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "." : home) + "/.cache/dapple-bench";
}

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  for (const auto some : {tile_workloads(), opening_workloads(), sparse_workloads(),
                          search_workloads(), transfer_workloads()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

double processor_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Times {
  std::vector<double> wall, processor;  // seconds a run
};

void take(const Ready& ready, const std::function<double()>& run, Times& times) {
  using Clock = std::chrono::steady_clock;
  if (ready.before) ready.before();
  const double worked = processor_seconds();
  const auto start = Clock::now();
  const double answer = run();
  times.wall.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  times.processor.push_back(processor_seconds() - worked);
  if (answer != ready.expected) {
    throw std::runtime_error(fmt::format("expected {}, got {}", ready.expected, answer));
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

nlohmann::ordered_json figures(const Workload& workload, const Ready& ready, const Times& times) {
  return {{"wall", workload.unit.figure(median(times.wall), ready.work)},
          {"processor", workload.unit.figure(median(times.processor), ready.work)}};
}

nlohmann::ordered_json measure(const Workload& workload, const Data& data, unsigned samples) {
  const Ready ready = workload.prepare(data);
  Times dapple, limit, warm;
  take(ready, ready.run, warm);
  if (ready.limit) take(ready, ready.limit, warm);
  for (unsigned k = 0; k < samples; ++k) {
    take(ready, ready.run, dapple);
    if (ready.limit) take(ready, ready.limit, limit);
  }
  nlohmann::ordered_json result = {{"name", workload.name},
                                   {"unit", workload.unit.name},
                                   {"rate", workload.unit.rate},
                                   {"waits", workload.waits},
                                   {"dapple", figures(workload, ready, dapple)}};
  if (ready.limit) result["limit"] = figures(workload, ready, limit);
  return result;
}

std::string digits(double value) {
  return fmt::format("{:.{}f}", value, value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0);
}

void show(const nlohmann::ordered_json& result) {
  const auto figure = [&](const char* who, const char* what) {
    return result.contains(who) ? digits(result[who][what].get<double>()) : "";
  };
  fmt::print("{:<30} {:>10} {:>10} {:>10}  {}\n", result["name"].get<std::string>(),
             figure("dapple", "wall"), figure("dapple", "processor"), figure("limit", "wall"),
             result["unit"].get<std::string>());
  std::fflush(stdout);
}

int run(const Flags& flags) {
  const Data data(flags.data, flags.quick);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  bool wrong = false;
  if (!flags.json) {
    fmt::print("{:<30} {:>10} {:>10} {:>10}\n", "", "dapple", "processor", "limit");
  }
  for (const Workload& workload : all_workloads()) {
    if (!flags.only.empty() &&
        std::count(flags.only.begin(), flags.only.end(), std::string(workload.name)) == 0) {
      continue;
    }
    try {
      results.push_back(measure(workload, data, flags.quick ? 1 : flags.samples));
      if (!flags.json) show(results.back());
    } catch (const std::exception& error) {
      fmt::print(stderr, "dapple-bench: {}: {}\n", workload.name, error.what());
      wrong = true;
    }
  }
  if (flags.json) fmt::print("{}\n", results.dump(2));
  return wrong ? 1 : 0;
}

}  // namespace

}  // namespace dapple::bench

int main(int argc, char** argv) {
  using namespace dapple::bench;
  CLI::App app(kHelp, "dapple-bench");
  Flags flags;
  flags.data = default_folder();
  app.add_option("--only", flags.only, "run this workload only; repeatable")->type_name("NAME");
  app.add_option("--data", flags.data, "folder for the data that is measured on")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_option("--samples", flags.samples, "samples of each workload")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--json", flags.json, "print the figures as JSON");
  app.add_flag("--quick", flags.quick, "tiny data, one sample: shows that it runs");
  app.add_flag("--list", flags.list, "list the workloads and the questions that they answer");
  app.footer(kHelpEnd);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto workloads = all_workloads();
  if (flags.list) {
    for (const Workload& w : workloads) fmt::print("{:<30} {}\n", w.name, w.question);
    return 0;
  }
  for (const std::string& name : flags.only) {
    const auto named = [&](const Workload& w) { return w.name == name; };
    if (std::none_of(workloads.begin(), workloads.end(), named)) {
      fmt::print(stderr, "dapple-bench: no workload '{}'; --list names them\n", name);
      return 2;
    }
  }
  try {
    return run(flags);
  } catch (const std::exception& error) {
    fmt::print(stderr, "dapple-bench: {}\n", error.what());
    return 1;
  }
}
