// The pyramid kept beside a file: pictures of all cells at the first zooms in FILE.dpp
// (PYRAMID.md), so that nobody needs to read all cells again. keeper.h makes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "archive.h"
#include "pyramid.h"
#include "request.h"
#include "scan.h"

namespace dapple::viewer {

/// What a kept pyramid is bound to: one state of a file, opened in one way.
struct KeptSource {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::string opened;  // the flags that decide what the file's bytes mean
  friend bool operator==(const KeptSource&, const KeptSource&) = default;
};

/// Of the file as it is now; nothing when its status cannot be read.
std::optional<KeptSource> kept_source(const std::string& path, const OpenOptions& options);

/// Where the pyramid of a file is looked for.
std::string kept_path(const std::string& path);

/// The piece that says what is kept, and its name.
inline constexpr std::string_view kAboutName = "pyramid.json";
std::string kept_about(unsigned zooms, const KeptSource& source, const picture::Pixel& total);

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

  /// A picture put together from tiles whose pixels are smaller than its own, if any are. Throws
  /// corrupt when a tile is damaged. REQUIRES what != What::kind.
  picture::Picture picture(picture::Axis rows, picture::Axis cols, picture::What what) const;

 private:
  Kept(std::string name, Archive archive, const BlockedObject& object, unsigned zooms)
      : name_(std::move(name)),
        archive_(std::move(archive)),
        pyramid_(object.rows(), object.cols()),
        zooms_(zooms) {}
  std::optional<std::string> find_bytes(const Resource& resource) const;
  std::optional<picture::Picture> tile_picture(const Resource& resource,
                                               std::string_view bytes) const;

  std::string name_;
  Archive archive_;
  Pyramid pyramid_;
  unsigned zooms_;
  picture::Pixel total_;
};

}  // namespace dapple::viewer
