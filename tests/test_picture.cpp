#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "apps/picture/counts.h"
#include "apps/picture/scan.h"
#include "apps/viewer/pyramid.h"
#include "apps/viewer/request.h"
#include "dapple/open.h"
#include "tests/fuzz/memory_file.h"
#include "tests/partition.h"
#include "tests/samples.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::picture;
using test::Image;
using test::Rng;

TEST_CASE("picture: pixels of an axis follow each other and hold every cell once") {
  for (const Range cells :
       {Range{0, 1}, Range{5, 12}, Range{0, 1000}, Range{7, 7 + (1ULL << 40)}}) {
    for (const std::size_t most : {1UL, 2UL, 3UL, 7UL, 100UL}) {
      for (const picture::Axis& axis :
           {picture::Axis::fit(cells, most),
            picture::Axis::steps(cells, (cells.size() + most - 1) / most)}) {
        std::uint64_t next = cells.begin;
        for (std::size_t p = 0; p < axis.pixels(); ++p) {
          const Range pixel = axis.pixel(p);
          REQUIRE(pixel.begin == next);
          REQUIRE(!pixel.empty());
          CHECK(axis.pixel_of(pixel.begin) == p);
          CHECK(axis.pixel_of(pixel.end - 1) == p);
          next = pixel.end;
        }
        CHECK(next == cells.end);
      }
    }
  }
}

namespace {

Pixel naive(const std::vector<double>& cells, std::uint64_t cols, const Region& part) {
  Pixel pixel;
  for (std::uint64_t r = part.rows.begin; r < part.rows.end; ++r) {
    for (std::uint64_t c = part.cols.begin; c < part.cols.end; ++c) {
      const double v = cells[r * cols + c];
      ++pixel.cells;
      ++pixel.known;
      pixel.nonzero += v != 0;
      pixel.nan += std::isnan(v);
      if (std::isnan(v)) continue;
      pixel.sum += v;
      pixel.least = std::min(pixel.least, v);
      pixel.most = std::max(pixel.most, v);
    }
  }
  return pixel;
}

}  // namespace

TEST_CASE("picture: a pixel of cells is what a loop over them comes to, in any block and type") {
  Rng rng(8);
  fuzz::MemoryFile file;
  constexpr std::uint64_t kRows = 60, kCols = 90;
  std::vector<double> cells(kRows * kCols);
  for (double& v : cells) v = rng.chance(60) ? 0 : static_cast<double>(rng.below(200));
  std::vector<double> dense;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint8_t>>> rows(20);
  std::vector<Triplet<float>> entries;
  cells[3] = std::numeric_limits<double>::quiet_NaN();
  for (std::uint32_t r = 0; r < 20; ++r) {
    for (std::uint32_t c = 0; c < kCols; ++c) {
      dense.push_back(cells[r * kCols + c]);
      const double sparse = cells[(r + 20) * kCols + c], last = cells[(r + 40) * kCols + c];
      if (sparse != 0) rows[r].emplace_back(c, static_cast<std::uint8_t>(sparse));
      if (last != 0) entries.push_back({r, c, static_cast<float>(last)});
    }
  }
  Image image = Image::matrix(kRows, kCols, ValueType::f64);
  image.dense<double>({0, 0}, 20, kCols, dense);
  image.csr<std::uint8_t>({20, 0}, kCols, rows);
  image.coo<float>({40, 0}, 20, kCols, entries);
  file.set(image.bytes());
  const Object object = open(file.path());
  const BlocksIn blocks(base(object));
  for (const Region window : {Region{{0, kRows}, {0, kCols}}, Region{{13, 51}, {7, 80}}}) {
    for (const std::size_t pixels : {1UL, 4UL, 33UL, 200UL}) {
      Raster raster(picture::Axis::fit(window.rows, pixels),
                    picture::Axis::fit(window.cols, pixels));
      draw_cells(object, blocks, raster, {.threads = 2, .progress = {}});
      for (std::size_t r = 0; r < raster.height(); ++r) {
        for (std::size_t c = 0; c < raster.width(); ++c) {
          const Pixel got = raster.at(r, c);
          const Pixel want = naive(cells, kCols, {raster.rows.pixel(r), raster.cols.pixel(c)});
          CHECK(got.cells == want.cells);
          CHECK(got.nonzero == want.nonzero);
          CHECK(got.nan == want.nan);
          CHECK(got.sum == want.sum);
          if (got.cells == got.nan) continue;
          CHECK(got.minimum() == want.minimum());
          CHECK(got.maximum() == want.maximum());
        }
      }
    }
  }
}

