#include "resources.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "cell_pieces.h"
#include "choice.h"
#include "column_rules.h"
#include "column_types.h"
#include "counts.h"
#include "dapple/where_rows.h"
#include "tile_bytes.h"

namespace dapple::viewer {

namespace {

using nlohmann::json;
using picture::Axis;
using picture::Raster;
using picture::What;

constexpr std::size_t kRecentPixels = 24 * kTile * kTile;  // of pictures that are kept, 84 MiB
constexpr std::uint64_t kMostPixels = 1024;    // each way, of pictures that `read_all` keeps
constexpr std::uint64_t kBlocksListed = 4096;  // listed at once
constexpr std::uint64_t kSamples = 32;         // each way

/// Labels and file names may be any bytes.
std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What a column's cells say that no block stores. A code of 0 may stand for nothing.
json zero_text(const Column* column) {
  try {
    return column != nullptr ? json::parse(described_bits(*column, 0)) : json("0");
  } catch (const Error&) {
    return "0";
  }
}

/// "f64", "category of 3 words", "timestamp[us, UTC]".
std::string type_text(const Column& column) {
  const Meaning& meaning = column.meaning;
  if (meaning.kind == MeaningKind::number) return std::string(dapple::name(column.value_type));
  std::string text(dapple::name(meaning.kind));
  if (meaning.kind == MeaningKind::category) {
    text += " of " + std::to_string(meaning.words->size()) + " words";
  }
  if (!meaning.has_time()) return text;
  text += '[' + std::string(dapple::name(meaning.unit));
  return text + (meaning.zone.empty() ? "" : ", " + meaning.zone) + ']';
}

Raster all_of(const Pyramid& pyramid, unsigned zoom, const BlockedObject& object) {
  return {Axis::steps({0, object.rows()}, pyramid.row_step(zoom)),
          Axis::steps({0, object.cols()}, pyramid.col_step(zoom))};
}

/// The members of an object's attributes; of many or long ones none.
json shown_attributes(const BlockedObject& object) {
  constexpr std::size_t kMost = 8 << 10;
  const std::string text = object.attributes();
  return text.size() > kMost ? json::object() : json::parse(text, nullptr, false);
}

constexpr std::size_t kLongest = 200;  // bytes of a label or name; more is not shown

}  // namespace

Resources::Resources(picture::Object object, picture::Object looks, std::string name,
                     ResourceOptions options)
    : object_(std::move(object)),
      looks_(std::move(looks)),
      name_(std::move(name)),
      options_(options),
      blocks_in_(this->object()),
      pyramid_(this->object().rows(), this->object().cols()) {}

unsigned Resources::zooms() const noexcept {
  unsigned zooms = 0;
  while (zooms <= pyramid_.deepest() &&
         std::max(pyramid_.across(zooms), pyramid_.down(zooms)) <= kMostPixels / kTile) {
    ++zooms;
  }
  return zooms;
}

void Resources::read_all(const TakeProgress& progress) const {
  if (has_exact_ || zooms() == 0) return;
  const unsigned last = zooms() - 1;
  std::vector<Raster> rasters;
  rasters.push_back(all_of(pyramid_, last, object()));
  picture::draw_cells(object_, blocks_in_, rasters.back(), {name_, options_.threads, progress});
  for (unsigned zoom = last; zoom-- > 0;) {
    Raster coarse = all_of(pyramid_, zoom, object());
    const Raster& fine = rasters.back();
    for (std::size_t r = 0; r < fine.height(); ++r) {
      const std::size_t row = coarse.rows.pixel_of(fine.rows.pixel(r).begin);
      for (std::size_t c = 0; c < fine.width(); ++c) {
        coarse.at(row, coarse.cols.pixel_of(fine.cols.pixel(c).begin)).add(fine.at(r, c));
      }
    }
    rasters.push_back(std::move(coarse));
  }
  std::reverse(rasters.begin(), rasters.end());
  exact_ = std::move(rasters);
  has_exact_ = true;
}

/// Reads all of a file for which that takes no longer than anybody would wait; true when it has.
bool Resources::read_small_file() const {
  const std::lock_guard lock(reading_);
  if (small_file_read_) return *small_file_read_;
  small_file_read_ = false;
  const Region all{{0, object().rows()}, {0, object().cols()}};
  if (!picture::is_quick_to_read(blocks_in_, all, options_.most_file)) return false;
  try {
    read_all({});
    small_file_read_ = true;
  } catch (const Error&) {
    // Of what is damaged each tile tells by itself, and others are shown.
  }
  return *small_file_read_;
}

std::optional<std::string> Resources::find(const Resource& resource) const {
  switch (resource.kind) {
    case Resource::Kind::meta:
      return meta();
    case Resource::Kind::tile:
      return tile(resource);
    case Resource::Kind::tiles:
      return tiles(resource);
    case Resource::Kind::cells:
      return cells(resource);
    case Resource::Kind::labels:
      return labels(resource);
    case Resource::Kind::names:
      return names_of_rows(resource);
    case Resource::Kind::rows:
      return rows(resource);
    case Resource::Kind::blocks:
      break;
  }
  return blocks(resource);
}

unsigned Resources::blocks_zoom() const {
  const double total = static_cast<double>(object().counts().total);
  unsigned zoom = 0;
  while (zoom < pyramid_.deepest() && total / static_cast<double>(pyramid_.across(zoom)) /
                                              static_cast<double>(pyramid_.down(zoom)) >
                                          256) {
    ++zoom;
  }
  return zoom;
}

std::string Resources::meta() const {
  const BlockedObject& o = object();
  const BlockCounts counts = o.counts();
  const auto* matrix = std::get_if<Matrix>(&object_);
  json meta = {{"name", name_},
               {"format", o.format()},
               {"rows", o.rows()},
               {"cols", o.cols()},
               {"type", matrix ? std::string(dapple::name(matrix->value_type())) : "frame"},
               {"labels", matrix == nullptr},
               {"named", {o.row_names() != nullptr, matrix != nullptr && o.col_names() != nullptr}},
               {"attributes", shown_attributes(o)},
               {"ruled", picture::needs_rules(object_, {0, o.cols()})},
               {"stored", counts.stored},
               {"bytes", o.bytes()},
               {"levels", {pyramid_.row_levels(), pyramid_.col_levels()}},
               {"blocks",
                {{"total", counts.total},
                 {"empty", counts.empty},
                 {"dense", counts.dense},
                 {"csr", counts.csr},
                 {"coo", counts.coo}}},
               {"blocksZoom", blocks_zoom()},
               {"grid", nullptr}};
  if (const auto grid = o.grid()) meta["grid"] = {grid->tile.rows, grid->tile.cols};
  meta["what"] = picture::name(picture::default_what(o));
  meta["counts"] = picture::holds_counts(object_);
  return text_of(meta);
}

Raster Resources::cut(const Resource& resource, const Region& region) const {
  Raster part(Axis::steps(region.rows, pyramid_.row_step(resource.zoom)),
              Axis::steps(region.cols, pyramid_.col_step(resource.zoom)));
  const Raster& all = exact_[resource.zoom];
  for (std::size_t r = 0; r < part.height(); ++r) {
    for (std::size_t c = 0; c < part.width(); ++c) {
      part.at(r, c) = all.at(resource.y * kTile + r, resource.x * kTile + c);
    }
  }
  return part;
}

/// Whether blocks are many pixels high or wide, so that statistics of them say little of each.
bool Resources::has_large_blocks(unsigned zoom) const {
  constexpr std::uint64_t kMany = 32;
  const auto grid = object().grid();
  return !grid || grid->tile.rows > kMany * pyramid_.row_step(zoom) ||
         grid->tile.cols > kMany * pyramid_.col_step(zoom);
}

/// Whether the cells of a tile are read. That goes by an average tile of its zoom, so that there is
/// no seam where small tiles at an edge meet others; only one that is much larger is not read.
bool Resources::is_read(unsigned zoom, const Region& region) const {
  const auto share = [](std::uint64_t step, std::uint64_t cells) {
    return std::min(1.0, static_cast<double>(step) * kTile / static_cast<double>(cells));
  };
  const double bytes = share(pyramid_.row_step(zoom), object().rows()) *
                       share(pyramid_.col_step(zoom), object().cols()) *
                       static_cast<double>(object().bytes());
  constexpr std::uint64_t kAboveAverage = 4;
  return bytes <= static_cast<double>(options_.most_read) &&
         picture::is_quick_to_read(blocks_in_, region, kAboveAverage * options_.most_read);
}

std::optional<Resources::Shown> Resources::find_recent(const std::string& place,
                                                       bool needs_values) const {
  const std::lock_guard lock(mutex_);
  for (auto at = recent_.begin(); at != recent_.end(); ++at) {
    const Shown& kept = at->second;
    if (at->first != place || (needs_values ? !kept.values : kept.samples)) continue;
    recent_.splice(recent_.begin(), recent_, at);
    return recent_.front().second;
  }
  return std::nullopt;
}

void Resources::keep_recent(const std::string& place, const Shown& made) const {
  const std::lock_guard lock(mutex_);
  recent_.emplace_front(place, made);
  recent_pixels_ += made.raster->pixels.size();
  while (recent_pixels_ > kRecentPixels) {
    recent_pixels_ -= recent_.back().second.raster->pixels.size();
    recent_.pop_back();
  }
}

Resources::Shown Resources::shown(const Resource& resource, const Region& region) const {
  const bool needs_values = resource.what != What::density;
  const std::string place = std::to_string(resource.zoom) + '.' + std::to_string(resource.x) + '.' +
                            std::to_string(resource.y);
  if (auto recent = find_recent(place, needs_values)) return *std::move(recent);
  Shown made;
  auto raster =
      std::make_shared<Raster>(Axis::steps(region.rows, pyramid_.row_step(resource.zoom)),
                               Axis::steps(region.cols, pyramid_.col_step(resource.zoom)));
  const auto is_exact = [&] { return has_exact_ && resource.zoom < exact_.size(); };
  const bool quick = is_exact() || is_read(resource.zoom, region) || read_small_file();
  if (is_exact()) {
    *raster = cut(resource, region);
  } else if (quick) {
    const std::lock_guard lock(reading_);
    if (auto recent = find_recent(place, needs_values)) return *std::move(recent);
    picture::draw_cells(object_, blocks_in_, *raster, {name_, options_.threads, {}});
  } else {
    made.counts = true;
    made.values = !has_large_blocks(resource.zoom);
    if (!needs_values || made.values) {
      picture::draw_counts(blocks_in_, *raster);
      const picture::Pixel total = raster->total();
      made.values = made.values && total.known >= total.cells;
    }
    if (needs_values && !made.values) {
      *raster = Raster(Axis::fit(region.rows, kSamples), Axis::fit(region.cols, kSamples));
      picture::draw_samples(looks_, blocks_in_, *raster);
      made.samples = made.values = true;
    }
  }
  made.raster = std::move(raster);
  keep_recent(place, made);
  return made;
}

std::optional<std::string> Resources::tile(const Resource& resource) const {
  const auto region = pyramid_.tile(resource.zoom, resource.x, resource.y);
  if (!region) return std::nullopt;
  if (resource.what == What::kind) {
    return tile_bytes(
        picture::draw_kinds(blocks_in_, Axis::steps(region->rows, pyramid_.row_step(resource.zoom)),
                            Axis::steps(region->cols, pyramid_.col_step(resource.zoom))),
        kExact);
  }
  const Shown shown = this->shown(resource, *region);
  const TileFlags flags = shown.samples ? kSampled : shown.counts ? kFromCounts : kExact;
  return tile_bytes(picture::picture_of(*shown.raster, resource.what), flags);
}

std::optional<std::string> Resources::tiles(Resource resource) const {
  resource.kind = Resource::Kind::tile;
  std::string all;
  for (const What what : picture::kFigures) {
    resource.what = what;
    const auto bytes = tile(resource);
    if (!bytes) return std::nullopt;
    all += *bytes;
  }
  return all;
}

std::optional<std::string> Resources::cells(const Resource& resource) const {
  const BlockedObject& o = object();
  if (resource.x > o.cols() / kCells || resource.y > o.rows() / kCells) return std::nullopt;
  const auto part = [](std::uint64_t number, std::uint64_t all) {
    const std::uint64_t begin = number * kCells;
    return Range{begin, begin + std::min(kCells, all - std::min(begin, all))};
  };
  const Region region{part(resource.y, o.rows()), part(resource.x, o.cols())};
  if (region.empty()) return std::nullopt;
  CellPiece piece(region, kCells);
  blocks_in_.for_each(region, [&](const BlockInfo& block) {
    const Region inside = intersect(block.cells(), region);
    piece.cover(inside);
    if (block.kind == BlockKind::empty) return;
    picture::each_type(object_, block, inside.cols, [&](auto tag, Range cols) {
      using T = decltype(tag);
      std::vector<T> values(inside.rows.size() * cols.size());
      std::visit([&](const auto& m) { m.read({inside.rows, cols}, std::span(values)); }, object_);
      const T* value = values.data();
      for (std::uint64_t r = inside.rows.begin; r < inside.rows.end; ++r) {
        for (std::uint64_t c = cols.begin; c < cols.end; ++c) {
          piece.add(r, c, *value++, described_column(object_, c));
        }
      }
    });
  });
  o.require_intact();
  return piece.json();
}

std::optional<std::string> Resources::labels(const Resource& resource) const {
  const BlockedObject& o = object();
  const auto* frame = std::get_if<Frame>(&object_);
  const auto names = frame == nullptr ? o.col_names() : nullptr;
  if ((frame == nullptr && names == nullptr) || resource.x > o.cols() / kLabels) {
    return std::nullopt;
  }
  json labels = json::array();
  const std::uint64_t first = resource.x * kLabels;
  const std::uint64_t end = first + std::min(kLabels, o.cols() - first);
  for (std::uint64_t c = first; c < end; ++c) {
    if (frame == nullptr) {
      labels.push_back({(*names)[c].substr(0, kLongest), "0", ""});
    } else {
      labels.push_back({frame->label(c).substr(0, kLongest),
                        zero_text(described_column(object_, c)), type_text(frame->column_info(c))});
    }
  }
  return text_of(labels);
}

std::optional<std::string> Resources::names_of_rows(const Resource& resource) const {
  const auto names = object().row_names();
  if (names == nullptr || resource.x > names->size() / kLabels) return std::nullopt;
  json list = json::array();
  const std::uint64_t first = resource.x * kLabels;
  const std::uint64_t end = first + std::min(kLabels, names->size() - first);
  for (std::uint64_t r = first; r < end; ++r) list.push_back((*names)[r].substr(0, kLongest));
  return text_of(list);
}

std::optional<std::string> Resources::rows(const Resource& resource) const {
  const auto* frame = std::get_if<Frame>(&object_);
  if (frame == nullptr) return std::nullopt;
  constexpr std::size_t kMost = 100'000;  // numbers; a page shows the first of them
  std::uint64_t all = 0;
  json found = json::array();
  const auto keep = [&](std::span<const std::uint64_t> numbers) {
    all += numbers.size();
    for (const std::uint64_t row : numbers.first(std::min(numbers.size(), kMost - found.size()))) {
      found.push_back(row);
    }
  };
  try {
    where(*frame, Expression::parse(resource.condition), keep);
  } catch (const Error& error) {
    if (error.code() == Errc::corrupt || error.code() == Errc::io) throw;
    return text_of({{"error", error.what()}});  // of what was asked for
  }
  return text_of({{"rows", found}, {"all", all}});
}

std::optional<std::string> Resources::blocks(const Resource& resource) const {
  const auto region = pyramid_.tile(resource.zoom, resource.x, resource.y);
  if (!region) return std::nullopt;
  json list = json::array();
  blocks_in_.for_each_while(*region, [&](const BlockInfo& b) {
    if (list.size() >= kBlocksListed) {
      list = json::array();
      return false;
    }
    const bool typed = b.kind != BlockKind::empty;
    list.push_back({b.pos.rx, b.pos.cx, b.rows, b.cols, dapple::name(b.kind),
                    typed ? dapple::name(b.value_type) : "", b.stored});
    return true;
  });
  return text_of(list);
}

}  // namespace dapple::viewer
