// Collections: several dbdf files as members of one, by name, which may share rows and columns.
//
// A collection is a folder whose name ends in .dds, with a file NAME.dbdf for each member; or one
// ZIP file of it, in which members are stored as they are. PATH/NAME opens a member, as does
// `OpenOptions::array`. The bytes are described in lib/dbdf/FORMAT.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dapple {

/// What the rows and the columns of a member are called; members share those of one name, which
/// have one length. Empty: rows or columns of its own.
struct MemberAxes {
  std::string rows, cols;
  friend bool operator==(const MemberAxes&, const MemberAxes&) = default;
};

/// The matrices and frames of a collection, in order. Empty for anything else. Throws io, corrupt.
std::vector<std::string> list_members(const std::filesystem::path& path);

/// Its members that are JSON objects: "uns" and "uns/...". Empty for anything else. Throws io,
/// corrupt.
std::vector<std::string> list_json_members(const std::filesystem::path& path);

/// Where the member is that PATH/NAME names, PATH being a collection: its own file, and ""; or a
/// file that is a collection, and its name there, which is `OpenOptions::array`. Nothing where
/// there is a file of that name, or no collection above it. Throws invalid_argument where the
/// collection has no such member, and lists those that it has; io, corrupt.
std::optional<std::pair<std::filesystem::path, std::string>> find_member(
    const std::filesystem::path& path);

/// The axes of a member, which need not be there yet: as the collection declares them, or else as
/// AnnData calls those of a member of this name. Throws io; corrupt for a declaration that is none.
MemberAxes axes_of_member(const std::filesystem::path& path, const std::string& member);

/// Throws invalid_argument when a member of this name, shape and axes does not fit the others.
/// Opens them.
void require_fit(const std::filesystem::path& path, const std::string& member, std::uint64_t rows,
                 std::uint64_t cols, const MemberAxes& axes);

/// Throws invalid_argument when members do not fit their axes; corrupt. Opens all members.
void require_axes(const std::filesystem::path& path);

/// Writes a folder as one ZIP file, in which members are stored as they are, each at a multiple of
/// 64 bytes. The file appears when it is whole, in place of another if `overwrite`. Throws
/// invalid_argument, for another ending than .zip or none, and where `require_axes` does;
/// unsupported for members that are data sets; io. O(bytes), in bounded memory.
void pack_collection(const std::filesystem::path& folder, const std::filesystem::path& file,
                     bool overwrite = false);

/// Writes what `pack_collection` made as a folder, which appears when it is whole, in place of
/// another collection if `overwrite`. Throws invalid_argument when `folder` exists or does not end
/// in .dds, and where `require_axes` does; corrupt, also for members that would lie outside the
/// folder and where CRCs do not match; io. O(bytes), in bounded memory.
void unpack_collection(const std::filesystem::path& file, const std::filesystem::path& folder,
                       bool overwrite = false);

}  // namespace dapple
