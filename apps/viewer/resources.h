// What a page needs to draw a file, each piece by its name.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "blocks_in.h"
#include "pyramid.h"
#include "request.h"
#include "scan.h"

namespace dapple::viewer {

struct ResourceOptions {
  unsigned threads = 0;  // 0: one per processor
  /// Blocks of a tile with more bytes than this are not read for it: their counts are shown, and of
  /// dense ones some cells. A disk gives so much within the time that nobody notices.
  std::uint64_t most_read = std::uint64_t{32} << 20;
  /// A file whose blocks have no more bytes altogether is read once, when a tile needs more than
  /// that: it takes some 100 ms.
  std::uint64_t most_file = std::uint64_t{256} << 20;
};

/// Any thread. Memory: the pictures asked for last.
class Resources {
 public:
  /// `looks`: the same file, opened with OpenOptions::read_ahead off, for samples of it.
  Resources(picture::Object object, picture::Object looks, std::string name,
            ResourceOptions options);

  const Pyramid& pyramid() const noexcept { return pyramid_; }
  const picture::Object& variant() const noexcept { return object_; }
  const BlockedObject& object() const noexcept { return picture::base(object_); }
  const picture::BlocksIn& blocks_in() const noexcept { return blocks_in_; }
  const std::string& name() const noexcept { return name_; }
  unsigned threads() const noexcept { return options_.threads; }

  /// Reads every cell once: the pictures of `zooms()` zooms are exact from then on.
  void read_all(const TakeProgress& progress) const;
  /// Those with at most 1024 pixels each way.
  unsigned zooms() const noexcept;

  /// JSON, or the bytes of a tile; nothing where there is none. Throws what reading throws.
  std::optional<std::string> find(const Resource& resource) const;

  /// Calls `take(resource)` for the tiles of one zoom, each with this kind and `what`.
  template <class Take>
  void for_each_tile(Resource resource, const Take& take) const {
    for (resource.y = 0; resource.y < pyramid_.down(resource.zoom); ++resource.y) {
      for (resource.x = 0; resource.x < pyramid_.across(resource.zoom); ++resource.x) {
        take(resource);
      }
    }
  }

  /// The zoom whose tiles hold a moderate number of blocks each.
  unsigned blocks_zoom() const;

  static constexpr std::uint64_t kCells = 64, kLabels = 256;  // of one resource, each way

 private:
  /// The pixels of a tile, and where they come from.
  struct Shown {
    std::shared_ptr<const picture::Raster> raster;
    bool counts = false, samples = false;
    bool values = true;  // they are known, not only how many there are
  };

  std::string meta() const;
  std::optional<std::string> tile(const Resource& resource) const;
  std::optional<std::string> tiles(Resource resource) const;
  std::optional<std::string> cells(const Resource& resource) const;
  std::optional<std::string> labels(const Resource& resource) const;
  std::optional<std::string> names_of_rows(const Resource& resource) const;
  std::optional<std::string> rows(const Resource& resource) const;
  std::optional<std::string> blocks(const Resource& resource) const;
  Shown shown(const Resource& resource, const Region& region) const;
  std::optional<Shown> find_recent(const std::string& place, bool needs_values) const;
  void keep_recent(const std::string& place, const Shown& made) const;
  bool is_read(unsigned zoom, const Region& region) const;
  bool has_large_blocks(unsigned zoom) const;
  bool read_small_file() const;
  picture::Raster cut(const Resource& resource, const Region& region) const;

  picture::Object object_, looks_;
  std::string name_;
  ResourceOptions options_;
  picture::BlocksIn blocks_in_;
  Pyramid pyramid_;
  mutable std::vector<picture::Raster> exact_;  // of each zoom, all tiles
  mutable std::atomic<bool> has_exact_{false};

  mutable std::mutex reading_;  // held while cells are read, because that uses all threads
  mutable std::optional<bool> small_file_read_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::list<std::pair<std::string, Shown>> recent_;
  mutable std::size_t recent_pixels_ = 0;  // of all of them
};

}  // namespace dapple::viewer
