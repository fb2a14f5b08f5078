#include "harness/disturbance.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "harness/usage.h"

namespace dapple::bench {

namespace {

/// Seconds that all processors together have not been idle, the host's theft included.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_seconds() { return own_cpu_seconds() + children_cpu_seconds(); }

}  // namespace

Watch::Watch() : busy_(busy_seconds()), own_(own_seconds()), read_(bytes_read_from_storage()) {}

bool Watch::undisturbed(double seconds, double cpu_elsewhere, Cache cache) const {
  constexpr double kStep = 0.02;  // what two processors' counters can be off
  const double others = (busy_seconds() - busy_) - (own_seconds() - own_) - cpu_elsewhere;
  if (others > 0.1 * seconds + kStep) return false;
  return cache == Cache::any || bytes_read_from_storage() == read_;
}

}  // namespace dapple::bench
