// Files that workloads measure on: made once, kept between runs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace dapple::bench {

class DataFolder {
 public:
  /// Creates the folder.
  explicit DataFolder(std::filesystem::path path);

  /// The file `name`, made by `make` unless an earlier run did. It is on storage when this returns,
  /// and under its name only when it is whole.
  std::filesystem::path file(const std::string& name,
                             const std::function<void(const std::filesystem::path&)>& make) const;

  /// Where a workload may write `name`; an older one is gone.
  std::filesystem::path scratch(const std::string& name) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// $XDG_CACHE_HOME/dapple-bench, or ~/.cache/dapple-bench.
std::filesystem::path default_data_folder();

}  // namespace dapple::bench
