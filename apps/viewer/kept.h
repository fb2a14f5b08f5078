// The pyramid kept beside a file: pictures of all cells at the first zooms in FILE.dpp
// (PYRAMID.md), so that nobody needs to read all cells again. keeper.h makes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "archive.h"
#include "dapple/error.h"
#include "kept_source.h"
#include "pyramid.h"
#include "request.h"
#include "scan.h"

namespace dapple::viewer {

/// Where the pyramid of a file is looked for.
std::string kept_path(const std::string& path);

/// The piece that says what is kept, and its name.
inline constexpr std::string_view kAboutName = "pyramid.json";
std::string kept_about(unsigned zooms, const KeptSource& source, const picture::Pixel& total);

/// What a pyramid is that cannot be used.
inline constexpr std::string_view kDamaged = "is damaged";

/// What is wrong with the pyramid kept beside the file at `path`, whose state is `source`: corrupt,
/// at the first piece that is damaged, or stale_index. Nothing when it is sound, was made with
/// other flags, or when there is none. Reads all of it with `payload`, otherwise what it says of
/// itself.
std::optional<Error> find_kept_fault(const std::string& path, const KeptSource& source,
                                     bool payload);

/// Any thread.
class Kept {
 public:
  /// Reads the kept pyramid of the file at `path`, from which `object` was opened. Nothing when
  /// there is none; when there is one that is damaged or of another state, `complaint` says what it
  /// is.
  static std::optional<Kept> find(const std::string& path, const BlockedObject& object,
                                  const KeptSource& source, std::string& complaint);

  unsigned zooms() const noexcept { return zooms_; }
  /// The bytes of a tile of these zooms; nothing when it is damaged or not kept.
  std::optional<std::string> tile(const Resource& resource) const;
  /// Sums of the whole.
  const picture::Pixel& total() const noexcept { return total_; }

  /// Whether every tile of the first `zooms` reads back.
  bool is_whole(unsigned zooms) const;

  /// A picture put together from tiles whose pixels are smaller than its own, if any are; nothing
  /// when one of them is damaged. REQUIRES what != What::kind.
  std::optional<picture::Picture> picture(picture::Axis rows, picture::Axis cols,
                                          picture::What what) const;

 private:
  Kept(Archive archive, const BlockedObject& object, unsigned zooms)
      : archive_(std::move(archive)), pyramid_(object.rows(), object.cols()), zooms_(zooms) {}
  std::optional<std::string> find_bytes(const Resource& resource) const;
  std::optional<picture::Picture> tile_picture(const Resource& resource,
                                               std::string_view bytes) const;

  Archive archive_;
  Pyramid pyramid_;
  unsigned zooms_;
  picture::Pixel total_;
};

}  // namespace dapple::viewer
