#include "lib/io/local/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace dapple::detail {

namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

/// The number in a file; none where it says "max", or is not there.
std::uint64_t number_in(const std::string& path) {
  std::uint64_t number = kNone;
  std::ifstream file(path);
  return file >> number ? number : kNone;
}

/// Limits hold for groups inside, too. In a container, its own group may be at the root.
std::uint64_t least_upwards(const std::string& root, std::string group, const std::string& name) {
  std::uint64_t least = number_in(root + name);
  while (group.size() > 1) {
    least = std::min(least, number_in(root + group + name));
    group.resize(group.rfind('/'));
  }
  return least;
}

/// As cgroups(7) tells: lines of NUMBER:CONTROLLERS:GROUP, where version 2 names no controllers.
std::uint64_t limit_of_groups() {
  std::uint64_t least = kNone;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (!group.starts_with('/')) continue;
    if (controllers.empty()) {
      least = std::min(least, least_upwards("/sys/fs/cgroup", group, "/memory.max"));
    } else if (controllers == "memory") {
      least =
          std::min(least, least_upwards("/sys/fs/cgroup/memory", group, "/memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t look_up() noexcept {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  const std::uint64_t machine = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  try {
    return std::min(machine, limit_of_groups());
  } catch (...) {  // no memory
    return machine;
  }
}

}  // namespace

std::uint64_t memory_limit() noexcept {
  static const std::uint64_t limit = look_up();
  return limit;
}

std::uint64_t memory_allowed() noexcept {
  std::uint64_t least = memory_limit();
  for (const auto what : {RLIMIT_DATA, RLIMIT_AS}) {
    rlimit limit{};  // none is the largest number
    if (::getrlimit(what, &limit) == 0) least = std::min<std::uint64_t>(least, limit.rlim_cur);
  }
  return least;
}

}  // namespace dapple::detail
