#include "harness/usage.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace dapple::bench {

namespace {

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

double own_cpu_seconds() { return cpu_seconds(RUSAGE_SELF); }
double children_cpu_seconds() { return cpu_seconds(RUSAGE_CHILDREN); }

std::uint64_t bytes_read_from_storage() {
  std::ifstream file("/proc/self/io");
  std::string key;
  std::uint64_t value = 0;
  while (file >> key >> value) {
    if (key == "read_bytes:") return value;
  }
  return 0;
}

std::uint64_t memory_bytes(std::string_view field) {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field) && line[field.size()] == ':') {
      return 1024 * std::stoull(line.substr(field.size() + 1));
    }
  }
  return 0;
}

}  // namespace dapple::bench
