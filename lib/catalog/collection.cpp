#include "lib/catalog/collection.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/foreign/zip/zip.h"
#include "lib/io/local/local_file.h"
#include "lib/io/window_source.h"

namespace dapple {

namespace detail {

namespace {

constexpr std::string_view kCollectionEnding = ".dds", kMemberEnding = ".dbdf";
/// The first member of an archive that is a collection.
constexpr std::string_view kDeclaration = "collection.json";
constexpr std::size_t kMostMembers = 100'000;

/// "X" and "layers/counts", but not "../X" or "/X".
bool is_member_name(std::string_view name) {
  if (name.find_first_of(std::string_view("\\:\0", 3)) != name.npos) return false;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (end == at || name[at] == '.') return false;
    at = end + 1;
  }
  return true;
}

[[noreturn]] void fail_member(const std::string& file, const std::vector<std::string>& members,
                              const std::string& wanted) {
  constexpr std::size_t most = 20;
  std::string names;
  for (std::size_t i = 0; i < members.size() && i < most; ++i) {
    names.append(i == 0 ? "" : ", ").append(members[i]);
  }
  if (members.size() > most) names += ", ...";
  throw Error(Errc::invalid_argument, file, std::nullopt,
              wanted.empty()
                  ? "the collection holds " + counted(members.size(), "member") + ": " + names
                  : "the collection has no member '" + wanted + "', only " + names,
              "array");
}

std::vector<std::string> members_of_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> members;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().lexically_relative(folder).generic_string();
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
    } else if (name.ends_with(kMemberEnding) && members.size() < kMostMembers) {
      at.disable_recursion_pending();  // it may be the folder of a data set
      members.push_back(name.substr(0, name.size() - kMemberEnding.size()));
    }
  }
  if (error) throw_io(folder, "list", error.value());
  std::sort(members.begin(), members.end());
  return members;
}

/// The members of an archive that have names of members.
std::vector<const zip::Member*> members_of_archive(const std::vector<zip::Member>& all) {
  std::vector<const zip::Member*> members;
  for (const zip::Member& member : all) {
    const std::string_view name = member.name;
    if (!name.ends_with(kMemberEnding)) continue;
    if (is_member_name(name.substr(0, name.size() - kMemberEnding.size()))) {
      members.push_back(&member);
    }
  }
  return members;
}

std::vector<std::string> names_of_members(const std::vector<const zip::Member*>& members) {
  std::vector<std::string> names;
  for (const zip::Member* member : members) {
    names.push_back(member->name.substr(0, member->name.size() - kMemberEnding.size()));
  }
  return names;
}

}  // namespace

bool is_collection_folder(const std::string& path) {
  std::error_code none;
  const std::string name =
      path.ends_with('/') ? path.substr(0, path.find_last_not_of('/') + 1) : path;
  return name.ends_with(kCollectionEnding) && std::filesystem::is_directory(name, none);
}

std::string member_path(const std::string& folder, const std::string& member) {
  std::error_code none;
  const std::filesystem::path path =
      std::filesystem::path(folder) / (member + std::string(kMemberEnding));
  if (is_member_name(member) && std::filesystem::exists(path, none)) return path.string();
  const std::vector<std::string> members = members_of_folder(folder);
  if (member.empty() && members.size() == 1) return member_path(folder, members.front());
  fail_member(folder, members, member);
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
  const std::vector<zip::Member> all = zip::read_directory(*file);
  const std::vector<const zip::Member*> members = members_of_archive(all);
  const auto chosen = std::find_if(members.begin(), members.end(), [&](const zip::Member* member) {
    return options.array.empty() ? members.size() == 1
                                 : member->name == options.array + std::string(kMemberEnding);
  });
  if (chosen == members.end()) fail_member(file->name(), names_of_members(members), options.array);
  const zip::Contents contents = zip::contents_of(file, std::array{*chosen});
  return dbdf::open_dbdf(
      window_source(contents.file, contents.members[0], file->name() + "/" + (*chosen)->name),
      options);
}

}  // namespace detail

std::vector<std::string> list_members(const std::filesystem::path& path) {
  if (detail::is_collection_folder(path.string())) {
    return detail::members_of_folder(path.string());
  }
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return {};
  const auto file = detail::LocalFile::open(path.string());
  const auto head = file->bytes(0, std::min<std::uint64_t>(file->size(), 64));
  if (detail::recognise_collection({*file, head, {}}) == detail::Match::no) return {};
  const std::vector<detail::zip::Member> all = detail::zip::read_directory(*file);
  return detail::names_of_members(detail::members_of_archive(all));
}

}  // namespace dapple
