#include "harness/short_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <system_error>

namespace dapple::bench {

namespace {

using Path = std::filesystem::path;

bool write_number(const Path& path, std::uint64_t number) {
  std::ofstream file(path);
  return static_cast<bool>(file << number << std::flush);
}

}  // namespace

ShortMemory::ShortMemory(std::uint64_t bytes) {
  const struct {
    const char *root, *limit;
  } versions[] = {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                  {"/sys/fs/cgroup", "memory.max"}};
  for (const auto& version : versions) {
    const Path folder = Path(version.root) / fmt::format("dapple-bench-{}", ::getpid());
    std::error_code error;
    if (!std::filesystem::create_directory(folder, error)) continue;
    if (std::filesystem::exists(folder / version.limit, error) &&
        write_number(folder / version.limit, bytes)) {
      folder_ = folder;
      return;
    }
    std::filesystem::remove(folder, error);
  }
}

ShortMemory::~ShortMemory() {
  std::error_code ignored;
  if (works()) std::filesystem::remove(folder_, ignored);
}

void ShortMemory::enter() const {
  if (!write_number(folder_ / "cgroup.procs", static_cast<std::uint64_t>(::getpid()))) {
    throw std::runtime_error("a process cannot be moved to " + folder_.string());
  }
}

}  // namespace dapple::bench
