#include "lib/catalog/collection.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "dapple/frame.h"
#include "dapple/matrix.h"
#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/catalog/sources.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/io/http/http.h"
#include "lib/io/local/local_file.h"
#include "lib/io/reader/reader_source.h"
#include "lib/io/window_source.h"
#include "lib/object/make_object.h"

namespace dapple {

namespace detail {

namespace {

constexpr std::size_t kMostMembers = 100'000;
constexpr std::size_t kLongestName = 4096;  // of a member in a store, whose folders may be endless

bool is_file_of_collection(std::string_view name) {
  return name.ends_with(kMemberEnding) || name.ends_with(kJsonEnding);
}

bool is_beside_member(std::string_view name) {
  return name.ends_with(kSidecarEnding) || name.ends_with(kCopyEnding);
}

bool may_be_archive(std::string_view name) {
  return name.ends_with(kCollectionEnding) || name.ends_with(".zip");
}

/// Throws unsupported for a folder of more files than anybody reads.
void require_few(std::size_t members, const std::string& path) {
  if (members < kMostMembers) return;
  throw Error(Errc::unsupported, path, std::nullopt,
              "a collection has fewer than " + std::to_string(kMostMembers) + " files");
}

/// The archive that a file is, if it is a collection.
std::shared_ptr<ByteSource> archive_at(const std::string& path, const OpenOptions& options) {
  std::shared_ptr<ByteSource> file;
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none)) file = LocalFile::open(path, options.guard);
  if (http::is_address(path) && may_be_archive(http::shown(path))) {
    file = http::find_address(path, cache_of(options));
  }
  if (file == nullptr || !is_packed_collection(*file)) return nullptr;
  if (!options.read_ahead) file->read_nothing_ahead();
  return file;
}

/// The collection above PATH/NAME, and NAME.
std::optional<std::pair<std::string, std::string>> split_member(const std::string& path) {
  std::error_code none;
  if (http::is_address(path) || std::filesystem::exists(path, none)) return std::nullopt;
  for (std::size_t at = path.rfind('/'); at != path.npos && at > 0; at = path.rfind('/', at - 1)) {
    std::string above = path.substr(0, at), name = path.substr(at + 1);
    if (is_collection_folder(above) || archive_at(above, {}) != nullptr) {
      return std::pair(std::move(above), std::move(name));
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_packed_collection(const ByteSource& file) {
  const auto head = file.bytes(0, std::min<std::uint64_t>(file.size(), 64));
  return recognise_collection({file, head, {}}) != Match::no;
}

bool is_member_name(std::string_view name) {
  if (name.find_first_of(std::string_view("\\:\0", 3)) != name.npos) return false;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (end == at || name[at] == '.') return false;
    at = end + 1;
  }
  return true;
}

CollectionFiles::CollectionFiles(std::string folder, OpenOptions options)
    : path_(std::move(folder)), options_(std::move(options)) {
  namespace fs = std::filesystem;
  std::error_code error, none;
  fs::recursive_directory_iterator at(path_, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::string name = at->path().lexically_relative(path_).generic_string();
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
    } else if (is_file_of_collection(name)) {
      at.disable_recursion_pending();  // it may be the folder of a data set
      add(std::move(name));
    } else if (!at->is_directory(none) && !is_beside_member(name)) {
      others_.push_back(std::move(name));
    }
  }
  if (error) throw_io(path_, "list", error.value());
  std::sort(names_.begin(), names_.end());
  std::sort(others_.begin(), others_.end());
}

CollectionFiles::CollectionFiles(std::shared_ptr<const ObjectStore> store, std::string folder,
                                 OpenOptions options)
    : path_(std::move(folder)), options_(std::move(options)), store_(std::move(store)) {
  std::vector<std::string> folders = {""};
  std::set<std::string> seen;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    for (std::string name : store_->list(path_ + '/' + folders[i])) {
      const bool is_folder = name.ends_with('/');
      if (is_folder) name.pop_back();
      name.insert(0, folders[i]);
      if (!is_member_name(name) || name.size() > kLongestName) continue;
      if (!seen.insert(name).second) continue;
      require_few(seen.size(), path_);
      if (is_file_of_collection(name)) {
        names_.push_back(std::move(name));
      } else if (is_folder) {
        folders.push_back(name + '/');
      }
    }
  }
  std::sort(names_.begin(), names_.end());
}

CollectionFiles::CollectionFiles(std::shared_ptr<ByteSource> archive, OpenOptions options)
    : path_(archive->name()),
      options_(std::move(options)),
      archive_(std::move(archive)),
      listed_(zip::read_directory(*archive_)) {
  std::sort(listed_.begin(), listed_.end(),
            [](const zip::Member& a, const zip::Member& b) { return a.name < b.name; });
  for (const zip::Member& member : listed_) {
    if (is_file_of_collection(member.name)) add(member.name);
  }
}

void CollectionFiles::add(std::string name) {
  require_few(names_.size(), path_);
  if (is_member_name(std::string_view(name).substr(0, name.rfind('.')))) {
    names_.push_back(std::move(name));
  } else {
    stray_ = std::move(name);
  }
}

std::optional<CollectionFiles> CollectionFiles::of(const std::string& path, OpenOptions options) {
  if (is_collection_folder(path)) return CollectionFiles(path, std::move(options));
  if (auto archive = archive_at(path, options)) {
    return CollectionFiles(std::move(archive), std::move(options));
  }
  return std::nullopt;
}

std::optional<CollectionFiles> CollectionFiles::of(std::shared_ptr<const ObjectStore> store,
                                                   const std::string& name, OpenOptions options) {
  const std::string plain = name.substr(0, name.find_last_not_of('/') + 1);
  if (!may_be_archive(plain)) return std::nullopt;
  if (auto file = find_in_store(store, plain, cache_of(options))) {
    if (!is_packed_collection(*file)) return std::nullopt;
    return CollectionFiles(std::move(file), std::move(options));
  }
  if (!plain.ends_with(kCollectionEnding)) return std::nullopt;
  CollectionFiles files(std::move(store), plain, std::move(options));
  if (files.names_.empty()) return std::nullopt;
  return files;
}

std::vector<std::string> CollectionFiles::members(std::string_view ending) const {
  std::vector<std::string> members;
  for (const std::string& name : names_) {
    if (!name.ends_with(ending) || name == kDeclaration) continue;
    members.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::sort(members.begin(), members.end());  // "a b.dbdf" is before "a.dbdf", "a b" after "a"
  return members;
}

bool CollectionFiles::has(std::string_view name) const {
  return std::binary_search(names_.begin(), names_.end(), name);
}

const zip::Member& CollectionFiles::listed(const std::string& name) const {
  return *std::lower_bound(
      listed_.begin(), listed_.end(), name,
      [](const zip::Member& member, const std::string& wanted) { return member.name < wanted; });
}

std::shared_ptr<ByteSource> CollectionFiles::open(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  if (is_archive()) {
    const zip::Contents contents = zip::contents_of(archive_, std::array{&listed(name)});
    return window_source(contents.file, contents.members[0], path);
  }
  if (store_ != nullptr) {
    if (auto source = find_in_store(store_, path, cache_of(options_))) return source;
    throw_io(path, "open", ENOENT);
  }
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) {
    throw Error(Errc::unsupported, path, std::nullopt,
                "the member is a data set; replace it by one file of it first");
  }
  return LocalFile::open(path);
}

void fail_member(const std::string& file, const std::vector<std::string>& members,
                 const std::string& wanted) {
  constexpr std::size_t most = 20;
  std::string names;
  for (std::size_t i = 0; i < members.size() && i < most; ++i) {
    names.append(i == 0 ? "" : ", ").append(members[i]);
  }
  if (members.size() > most) names += ", ...";
  if (members.empty()) {
    throw Error(Errc::invalid_argument, file, std::nullopt, "the collection has no members");
  }
  throw Error(Errc::invalid_argument, file, std::nullopt,
              wanted.empty()
                  ? "the collection holds " + counted(members.size(), "member") + ": " + names
                  : "the collection has no member '" + wanted + "', only " + names,
              "array");
}

std::variant<Matrix, Frame> CollectionFiles::open_object(const std::string& member) const {
  const std::string name = member + std::string(kMemberEnding), path = path_ + "/" + name;
  if (!has(name)) fail_member(path_, members(kMemberEnding), member);
  if (store_ != nullptr) return dapple::open(store_, path, options_);
  if (!is_archive()) return dapple::open(path, options_);
  const auto file = open(name);
  return make_object(watched(*file, [&] { return dbdf::open_dbdf(file, options_); }));
}

std::string CollectionFiles::json(const std::string& name) const {
  const auto source = open(name);
  if (source->size() > Json::kMost) {
    throw Error(Errc::corrupt, source->name(), std::nullopt, "it is larger than JSON may be");
  }
  std::string text(source->size(), '\0');
  source->read_at(0, std::as_writable_bytes(std::span(text)));
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  require_crc(name, static_cast<std::uint32_t>(crc32_z(0, bytes, text.size())));
  return text;
}

void CollectionFiles::require_crc(const std::string& name, std::uint32_t crc) const {
  if (!is_archive() || crc == listed(name).crc) return;
  throw Error(Errc::corrupt, path_, std::nullopt,
              "the content of " + name + " does not match its CRC");
}

void CollectionFiles::require_names() const {
  if (stray_.empty()) return;
  throw Error(is_archive() ? Errc::corrupt : Errc::invalid_argument, path_, std::nullopt,
              "'" + stray_ + "' is no name of a member; give it another one");
}

bool is_collection_folder(const std::string& path) {
  std::error_code none;
  const std::string name =
      path.ends_with('/') ? path.substr(0, path.find_last_not_of('/') + 1) : path;
  return name.ends_with(kCollectionEnding) && std::filesystem::is_directory(name, none);
}

std::string member_file(const std::string& member) {
  if (is_member_name(member)) return member + std::string(kMemberEnding);
  throw Error(Errc::invalid_argument, "'" + member + "' is no name of a member of a collection",
              "array");
}

std::string member_path(const std::string& folder, const std::string& member) {
  std::error_code none;
  const std::filesystem::path path =
      std::filesystem::path(folder) / (member + std::string(kMemberEnding));
  if (is_member_name(member) && std::filesystem::exists(path, none)) return path.string();
  const std::vector<std::string> members = CollectionFiles::of(folder)->members(kMemberEnding);
  if (member.empty() && members.size() == 1) return member_path(folder, members.front());
  fail_member(folder, members, member);
}

std::shared_ptr<ByteSource> open_member(const std::string& path, const OpenOptions& options) {
  const auto place = find_member(path);
  if (!place) return nullptr;
  const auto& [above, name] = *place;
  if (name.empty()) return open_source(above.string(), options);  // which may be a data set
  return open_packed(LocalFile::open(above.string(), options.guard), name);
}

std::shared_ptr<ByteSource> open_packed(std::shared_ptr<ByteSource> archive,
                                        const std::string& member) {
  const CollectionFiles files(std::move(archive));
  const std::vector<std::string> members = files.members(kMemberEnding);
  const bool only = member.empty() && members.size() == 1;
  const std::string file = (only ? members.front() : member) + std::string(kMemberEnding);
  if (!files.has(file)) fail_member(files.path(), members, member);
  return files.open(file);
}

Match recognise_collection(const Probe& probe) {
  constexpr std::size_t name = 30;
  const std::string_view head(reinterpret_cast<const char*>(probe.head.data()), probe.head.size());
  const bool archive = head.starts_with("PK\x03\x04") && head.size() > name;
  if (archive && head.substr(name).starts_with(kDeclaration)) return Match::by_content;
  return Match::no;
}

std::shared_ptr<const Store> open_collection(std::shared_ptr<ByteSource> file,
                                             const OpenOptions& options) {
  return dbdf::open_dbdf(open_packed(std::move(file), options.array), options);
}

}  // namespace detail

