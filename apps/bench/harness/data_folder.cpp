#include "harness/data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace dapple::bench {

namespace fs = std::filesystem;

namespace {

/// Raised when the content of any file changes, so that files of older versions are not used.
constexpr int kVersion = 2;

void sync_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

DataFolder::DataFolder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }

fs::path DataFolder::file(const std::string& name,
                          const std::function<void(const fs::path&)>& make) const {
  const fs::path path = path_ / fmt::format("v{}-{}", kVersion, name);
  if (fs::exists(path)) return path;
  fmt::print(stderr, "dapple-bench: making {}\n", path.string());
  fs::path unfinished = path_ / ("unfinished-" + name);
  fs::remove_all(unfinished);
  make(unfinished);
  sync_file(unfinished);
  fs::rename(unfinished, path);
  return path;
}

fs::path DataFolder::scratch(const std::string& name) const {
  const fs::path path = path_ / ("scratch-" + name);
  fs::remove_all(path);
  return path;
}

fs::path default_data_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return fs::path(cache) / "dapple-bench";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "." : home) / ".cache" / "dapple-bench";
}

}  // namespace dapple::bench
