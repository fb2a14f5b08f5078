#include "kept.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "resources.h"
#include "tile_bytes.h"

namespace dapple::viewer {

namespace {

using nlohmann::json;
using picture::Dot;
using picture::Pixel;
using picture::What;

constexpr int kKeptVersion = 2, kOldestVersion = 1;  // of which all tiles had two bytes a pixel
constexpr std::size_t kMostAbout = std::size_t{64} << 10;  // ours is much smaller
constexpr std::size_t kMostPiece = most_tile_bytes(kTile * kTile);
constexpr std::size_t kStateNumbers = 3;  // of a source; what follows says how it was opened

json json_of(const KeptSource& source) {
  return {source.size, source.modified_ns, source.changed_ns, source.opened};
}

constexpr double Pixel::*kSums[] = {&Pixel::cells, &Pixel::nonzero, &Pixel::nan, &Pixel::known,
                                    &Pixel::sum,   &Pixel::least,   &Pixel::most};

/// As text, because JSON has no infinities.
json json_of(const Pixel& total) {
  json list = json::array();
  for (const auto sum : kSums) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), total.*sum).ptr;
    list.push_back(std::string(text.data(), end));
  }
  return list;
}

Pixel pixel_from(const json& list) {
  Pixel total;
  std::size_t i = 0;
  for (const auto sum : kSums) {
    const auto& text = list.at(i++).get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), total.*sum);
  }
  return total;
}

/// What an archive says of itself. Throws json::exception where it does not read back.
json read_about(const Archive& archive) {
  return json::parse(archive.find(kAboutName, kMostAbout).value_or(""));
}

bool is_known(const json& about) {
  const int version = about.at("version").get<int>();
  return version >= kOldestVersion && version <= kKeptVersion;
}

/// What the pixels that a pixel is made of come to.
struct Sum {
  double weight = 0, sum = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  Dot::State state = Dot::State::absent;

  void add(const Dot& dot, double cells) {
    if (dot.state != Dot::State::number) {
      if (weight == 0 && dot.state != Dot::State::absent) state = dot.state;
      return;
    }
    state = dot.state;
    weight += cells;
    sum += cells * dot.value;
    least = std::min(least, dot.value);
    most = std::max(most, dot.value);
  }
  Dot dot(What what) const {
    if (state != Dot::State::number) return {0, state};
    return Dot::of(what == What::min ? least : what == What::max ? most : sum / weight);
  }
};

}  // namespace

std::string kept_path(const std::string& path) { return path + ".dpp"; }

std::string kept_about(unsigned zooms, const KeptSource& source, const Pixel& total) {
  return json{{"version", kKeptVersion},
              {"zooms", zooms},
              {"source", json_of(source)},
              {"total", json_of(total)}}
      .dump();
}

