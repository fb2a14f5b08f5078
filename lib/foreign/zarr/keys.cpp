#include "lib/foreign/zarr/keys.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "lib/io/local/local_file.h"

namespace dapple::detail::zarr {

namespace {

namespace fs = std::filesystem;

class FolderKeys final : public Keys {
 public:
  using Keys::Keys;

  std::shared_ptr<ByteSource> open(const std::string& key) const override {
    std::string name = shown(key);
    if (auto file = LocalFile::open_if_there(name)) return file;
    std::error_code none;
    if (fs::status(name, none).type() == fs::file_type::not_found) return nullptr;
    return LocalFile::open(std::move(name));  // throws why it cannot be
  }
  std::vector<std::string> children(const std::string& path) const override {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(shown(path), error), end; !error && it != end;
         it.increment(error)) {
      std::error_code none;
      if (it->is_directory(none)) names.push_back(it->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace

std::shared_ptr<const Keys> folder_keys(const ByteSource& metadata) {
  if (!metadata.has_path()) {
    throw Error(
        Errc::unsupported, metadata.name(), std::nullopt,
        "this is the metadata of a Zarr hierarchy, whose chunks are read only from a folder "
        "of this machine");
  }
  const fs::path folder = fs::path(metadata.name()).parent_path();
  return std::make_shared<const FolderKeys>(folder.empty() ? "." : folder.string());
}

std::string checked_path(std::string_view path) {
  const std::string_view given = path;
  while (path.ends_with('/')) path.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.find_first_not_of('.') == part.npos || part.find('\0') != part.npos) {
      throw Error(Errc::invalid_argument,
                  "'" + std::string(given) + "' is no path in a Zarr hierarchy");
    }
    at = end + 1;
  }
  return std::string(path);
}

std::string below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : (path + "/").append(name);
}

}  // namespace dapple::detail::zarr
