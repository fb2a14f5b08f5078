#include "keeper.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "on_threads.h"
#include "tile_bytes.h"

namespace dapple::viewer {

namespace {

using picture::Axis;
using picture::Raster;
using picture::What;

constexpr std::uint64_t kMostTiles = 16000;  // an archive has at most 65535 pieces
constexpr std::size_t kFigures = std::size(picture::kFigures);

std::uint64_t tiles_of(const Pyramid& pyramid, unsigned zoom) {
  return pyramid.across(zoom) * pyramid.down(zoom);
}

class Keeper {
 public:
  Keeper(const Resources& resources, unsigned zooms)
      : resources_(resources), pyramid_(resources.pyramid()), strips_(zooms) {
    archive_.add(name_of({}), PackedPiece(resources.find({}).value()));
  }

  /// Reads the finest zoom, some rows of tiles at once, and makes the others of it.
  void read(const TakeProgress& progress) {
    constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 22;
    const unsigned last = static_cast<unsigned>(strips_.size()) - 1;
    const std::uint64_t down = pyramid_.down(last);
    const std::uint64_t at_once =
        std::max<std::uint64_t>(1, kMostPixels / (pyramid_.across(last) * kTile * kTile));
    for (std::uint64_t y = 0; y < down;) {
      const std::uint64_t end = y + std::min(at_once, down - y);
      Raster band(rows_of(last, y, end), cols_of(last));
      TakeProgress part;
      if (progress) {
        part = [&, y](std::uint64_t done, std::uint64_t total) {
          const double share = static_cast<double>(done) / static_cast<double>(total);
          progress(
              y * 1000 + static_cast<std::uint64_t>(share * 1000 * static_cast<double>(end - y)),
              down * 1000);
        };
      }
      picture::draw_cells(resources_.variant(), resources_.blocks_in(), band,
                          {resources_.name(), resources_.threads(), part});
      for (const std::uint64_t first = y; y < end; ++y) {
        Raster strip(rows_of(last, y, y + 1), cols_of(last));
        const auto from =
            band.pixels.begin() + static_cast<std::ptrdiff_t>((y - first) * kTile * band.width());
        std::copy_n(from, strip.pixels.size(), strip.pixels.begin());
        finish(last, y, strip);
      }
    }
  }
  std::string bytes(const KeptSource& source) {
    const auto zooms = static_cast<unsigned>(strips_.size());
    archive_.add(kAboutName, PackedPiece(kept_about(zooms, source, total_)));
    return archive_.finish();
  }

 private:
  Axis rows_of(unsigned zoom, std::uint64_t y, std::uint64_t end) const {
    const Range first = pyramid_.tile(zoom, 0, y)->rows,
                last = pyramid_.tile(zoom, 0, end - 1)->rows;
    return Axis::steps({first.begin, last.end}, pyramid_.row_step(zoom));
  }
  Axis cols_of(unsigned zoom) const {
    return Axis::steps({0, resources_.object().cols()}, pyramid_.col_step(zoom));
  }

  /// Keeps a row of tiles, and adds it to that of the next coarser zoom.
  void finish(unsigned zoom, std::uint64_t y, const Raster& strip) {
    pack(zoom, y, strip);
    if (zoom == 0) {
      total_.add(strip.total());
      return;
    }
    const auto above = [&](std::uint64_t row) {
      return row * pyramid_.row_step(zoom) / pyramid_.row_step(zoom - 1);
    };
    std::optional<Raster>& coarse = strips_[zoom - 1];
    if (!coarse) coarse.emplace(rows_of(zoom - 1, above(y), above(y) + 1), cols_of(zoom - 1));
    for (std::size_t r = 0; r < strip.height(); ++r) {
      const std::size_t row = coarse->rows.pixel_of(strip.rows.pixel(r).begin);
      for (std::size_t c = 0; c < strip.width(); ++c) {
        coarse->at(row, coarse->cols.pixel_of(strip.cols.pixel(c).begin)).add(strip.at(r, c));
      }
    }
    if (y + 1 < pyramid_.down(zoom) && above(y + 1) == above(y)) return;
    finish(zoom - 1, above(y), *coarse);
    coarse.reset();
  }

  void pack(unsigned zoom, std::uint64_t y, const Raster& strip) {
    const auto across = static_cast<std::size_t>(pyramid_.across(zoom));
    std::vector<std::optional<PackedPiece>> pieces(across * kFigures);
    std::atomic<std::size_t> next{0};
    picture::on_threads(resources_.threads(), [&] {
      for (std::size_t x; (x = next++) < across;) {
        const Region region = *pyramid_.tile(zoom, x, y);
        Raster part(Axis::steps(region.rows, pyramid_.row_step(zoom)),
                    Axis::steps(region.cols, pyramid_.col_step(zoom)));
        for (std::size_t r = 0; r < part.height(); ++r) {
          std::copy_n(&strip.at(r, x * kTile), part.width(), &part.at(r, 0));
        }
        for (std::size_t f = 0; f < kFigures; ++f) {
          pieces[x * kFigures + f].emplace(
              tile_bytes(picture::picture_of(part, picture::kFigures[f]), kExact));
        }
      }
    });
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      archive_.add(
          name_of({Resource::Kind::tile, picture::kFigures[i % kFigures], zoom, i / kFigures, y}),
          *pieces[i]);
    }
  }

  const Resources& resources_;
  const Pyramid& pyramid_;
  ArchiveWriter archive_;
  std::vector<std::optional<Raster>> strips_;  // of each zoom, the row of tiles that is not full
  picture::Pixel total_;
};

}  // namespace

unsigned zooms_to_keep(const Resources& resources, std::uint64_t most) {
  constexpr std::uint64_t kPixelBytes = 3 * kFigures;  // mostly, and fewer more often than more
  const Pyramid& pyramid = resources.pyramid();
  unsigned zooms = resources.zooms();
  std::uint64_t tiles = 0;
  for (unsigned zoom = 0; zoom < zooms; ++zoom) tiles += tiles_of(pyramid, zoom);
  const std::uint64_t most_tiles = std::min(kMostTiles, most / (kPixelBytes * kTile * kTile));
  for (; zooms <= pyramid.deepest(); ++zooms) {
    if (std::max(pyramid.across(zooms), pyramid.down(zooms)) > most_tiles) break;
    tiles += tiles_of(pyramid, zooms);
    if (tiles > most_tiles || resources.is_quick_to_read(zooms)) break;
  }
  return zooms;
}

std::string keep(const Resources& resources, const KeptSource& source, unsigned zooms,
                 const TakeProgress& progress) {
  Keeper keeper(resources, zooms);
  if (zooms > 0) keeper.read(progress);
  return keeper.bytes(source);
}

}  // namespace dapple::viewer