std::optional<Kept> Kept::find(const std::string& path, const BlockedObject& object,
                               const KeptSource& source, std::string& complaint) {
  const std::string name = kept_path(path);
  if (::access(name.c_str(), R_OK) != 0) return std::nullopt;
  complaint = kDamaged;
  std::size_t fault = 0;
  auto archive = Archive::open(name, fault);
  if (!archive) return std::nullopt;
  try {
    const json about = read_about(*archive);
    if (!is_known(about) || about.at("source") != json_of(source)) {
      complaint = "was made of another state of the file, or with other flags";
      return std::nullopt;
    }
    Kept kept(std::move(*archive), object, about.at("zooms").get<unsigned>());
    if (kept.zooms_ > kept.pyramid_.deepest() + 1) return std::nullopt;
    kept.total_ = pixel_from(about.at("total"));
    complaint.clear();
    return kept;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<Error> find_kept_fault(const std::string& path, const KeptSource& source,
                                     bool payload) {
  const std::string name = kept_path(path);
  if (::access(name.c_str(), F_OK) != 0) return std::nullopt;
  const auto damaged = [&](std::size_t at) {
    return Error(Errc::corrupt, name, at, "the pictures that are kept are damaged");
  };
  std::size_t fault = 0;
  const auto archive = Archive::open(name, fault);
  if (!archive) return damaged(fault);
  if (payload) {
    if (const auto at = archive->find_fault(kMostPiece)) return damaged(*at);
  }
  try {
    const json about = read_about(*archive);
    const json state = json_of(source);
    for (std::size_t i = 0; i < kStateNumbers; ++i) {
      if (is_known(about) && about.at("source").at(i) == state[i]) continue;
      return Error(Errc::stale_index, name, std::nullopt,
                   "the pictures that are kept belong to another state of the file");
    }
  } catch (const json::exception&) {
    return damaged(archive->find_fault(kMostPiece).value_or(0));
  }
  return std::nullopt;  // those made with other flags may be sound
}

std::optional<std::string> Kept::find_bytes(const Resource& resource) const {
  if (resource.zoom >= zooms_) return std::nullopt;
  return archive_.find(name_of(resource), kMostPiece);
}

std::optional<picture::Picture> Kept::tile_picture(const Resource& resource,
                                                   std::string_view bytes) const {
  const auto region = pyramid_.tile(resource.zoom, resource.x, resource.y);
  if (!region) return std::nullopt;
  return read_tile(bytes, picture::Axis::steps(region->rows, pyramid_.row_step(resource.zoom)),
                   picture::Axis::steps(region->cols, pyramid_.col_step(resource.zoom)),
                   resource.what);
}

bool Kept::is_whole(unsigned zooms) const {
  for (unsigned zoom = 0; zoom < zooms; ++zoom) {
    for (std::uint64_t y = 0; y < pyramid_.down(zoom); ++y) {
      for (std::uint64_t x = 0; x < pyramid_.across(zoom); ++x) {
        for (const What what : picture::kFigures) {
          if (!tile({Resource::Kind::tile, what, zoom, x, y})) return false;
        }
      }
    }
  }
  return true;
}

std::optional<std::string> Kept::tile(const Resource& resource) const {
  auto bytes = find_bytes(resource);
  if (!bytes || !tile_picture(resource, *bytes)) return std::nullopt;
  return bytes;
}

std::optional<picture::Picture> Kept::picture(picture::Axis rows, picture::Axis cols,
                                              What what) const {
  const auto too_coarse = [](const picture::Axis& axis, std::uint64_t step) {
    return step > 1 && step > axis.cells().size() / axis.pixels();
  };
  picture::Picture picture{std::move(rows), std::move(cols), what, {}};
  if (picture.rows.pixels() == 0 || picture.cols.pixels() == 0) return picture;
  unsigned zoom = 0;
  while (zoom + 1 < zooms_ && (too_coarse(picture.rows, pyramid_.row_step(zoom)) ||
                               too_coarse(picture.cols, pyramid_.col_step(zoom)))) {
    ++zoom;
  }
  std::vector<Sum> sums(picture.height() * picture.width());
  for (std::uint64_t y = 0; y < pyramid_.down(zoom); ++y) {
    for (std::uint64_t x = 0; x < pyramid_.across(zoom); ++x) {
      const Region region = *pyramid_.tile(zoom, x, y);
      if (intersect(region, {picture.rows.cells(), picture.cols.cells()}).empty()) continue;
      const Resource place{Resource::Kind::tile, what, zoom, x, y};
      const auto bytes = find_bytes(place);
      const auto tile = bytes ? tile_picture(place, *bytes) : std::nullopt;
      if (!tile) return std::nullopt;
      for (std::size_t r = 0; r < tile->height(); ++r) {
        const Range high = intersect(tile->rows.pixel(r), picture.rows.cells());
        const auto down = picture.rows.pixels_of(high);
        for (std::size_t c = 0; c < tile->width(); ++c) {
          const Range wide = intersect(tile->cols.pixel(c), picture.cols.cells());
          const auto across = picture.cols.pixels_of(wide);
          for (std::size_t i = down.begin; i < down.end; ++i) {
            for (std::size_t j = across.begin; j < across.end; ++j) {
              const Region shared =
                  intersect(Region{high, wide}, {picture.rows.pixel(i), picture.cols.pixel(j)});
              sums[i * picture.width() + j].add(tile->at(r, c),
                                                static_cast<double>(shared.rows.size()) *
                                                    static_cast<double>(shared.cols.size()));
            }
          }
        }
      }
    }
  }
  for (const Sum& sum : sums) picture.dots.push_back(sum.dot(what));
  return picture;
}

}  // namespace dapple::viewer
