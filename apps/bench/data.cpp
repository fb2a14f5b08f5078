#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "bench.h"
#include "dapple/writer.h"

namespace dapple::bench {

namespace fs = std::filesystem;

namespace {

/// Raised when the content of a file changes, so that older ones are not used.
constexpr int kVersion = 1;

/// The file that dapple's code is in.
fs::path library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&default_tile), &info) == 0) return "/proc/self/exe";
  return info.dli_fname;
}

}  // namespace

Data::Data(fs::path folder, bool quick) : folder_(std::move(folder)), quick_(quick) {
  fs::create_directories(folder_);
}

fs::path Data::file(const std::string& name, const Make& make) const {
  const fs::path path = folder_ / fmt::format("v{}-{}{}", kVersion, quick_ ? "quick-" : "", name);
  if (fs::exists(path)) return path;
  fmt::print(stderr, "dapple-bench: making {}\n", path.string());
  const fs::path unfinished = folder_ / ("unfinished-" + name);
  fs::remove_all(unfinished);
  make(unfinished);
  fs::rename(unfinished, path);
  return path;
}

fs::path Data::chosen_file(const std::string& name, const Make& make) const {
  const fs::path path = file(name, make);
  if (fs::last_write_time(path) >= fs::last_write_time(library())) return path;
  fs::remove(path);
  return file(name, make);
}

fs::path Data::scratch(const std::string& name) const {
  const fs::path path = folder_ / ("scratch-" + name);
  fs::remove_all(path);
  return path;
}

}  // namespace dapple::bench
