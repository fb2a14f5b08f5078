// Collections: several dbdf files as members of one, by name, which may share rows and columns.
//
// A collection is a folder whose name ends in .dds, with a file NAME.dbdf for each member; or one
// ZIP file of it, in which members are stored as they are. PATH/NAME opens a member, as does
// `OpenOptions::array`. The bytes are described in lib/dbdf/FORMAT.md.
//
//   const auto pbmc = dapple::Collection::find("pbmc.dds");
//   const auto obs = std::get<dapple::Frame>(pbmc->open("obs"));
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/open.h"

namespace dapple {

namespace detail {
class CollectionFiles;
class DeclaredAxes;
}  // namespace detail

/// What the rows and the columns of a member are called; members share those of one name, which
/// have one length. Empty: rows or columns of its own.
struct MemberAxes {
  std::string rows, cols;
  friend bool operator==(const MemberAxes&, const MemberAxes&) = default;
};

/// What a collection holds at the moment when it is found; of a folder, a member that is replaced
/// later is opened as it is then. Any thread.
class Collection {
 public:
  /// The collection that `path` is: a folder, or one file of it, also at a web address. Nothing for
  /// anything else. The options are those of its members. One listing of each folder, or a few
  /// small reads. Throws io, corrupt.
  static std::optional<Collection> find(const std::filesystem::path& path,
                                        OpenOptions options = {});
  /// The same for what `store` has under `name`. A request for the file, or one for each folder.
  static std::optional<Collection> find(std::shared_ptr<const ObjectStore> store,
                                        const std::string& name, OpenOptions options = {});

  /// Names of the matrices and frames, in order.
  const std::vector<std::string>& members() const noexcept { return members_; }
  /// Names of those that are JSON objects, in order: "uns" and "uns/...".
  const std::vector<std::string>& json_members() const noexcept { return json_members_; }

  /// One of members(). Throws invalid_argument for others, and what `dapple::open` throws.
  std::variant<Matrix, Frame> open(const std::string& member) const;
  /// The text of one of json_members(), which may have 16 MiB; no one has looked whether it is
  /// JSON. Throws invalid_argument for others; io, corrupt.
  std::string json(const std::string& member) const;

  /// The axes of a member, which need not be there yet: as the collection declares them, or else as
  /// AnnData calls those of a member of this name. The first call reads the declaration. Throws io;
  /// corrupt for a declaration that is none.
  MemberAxes axes_of(const std::string& member) const;
  /// Throws invalid_argument when a member of this name, shape and axes does not fit the others.
  /// Opens those that have one of its axes.
  void require_fit(const std::string& member, std::uint64_t rows, std::uint64_t cols,
                   const MemberAxes& axes) const;
  /// Throws invalid_argument when members do not fit their axes; corrupt. Opens all members.
  void require_axes() const;

 private:
  explicit Collection(std::shared_ptr<const detail::CollectionFiles> files);

  std::shared_ptr<const detail::CollectionFiles> files_;
  std::shared_ptr<const detail::DeclaredAxes> declared_;
  std::vector<std::string> members_, json_members_;
};

/// Where the member is that PATH/NAME names, PATH being a collection: its own file, and ""; or a
/// file that is a collection, and its name there, which is `OpenOptions::array`. Nothing where
/// there is a file of that name, or no collection above it. Throws invalid_argument where the
/// collection has no such member, and lists those that it has; io, corrupt.
std::optional<std::pair<std::filesystem::path, std::string>> find_member(
    const std::filesystem::path& path);

/// Writes a folder as one ZIP file, in which members are stored as they are, each at a multiple of
/// 64 bytes. The file appears when it is whole, in place of another if `overwrite`. Returns the
/// files of the folder that are neither members nor beside one (.dpx, .dpc), and so are not in it.
/// `progress` is in bytes; what it throws ends the work. Throws invalid_argument, for another
/// ending than .zip or none, and where `Collection::require_axes` does; unsupported for members
/// that are data sets; io. O(bytes), in bounded memory.
std::vector<std::string> pack_collection(const std::filesystem::path& folder,
                                         const std::filesystem::path& file, bool overwrite = false,
                                         const TakeProgress& progress = {});

/// Writes what `pack_collection` made as a folder, which appears when it is whole, in place of
/// another collection if `overwrite`. Throws invalid_argument when `folder` exists or does not end
/// in .dds, and where `Collection::require_axes` does; corrupt, also for members that would lie
/// outside the folder and where CRCs do not match; io. O(bytes), in bounded memory.
void unpack_collection(const std::filesystem::path& file, const std::filesystem::path& folder,
                       bool overwrite = false, const TakeProgress& progress = {});

/// Gives the folder `made`, on the same file system, the name `folder`; where `overwrite`, it and
/// another collection of that name exchange theirs at once. Throws invalid_argument when `folder`
/// exists or does not end in .dds; io.
void publish_collection(const std::filesystem::path& made, const std::filesystem::path& folder,
                        bool overwrite = false);

}  // namespace dapple
