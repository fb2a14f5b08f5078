// Collections as a whole: packed into one file, and unpacked.
#include <fcntl.h>
#include <stdio.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "lib/catalog/collection.h"
#include "lib/dbdf/read/open_dbdf.h"
#include "lib/foreign/zip/write_zip.h"
#include "lib/io/descriptor.h"
#include "lib/io/memory/memory_source.h"
#include "lib/io/output_file.h"
#include "lib/io/temporary.h"

namespace dapple {

namespace fs = std::filesystem;
using detail::CollectionFiles;

namespace {

constexpr std::string_view kNothingDeclared = R"({"version": 1, "axes": {}})";

/// A new folder with a hidden name beside `path`; removed unless it gets another.
class HiddenFolder {
 public:
  explicit HiddenFolder(const fs::path& path) {
    detail::remove_abandoned(path);
    lock_ = detail::open_hidden_folder(path, made_);
    if (!lock_.is_open()) detail::throw_io(path.string(), "create", errno);
  }
  ~HiddenFolder() {
    std::error_code ignored;
    fs::remove_all(made_, ignored);
  }
  HiddenFolder(const HiddenFolder&) = delete;
  HiddenFolder& operator=(const HiddenFolder&) = delete;

  const fs::path& path() const noexcept { return made_; }

 private:
  fs::path made_;
  detail::Descriptor lock_;
};

void move_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) detail::throw_io(from.string(), "rename", error.value());
}

/// Puts `made` in the place of the folder `name`, at once: what was there is in `made` afterwards.
/// Where names cannot be exchanged there is a moment without either.
void replace(const fs::path& name, const fs::path& made) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, name.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) detail::throw_io(name.string(), "replace", errno);
  const HiddenFolder old(name);
  move_to(name, old.path() / "old");
  move_to(made, name);
}

/// Copies a member, and compares it with its CRC.
void copy_member(const CollectionFiles& files, const std::string& name, const fs::path& path) {
  constexpr std::uint64_t step = 1 << 20;
  const auto source = files.open(name);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) detail::throw_io(path.string(), "create", error.value());
  detail::OutputFile out(path, false);
  uLong crc = 0;
  std::vector<std::byte> buffer(std::min(step, source->size()));
  for (std::uint64_t at = 0; at < source->size();) {
    const std::span part(buffer.data(), std::min(step, source->size() - at));
    source->read_at(at, part);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
    out.append(part);
    at += part.size();
  }
  if (crc != files.crc_of(name)) {
    throw Error(Errc::corrupt, files.path(), std::nullopt,
                "the content of " + name + " does not match its CRC");
  }
  out.publish();
}

/// A folder of something else may end so, too.
bool holds_collection(const fs::path& folder) {
  if (!detail::is_collection_folder(folder.string())) return false;
  std::error_code none;
  return fs::is_empty(folder, none) || !CollectionFiles::of(folder.string())->names().empty();
}

void require_there(const fs::path& name) {
  std::error_code none;
  if (!fs::exists(name, none)) detail::throw_io(name.string(), "open", ENOENT);
}

}  // namespace

void pack_collection(const fs::path& folder, const fs::path& file, bool overwrite) {
  require_there(folder);
  if (!detail::is_collection_folder(folder.string())) {
    throw Error(Errc::invalid_argument, folder.string(), std::nullopt,
                "it is no folder of a collection, whose name ends in .dds");
  }
  if (const auto ending = file.extension(); !ending.empty() && ending != ".zip") {
    throw Error(Errc::invalid_argument, file.string(), std::nullopt,
                "a packed collection is a ZIP file; let its name end in .zip");
  }
  Collection::find(folder)->require_axes();
  const auto files = CollectionFiles::of(folder.string());
  if (!files->stray().empty()) {
    throw Error(Errc::invalid_argument, folder.string(), std::nullopt,
                "'" + files->stray() + "' is no name of a member; give it another one");
  }
  detail::OutputFile out(file, overwrite);
  detail::zip::Writer archive(out);
  const std::string declaration(detail::kDeclaration);
  archive.add(declaration, files->has(declaration)
                               ? *files->open(declaration)
                               : *detail::memory_source(std::as_bytes(std::span(kNothingDeclared)),
                                                        declaration));
  for (const std::string& name : files->names()) {
    if (name == declaration) continue;
    const auto member = files->open(name);
    // In an archive nothing else is a member, and one that cannot be opened hides the others.
    if (name.ends_with(detail::kMemberEnding)) detail::dbdf::open_dbdf(member, {});
    archive.add(name, *member);
  }
  archive.finish();
  out.publish();
}

void unpack_collection(const fs::path& file, const fs::path& folder, bool overwrite) {
  const fs::path name = folder.has_filename() ? folder : folder.parent_path();
  if (!name.string().ends_with(detail::kCollectionEnding)) {
    throw Error(Errc::invalid_argument, folder.string(), std::nullopt,
                "it is no name of a collection: those end in .dds");
  }
  std::error_code none;
  const bool exists = fs::exists(fs::symlink_status(name, none));
  if (exists && !(overwrite && holds_collection(name))) {
    throw Error(Errc::invalid_argument, name.string(), std::nullopt,
                overwrite ? "it exists already, and is no collection" : "it exists already",
                overwrite ? "" : "overwrite");
  }
  const auto files = CollectionFiles::of(file.string());
  if (!files || !files->is_archive()) {
    require_there(file);
    throw Error(Errc::invalid_argument, file.string(), std::nullopt,
                "it is no file of a collection, as packing one makes");
  }
  if (!files->stray().empty()) {
    throw Error(Errc::corrupt, file.string(), std::nullopt,
                "'" + files->stray() + "' is no name of a member");
  }
  Collection::find(file)->require_axes();
  const HiddenFolder made(name);
  for (const std::string& member : files->names()) {
    copy_member(*files, member, made.path() / member);
  }
  exists ? replace(name, made.path()) : move_to(made.path(), name);
}

}  // namespace dapple
