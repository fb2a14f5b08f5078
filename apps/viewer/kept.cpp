#include "kept.h"

#include <sys/stat.h>
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

std::optional<KeptSource> kept_source(const std::string& path, const OpenOptions& options) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return std::nullopt;
  const auto nanoseconds = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  const CsvOptions& csv = options.csv;
  json types = json::object();
  for (const auto& [column, type] : csv.types) types[column] = dapple::name(type);
  for (const auto& [column, meaning] : csv.meanings) types[column] = dapple::name(meaning);
  const FutharkOptions& futhark = options.futhark;
  const json opened = {options.format,
                       csv.header ? json(*csv.header) : json(),
                       csv.delimiter ? json(int{*csv.delimiter}) : json(),
                       csv.missing_as_nan,
                       csv.missing_words,
                       types,
                       futhark.types,
                       futhark.value ? json(*futhark.value) : json(),
                       futhark.frame,
                       futhark.first,
                       options.idv.columns,
                       options.idv.drop_unsupported,
                       options.idv.keep_hidden};
  return KeptSource{static_cast<std::uint64_t>(s.st_size), nanoseconds(s.st_mtim),
                    nanoseconds(s.st_ctim),
                    opened.dump(-1, ' ', false, json::error_handler_t::replace)};
}

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
  complaint = "is damaged";
  auto archive = Archive::open(name);
  const auto text = archive ? archive->find(kAboutName, kMostAbout) : std::nullopt;
  if (!text) return std::nullopt;
  try {
    const json about = json::parse(*text);
    const int version = about.at("version").get<int>();
    if (version < kOldestVersion || version > kKeptVersion ||
        about.at("source") != json_of(source)) {
      complaint = "was made of another state of the file, or with other flags";
      return std::nullopt;
    }
    Kept kept(name, std::move(*archive), object, about.at("zooms").get<unsigned>());
    if (kept.zooms_ > kept.pyramid_.deepest() + 1) return std::nullopt;
    kept.total_ = pixel_from(about.at("total"));
    complaint.clear();
    return kept;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<std::string> Kept::find_bytes(const Resource& resource) const {
  if (resource.zoom >= zooms_) return std::nullopt;
  return archive_.find(name_of(resource), most_tile_bytes(kTile * kTile));
}

std::optional<picture::Picture> Kept::tile_picture(const Resource& resource,
                                                   std::string_view bytes) const {
  const auto region = pyramid_.tile(resource.zoom, resource.x, resource.y);
  if (!region) return std::nullopt;
  return read_tile(bytes, picture::Axis::steps(region->rows, pyramid_.row_step(resource.zoom)),
                   picture::Axis::steps(region->cols, pyramid_.col_step(resource.zoom)),
                   resource.what);
}

std::optional<std::string> Kept::tile(const Resource& resource) const {
  auto bytes = find_bytes(resource);
  if (!bytes || !tile_picture(resource, *bytes)) return std::nullopt;
  return bytes;
}

picture::Picture Kept::picture(picture::Axis rows, picture::Axis cols, What what) const {
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
      if (!tile) throw Error(Errc::corrupt, name_, std::nullopt, "a tile of it is damaged");
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
