#include "harness/disturbance.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace dapple::bench {

namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

/// Processor seconds of this process and of its children that have ended.
double own_seconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return total;
}

/// Seconds that all processors together have not been idle, the host's theft included.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::uint64_t bytes_read_from_storage() {
  std::ifstream file("/proc/self/io");
  std::string key;
  std::uint64_t value = 0;
  while (file >> key >> value) {
    if (key == "read_bytes:") return value;
  }
  return 0;
}

Watch::Watch() : busy_(busy_seconds()), own_(own_seconds()), read_(bytes_read_from_storage()) {}

bool Watch::undisturbed(double seconds, double cpu_elsewhere, Cache cache) const {
  constexpr double kStep = 0.02;  // what two processors' counters can be off
  const double others = (busy_seconds() - busy_) - (own_seconds() - own_) - cpu_elsewhere;
  if (others > 0.1 * seconds + kStep) return false;
  return cache == Cache::any || bytes_read_from_storage() == read_;
}

}  // namespace dapple::bench