TEST_CASE("picture: counts of blocks are shared out over their area") {
  fuzz::MemoryFile file;
  Image image = Image::matrix(4, 4, ValueType::u8);
  image.coo<std::uint8_t>({0, 0}, 4, 2, {{0, 0, 1}, {3, 1, 2}}).empty({0, 2}, 2, 2);
  file.set(image.bytes());
  const Object object = open(file.path());
  const BlocksIn blocks(base(object));
  Raster raster(picture::Axis::fit({0, 4}, 2), picture::Axis::fit({0, 4}, 2));
  draw_counts(blocks, raster);
  CHECK(raster.at(0, 0).nonzero == 1);
  CHECK(raster.at(1, 0).cells == 4);
  CHECK(raster.at(0, 1).nonzero == 0);
  CHECK(raster.at(1, 1).cells == 0);
  const Picture kinds =
      draw_kinds(blocks, picture::Axis::fit({0, 4}, 2), picture::Axis::fit({0, 4}, 2));
  CHECK(kinds.at(0, 0).value == static_cast<double>(BlockKind::coo));
  CHECK(kinds.at(1, 1).state == Dot::State::absent);
}

TEST_CASE("picture: a sparse column outside its block is corrupt, not a wild write") {
  fuzz::MemoryFile file;
  Image image = Image::matrix(2, 2, ValueType::u8);
  image.csr<std::uint8_t>({0, 0}, 2, {{{0, 1}}, {{70000, 5}}});
  file.set(image.bytes());
  const Object object = open(file.path());
  const BlocksIn blocks(base(object));
  Raster raster(picture::Axis::fit({0, 2}, 2), picture::Axis::fit({0, 2}, 2));
  const auto error = test::error_of([&] { draw_cells(object, blocks, raster); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
}

TEST_CASE("picture: the tiles of every zoom cover the matrix, and no others exist") {
  for (const std::uint64_t rows : {1ULL, 256ULL, 257ULL, 10000000ULL, ~0ULL}) {
    const viewer::Pyramid pyramid(rows, 300);
    CHECK(pyramid.down(0) == 1);
    CHECK(pyramid.across(0) == 1);
    const unsigned zoom = pyramid.deepest();
    CHECK(pyramid.row_step(zoom) == 1);
    const auto last = pyramid.tile(zoom, pyramid.across(zoom) - 1, pyramid.down(zoom) - 1);
    REQUIRE(last);
    CHECK(last->rows.end == rows);
    CHECK(last->cols.end == 300);
    CHECK(!pyramid.tile(zoom, 0, pyramid.down(zoom)));
    CHECK(!pyramid.tile(zoom + 1, 0, 0));
  }
}

TEST_CASE("viewer: only what a page asks for is understood") {
  using viewer::parse_resource;
  using viewer::parse_target;
  for (const char* name :
       {"meta", "tile/mean/3.0.12", "cells/0.18446744073709551615", "labels/7", "blocks/64.1.1"}) {
    const auto resource = parse_resource(name);
    REQUIRE(resource);
    CHECK(viewer::name_of(*resource) == name);
  }
  for (const char* name :
       {"", "meta/", "tile/mean/3.0", "tile/median/0.0.0", "tile/mean/-1.0.0", "tile/mean/65.0.0",
        "tile/mean/0.00.0", "tile/mean/0.0.18446744073709551616", "cells/1.2.3", "labels/",
        "../../etc/passwd", "tile/mean/0.0.0?x", "tile/mean/%30.0.0"}) {
    CAPTURE(name);
    CHECK(!parse_resource(name));
  }
  CHECK(parse_target("/secret/", "secret"));
  CHECK(parse_target("/secret/2/meta", "secret")->version == 2);
  for (const char* target : {"", "/", "/secret", "/secre/", "/secreT/", "/secret/2", "/secret/meta",
                             "/secret/../secret/", "secret/", "/secret//meta"}) {
    CAPTURE(target);
    CHECK(!parse_target(target, "secret"));
  }
}
