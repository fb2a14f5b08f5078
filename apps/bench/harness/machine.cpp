#include "harness/machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

namespace dapple::bench {

namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;  // begins with the name
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

/// What stands behind "KEY : " in /proc/cpuinfo.
std::string find_cpu_field(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string processor() {
  return fmt::format("{} (family {}, model {}), {} processors", find_cpu_field("model name"),
                     find_cpu_field("cpu family"), find_cpu_field("model\t"),
                     sysconf(_SC_NPROCESSORS_ONLN));
}

std::string memory() {
  const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return fmt::format("{:.1f} GiB", bytes / (1 << 30));
}

std::string load() {
  double averages[3] = {};
  if (getloadavg(averages, 3) != 3) return "unknown";
  return fmt::format("{:.2f} {:.2f} {:.2f}", averages[0], averages[1], averages[2]);
}

}  // namespace

std::map<std::string, std::string> describe_machine() {
  utsname system{};
  uname(&system);
  return {{"processor", processor()},
          {"memory", memory()},
          {"system", fmt::format("{} {}", system.sysname, system.release)},
          {"compiler", kCompiler},
          {"load at start", load()},
          {"date", fmt::format("{:%Y-%m-%d}", std::chrono::system_clock::now())}};
}

}  // namespace dapple::bench
