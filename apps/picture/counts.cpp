#include "counts.h"

#include <array>

#include "dapple/stats.h"

namespace dapple::picture {

namespace {

/// Finds the pixels of ranges that mostly come in order, many of them inside one pixel.
class PixelFinder {
 public:
  explicit PixelFinder(const Axis& axis) : axis_(axis) {}

  /// The part of `cells` that the axis shows; empty if it shows none.
  Range seen(Range cells) const noexcept { return intersect(cells, axis_.cells()); }
  /// REQUIRES cells that the axis shows, at least one.
  Axis::Pixels find(Range cells) noexcept {
    if (!here_.contains(cells)) {
      pixels_ = axis_.pixels_of(cells);
      here_ = axis_.pixel(pixels_.end - 1);
      if (pixels_.end - pixels_.begin > 1) return pixels_;
    }
    return {pixels_.end - 1, pixels_.end};
  }
  /// How many of `cells` pixel `p` shows.
  double count(std::size_t p, Range cells) const noexcept {
    return static_cast<double>(intersect(axis_.pixel(p), cells).size());
  }

 private:
  const Axis& axis_;
  Axis::Pixels pixels_{};
  Range here_{};  // cells of the last pixel found
};

/// Calls `take(about(block), pixel, cells)` for each block and each pixel that shows cells of it,
/// and how many of them.
template <class About, class Take>
void for_each_pixel(const BlocksIn& blocks, const Axis& rows, const Axis& cols, const About& about,
                    const Take& take) {
  PixelFinder find_rows(rows), find_cols(cols);
  blocks.for_each({rows.cells(), cols.cells()}, [&](const BlockInfo& block) {
    const Region seen{find_rows.seen(block.cells().rows), find_cols.seen(block.cells().cols)};
    const Axis::Pixels down = find_rows.find(seen.rows), across = find_cols.find(seen.cols);
    const auto what = about(block);
    for (std::size_t r = down.begin; r < down.end; ++r) {
      const double high = find_rows.count(r, seen.rows);
      for (std::size_t c = across.begin; c < across.end; ++c) {
        take(what, r * cols.pixels() + c, high * find_cols.count(c, seen.cols));
      }
    }
  });
}

/// A block as one pixel.
Pixel whole_block(const BlockedObject& object, const BlockInfo& block) {
  if (const auto pixel = known_pixel(object, block)) return *pixel;
  Pixel pixel;
  pixel.cells = static_cast<double>(block.rows) * static_cast<double>(block.cols);
  pixel.nonzero = static_cast<double>(block.stored);
  return pixel;
}

}  // namespace

std::optional<Pixel> known_pixel(const BlockedObject& object, const BlockInfo& block) {
  std::optional<Pixel> known;
  if (const auto stats = stored_stats(object, block)) {
    Pixel& pixel = known.emplace();
    pixel.cells = static_cast<double>(block.rows) * static_cast<double>(block.cols);
    pixel.known = pixel.cells;
    pixel.nan = static_cast<double>(stats->nans);
    pixel.nonzero = static_cast<double>(stats->nnz) + pixel.nan;
    pixel.sum = stats->sum;
    if (stats->min <= stats->max) {  // not where all are NaN
      pixel.least = stats->min;
      pixel.most = stats->max;
    }
  }
  return known;
}

void draw_counts(const BlocksIn& blocks, Raster& raster) {
  const BlockedObject& object = blocks.object();
  for_each_pixel(
      blocks, raster.rows, raster.cols,
      [&](const BlockInfo& block) { return whole_block(object, block); },
      [&](const Pixel& all, std::size_t pixel, double cells) {
        raster.pixels[pixel].add(all.share(cells / all.cells));
      });
  object.require_intact();
}

Picture draw_kinds(const BlocksIn& blocks, Axis rows, Axis cols) {
  std::vector<std::array<double, 4>> cells_of_kind(rows.pixels() * cols.pixels());
  for_each_pixel(
      blocks, rows, cols, [](const BlockInfo& block) { return block.kind; },
      [&](BlockKind kind, std::size_t pixel, double cells) {
        cells_of_kind[pixel][static_cast<std::size_t>(kind)] += cells;
      });
  Picture picture{std::move(rows), std::move(cols), What::kind, {}};
  picture.dots.reserve(cells_of_kind.size());
  for (const auto& cells : cells_of_kind) {
    const auto most = std::max_element(cells.begin(), cells.end());
    picture.dots.push_back(*most > 0 ? Dot::of(static_cast<double>(most - cells.begin())) : Dot());
  }
  return picture;
}

bool is_quick_to_read(const BlocksIn& blocks, const Region& region, std::uint64_t most) {
  constexpr std::uint64_t kFinding = 1024;
  std::uint64_t left = most;
  bool quick = true;
  blocks.for_each_while(region, [&](const BlockInfo& block) {
    if (block.kind == BlockKind::empty) return true;
    // Of a dense block only the rows of the region are read, of a sparse one everything.
    const double share =
        block.kind == BlockKind::dense
            ? static_cast<double>(intersect(block.cells().rows, region.rows).size()) /
                  static_cast<double>(block.rows)
            : 1;
    const double bytes = share * static_cast<double>(block.bytes) + kFinding;
    quick = bytes <= static_cast<double>(left);
    if (quick) left -= static_cast<std::uint64_t>(bytes);
    return quick;
  });
  return quick;
}

std::uint64_t stored_in(const BlocksIn& blocks, const Region& region) {
  std::uint64_t stored = 0;
  blocks.for_each(region, [&](const BlockInfo& block) { stored += block.stored; });
  return stored;
}

}  // namespace dapple::picture
