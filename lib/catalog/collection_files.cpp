// Collections as a whole: packed into one file, and unpacked.
#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <functional>
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

/// `name` is the one that the user knows.
void move_to(const fs::path& from, const fs::path& to, const fs::path& name) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) detail::throw_io(name.string(), "give the folder its name", error.value());
}

/// Puts `made` in the place of the folder `name`, at once: what was there is in `made` afterwards.
/// Where names cannot be exchanged there is a moment without either.
void replace(const fs::path& name, const fs::path& made) {
  if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, name.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS && errno != EPERM) {
    detail::throw_io(name.string(), "replace", errno);
  }
  const HiddenFolder old(name);
  move_to(name, old.path() / "old", name);
  try {
    move_to(made, name, name);
  } catch (const Error&) {
    std::error_code ignored;
    fs::rename(old.path() / "old", name, ignored);  // it would be removed with its folder
    throw;
  }
}

/// What copies of members tell of their bytes.
class Copied {
 public:
  Copied(const CollectionFiles& files, const TakeProgress& progress) : progress_(progress) {
    if (!progress_) return;
    for (const std::string& name : files.names()) total_ += files.open(name)->size();
  }
  void operator()(std::uint64_t bytes) {
    done_ += bytes;
    if (progress_) progress_(done_, total_);
  }

 private:
  const TakeProgress& progress_;
  std::uint64_t done_ = 0, total_ = 0;
};

/// Copies a member, and compares it with its CRC.
void copy_member(const CollectionFiles& files, const std::string& name, const fs::path& path,
                 Copied& copied) {
  const auto source = files.open(name);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) detail::throw_io(path.string(), "create", error.value());
  detail::OutputFile out(path, false);
  files.require_crc(name, detail::zip::copy_content(*source, [&](std::uint64_t, auto bytes) {
                      out.append(bytes);
                      copied(bytes.size());
                    }));
  out.publish();
}

/// A folder of something else may end so, too.
bool holds_collection(const fs::path& folder) {
  if (!detail::is_collection_folder(folder.string())) return false;
  std::error_code none;
  return fs::is_empty(folder, none) || !CollectionFiles::of(folder.string())->names().empty();
}

/// True when `name` is a collection, which may be replaced. Throws invalid_argument for any other
/// that is there, or where none may be replaced, and for one that is no name of a collection.
bool replaces(const fs::path& name, bool overwrite) {
  if (!name.string().ends_with(detail::kCollectionEnding)) {
    throw Error(Errc::invalid_argument, name.string(), std::nullopt,
                "it is no name of a collection: those end in .dds");
  }
  std::error_code none;
  if (!fs::exists(fs::symlink_status(name, none))) return false;
  if (overwrite && holds_collection(name)) return true;
  throw Error(Errc::invalid_argument, name.string(), std::nullopt,
              overwrite ? "it exists already, and is no collection" : "it exists already",
              overwrite ? "" : "overwrite");
}

/// Throws invalid_argument where `file` would go with the folder that is replaced.
void require_outside(const fs::path& file, const fs::path& folder) {
  std::error_code failed;
  const fs::path kept = fs::weakly_canonical(file, failed), gone = fs::canonical(folder, failed);
  const auto apart = std::mismatch(gone.begin(), gone.end(), kept.begin(), kept.end()).first;
  if (failed || apart != gone.end()) return;
  throw Error(Errc::invalid_argument, file.string(), std::nullopt,
              "it is in the collection that it would replace; move it out first");
}

fs::path without_slash(const fs::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

void require_there(const fs::path& name) {
  std::error_code none;
  if (!fs::exists(name, none)) detail::throw_io(name.string(), "open", ENOENT);
}

}  // namespace

std::vector<std::string> pack_collection(const fs::path& folder, const fs::path& file,
                                         bool overwrite, const TakeProgress& progress) {
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
  files->require_names();
  Copied copied(*files, progress);
  detail::OutputFile out(file, overwrite);
  detail::zip::Writer archive(out);
  const std::string declaration(detail::kDeclaration);
  if (files->has(declaration)) {
    archive.add(declaration, *files->open(declaration), std::ref(copied));
  } else {
    archive.add(declaration,
                *detail::memory_source(std::as_bytes(std::span(kNothingDeclared)), declaration));
  }
  for (const std::string& name : files->names()) {
    if (name == declaration) continue;
    const auto member = files->open(name);
    // In an archive nothing else is a member, and one that cannot be opened hides the others.
    if (name.ends_with(detail::kMemberEnding)) detail::dbdf::open_dbdf(member, {});
    archive.add(name, *member, std::ref(copied));
  }
  archive.finish();
  out.publish();
  return files->others();
}

void unpack_collection(const fs::path& file, const fs::path& folder, bool overwrite,
                       const TakeProgress& progress) {
  const fs::path name = without_slash(folder);
  if (replaces(name, overwrite)) require_outside(file, name);
  const auto files = CollectionFiles::of(file.string());
  if (!files || !files->is_archive()) {
    require_there(file);
    throw Error(Errc::invalid_argument, file.string(), std::nullopt,
                "it is no file of a collection, as packing one makes");
  }
  files->require_names();
  Collection::find(file)->require_axes();
  const HiddenFolder made(name);
  Copied copied(*files, progress);
  for (const std::string& member : files->names()) {
    const fs::path path = made.path() / member;
    try {
      copy_member(*files, member, path, copied);
    } catch (const Error& e) {  // nobody has seen the hidden folder
      if (!e.file().starts_with(made.path().string())) throw;
      throw e.retold((name / member).string(), e.offset(), e.detail());
    }
  }
  publish_collection(made.path(), name, overwrite);
}

void publish_collection(const fs::path& made, const fs::path& folder, bool overwrite) {
  const fs::path name = without_slash(folder);
  replaces(name, overwrite) ? replace(name, made) : move_to(made, name, name);
}

}  // namespace dapple
