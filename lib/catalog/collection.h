// Collections: dbdf files as members of one, by name (dapple/collection.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dapple/collection.h"
#include "dapple/open.h"
#include "dapple/range_reader.h"
#include "lib/foreign/zip/zip.h"
#include "lib/object/probe.h"
#include "lib/object/store.h"

namespace dapple::detail {

inline constexpr std::string_view kCollectionEnding = ".dds", kMemberEnding = ".dbdf",
                                  kJsonEnding = ".json";
inline constexpr std::string_view kCollectionFormat = "collection";
/// What the axes are declared in; the first member of an archive that is a collection.
inline constexpr std::string_view kDeclaration = "collection.json";

/// Throws invalid_argument, and lists the members of a collection, of which none is called so.
[[noreturn]] void fail_member(const std::string& file, const std::vector<std::string>& members,
                              const std::string& wanted);

/// "X" and "layers/counts", but not "../X" or "/X".
bool is_member_name(std::string_view name);

/// Whether a file is a collection packed as one. Throws io.
bool is_packed_collection(const ByteSource& file);

/// True for a folder whose name ends in .dds.
bool is_collection_folder(const std::string& path);

/// The path of the member that `OpenOptions::array` names. Throws invalid_argument for a name that
/// is none, and for one that is not there, listing those that are.
std::string member_path(const std::string& folder, const std::string& member);

/// The bytes of the member that PATH/NAME names in a file that is a collection; of a folder, those
/// of its file. Null where `find_member` finds nothing. Throws as `member_path`.
std::shared_ptr<ByteSource> open_member(const std::string& path, const OpenOptions& options);

/// The bytes of a member of an archive; "": of the only one. Throws invalid_argument for one that
/// is not there, listing those that are.
std::shared_ptr<ByteSource> open_packed(std::shared_ptr<ByteSource> archive,
                                        const std::string& member);

/// The file of that member in the folder. Throws invalid_argument for a name that is none.
std::string member_file(const std::string& member);

Match recognise_collection(const Probe& probe);

/// A member of a collection in a ZIP file: the one that is named, or the only one. Throws
/// invalid_argument as above; corrupt, unsupported.
std::shared_ptr<const Store> open_collection(std::shared_ptr<ByteSource> file,
                                             const OpenOptions& options);

/// The files of a collection, as they are at this moment: of a folder, of an archive, or of a
/// folder in a store.
class CollectionFiles {
 public:
  /// Nothing for what is no collection. Throws io, corrupt.
  static std::optional<CollectionFiles> of(const std::string& path, OpenOptions options = {});
  static std::optional<CollectionFiles> of(std::shared_ptr<const ObjectStore> store,
                                           const std::string& name, OpenOptions options = {});
  explicit CollectionFiles(std::shared_ptr<ByteSource> archive, OpenOptions options = {});

  const std::string& path() const noexcept { return path_; }
  bool is_archive() const noexcept { return archive_ != nullptr; }
  /// True when each member that is opened is waited for, so that many are best opened at once.
  bool fetches() const noexcept {
    return store_ != nullptr || (is_archive() && archive_->fetches());
  }
  /// Names of members and of JSON, with their endings, in order; a data set is one, too.
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// Of a folder, the files that are neither in names() nor beside one of them.
  const std::vector<std::string>& others() const noexcept { return others_; }
  /// Those of names() that end so, without the ending, and without the declaration.
  std::vector<std::string> members(std::string_view ending) const;
  bool has(std::string_view name) const;
  /// The bytes of one of names(). Throws unsupported for a data set; io, corrupt.
  std::shared_ptr<ByteSource> open(const std::string& name) const;
  /// A member. Throws invalid_argument where there is none of that name, and what
  /// `dapple::open` throws.
  std::variant<Matrix, Frame> open_object(const std::string& member) const;
  /// The text of one of names() that is JSON, unseen. Throws as `open`; corrupt where it is longer
  /// than JSON may be, and where it is not what its CRC in the archive says.
  std::string json(const std::string& name) const;
  /// Throws corrupt where an archive has another CRC-32 for the content of one of names().
  void require_crc(const std::string& name, std::uint32_t crc) const;
  /// Throws where a name ends as a member's does, and no member can have it: corrupt for an
  /// archive, invalid_argument for a folder.
  void require_names() const;

 private:
  CollectionFiles(std::string folder, OpenOptions options);
  CollectionFiles(std::shared_ptr<const ObjectStore> store, std::string folder,
                  OpenOptions options);
  void add(std::string name);
  const zip::Member& listed(const std::string& name) const;

  std::string path_, stray_;
  OpenOptions options_;  // of members
  std::shared_ptr<const ObjectStore> store_;
  std::shared_ptr<ByteSource> archive_;
  std::vector<zip::Member> listed_;  // of the archive, all, by name
  std::vector<std::string> names_, others_;
};

/// Which axes the members of a collection have. Any thread.
class DeclaredAxes {
 public:
  explicit DeclaredAxes(std::shared_ptr<const CollectionFiles> files) : files_(std::move(files)) {}

  /// Of a member, which need not be there: as declared, or as AnnData calls them. The first call
  /// reads the declaration. Throws io, corrupt.
  MemberAxes of(const std::string& member) const;

 private:
  std::shared_ptr<const CollectionFiles> files_;
  mutable std::once_flag read_;
  mutable std::map<std::string, MemberAxes> declared_;
};

}  // namespace dapple::detail
