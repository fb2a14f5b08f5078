#include "lib/foreign/zarr/keys.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "dapple/error.h"
#include "lib/foreign/zarr/zarr.h"
#include "lib/foreign/zip/zip.h"
#include "lib/io/window_source.h"

namespace dapple::detail::zarr {

namespace {

class FolderKeys final : public Keys {
 public:
  FolderKeys(std::string root, std::shared_ptr<const ByteSource> metadata)
      : Keys(std::move(root)), metadata_(std::move(metadata)) {}

  std::shared_ptr<ByteSource> open(const std::string& key, std::uint64_t whole) const override {
    return metadata_->beside(key, whole);
  }
  bool fetches() const noexcept override { return metadata_->fetches(); }
  std::vector<std::string> children(const std::string& path) const override {
    return metadata_->folders_beside(path);
  }

 private:
  std::shared_ptr<const ByteSource> metadata_;
};

bool is_archive(const ByteSource& file) {
  constexpr char kStart[] = "PK\x03\x04";
  return file.size() > 4 && std::memcmp(file.at(0, 4), kStart, 4) == 0;
}

std::optional<std::string> root_among(const std::vector<zip::Member>& members) {
  for (const zip::Member& member : members) {
    const std::string folder = folder_prefix(member.name);
    const std::string_view name = std::string_view(member.name).substr(folder.size());
    if (std::find(kMetadata.begin(), kMetadata.end(), name) == kMetadata.end()) continue;
    const bool holds_all = std::all_of(members.begin(), members.end(), [&](const auto& other) {
      return other.name.starts_with(folder);
    });
    if (holds_all) return folder;
  }
  return std::nullopt;
}

class ArchiveKeys final : public Keys {
 public:
  ArchiveKeys(std::shared_ptr<ByteSource> file, std::vector<zip::Member> members)
      : Keys(file->name()), file_(std::move(file)) {
    const std::string root = root_among(members).value_or("");
    for (zip::Member& member : members) {
      std::string key = member.name.substr(std::min(root.size(), member.name.size()));
      if (!key.ends_with('/')) members_.emplace(std::move(key), std::move(member));
    }
  }

  std::shared_ptr<ByteSource> open(const std::string& key, std::uint64_t) const override {
    const auto found = members_.find(key);
    if (found == members_.end()) return nullptr;
    const zip::Contents contents = zip::contents_of(file_, std::array{&found->second});
    return window_source(contents.file, contents.members[0], shown(key));
  }
  bool fetches() const noexcept override { return file_->fetches(); }
  std::vector<std::string> children(const std::string& path) const override {
    const std::string prefix = path.empty() ? "" : path + '/';
    std::vector<std::string> names;
    for (auto at = members_.lower_bound(prefix);
         at != members_.end() && at->first.starts_with(prefix); ++at) {
      const std::size_t end = at->first.find('/', prefix.size());
      if (end == std::string::npos) continue;
      std::string name = at->first.substr(prefix.size(), end - prefix.size());
      if (names.empty() || names.back() != name) names.push_back(std::move(name));
    }
    return names;
  }

 private:
  std::shared_ptr<ByteSource> file_;
  std::map<std::string, zip::Member> members_;  // by key
};

}  // namespace

std::optional<std::string> archive_root(const ByteSource& file) {
  try {
    if (is_archive(file)) return root_among(zip::read_directory(file));
  } catch (const Error& e) {  // it only starts like an archive
    if (e.code() == Errc::io) throw;
  }
  return std::nullopt;
}

std::shared_ptr<const Keys> keys_of(const std::shared_ptr<ByteSource>& file) {
  if (is_archive(*file)) {
    return std::make_shared<const ArchiveKeys>(file, zip::read_directory(*file));
  }
  if (!file->has_folder()) {
    throw Error(
        Errc::unsupported, file->name(), std::nullopt,
        "this is the metadata of a Zarr hierarchy, and not in a folder that has its chunks");
  }
  const std::string folder = folder_prefix(file->name());
  return std::make_shared<const FolderKeys>(
      folder.empty() ? "." : folder.substr(0, folder.size() - 1), file);
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