Collection::Collection(std::shared_ptr<const detail::CollectionFiles> files)
    : files_(std::move(files)),
      declared_(std::make_shared<const detail::DeclaredAxes>(files_)),
      members_(files_->members(detail::kMemberEnding)),
      json_members_(files_->members(detail::kJsonEnding)) {}

std::optional<Collection> Collection::find(const std::filesystem::path& path, OpenOptions options) {
  options.array.clear();
  auto files = detail::CollectionFiles::of(path.string(), std::move(options));
  if (!files) return std::nullopt;
  return Collection(std::make_shared<const detail::CollectionFiles>(std::move(*files)));
}

std::optional<Collection> Collection::find(std::shared_ptr<const ObjectStore> store,
                                           const std::string& name, OpenOptions options) {
  if (store == nullptr) throw Error(Errc::invalid_argument, "there is no store to open from");
  options.array.clear();
  auto files = detail::CollectionFiles::of(std::move(store), name, std::move(options));
  if (!files) return std::nullopt;
  return Collection(std::make_shared<const detail::CollectionFiles>(std::move(*files)));
}

std::variant<Matrix, Frame> Collection::open(const std::string& member) const {
  return files_->open_object(member);
}

std::string Collection::json(const std::string& member) const {
  if (std::binary_search(json_members_.begin(), json_members_.end(), member)) {
    return files_->json(member + std::string(detail::kJsonEnding));
  }
  detail::fail_member(files_->path(), json_members_, member);
}

std::optional<std::pair<std::filesystem::path, std::string>> find_member(
    const std::filesystem::path& path) {
  const auto split = detail::split_member(path.string());
  if (!split) return std::nullopt;
  const auto& [above, name] = *split;
  if (detail::is_collection_folder(above)) return {{detail::member_path(above, name), ""}};
  const auto files = detail::CollectionFiles::of(above);
  if (!files->has(name + std::string(detail::kMemberEnding))) {
    detail::fail_member(above, files->members(detail::kMemberEnding), name);
  }
  return {{above, name}};
}

}  // namespace dapple
