#include <cmath>
#include <fstream>
#include <limits>

#include "apps/picture/counts.h"
#include "apps/picture/scan.h"
#include "apps/picture/terminal.h"
#include "apps/picture/ticks.h"
#include "apps/viewer/pyramid.h"
#include "dapple/open.h"
#include "dapple/writer.h"
#include "tests/check.h"
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

TEST_CASE("picture: windows of tiles in any order show each block once") {
  Rng rng(21);
  constexpr std::uint64_t kTiles = 40, kSide = 2;
  const auto stored = [](std::uint64_t i, std::uint64_t j) { return (i * 7 + j * 3) % 5; };
  std::vector<BlockPos> order;
  for (std::uint64_t i = 0; i < kTiles; ++i) {
    for (std::uint64_t j = 0; j < kTiles; ++j) order.push_back({i * kSide, j * kSide});
  }
  test::shuffle(order, rng);
  Image image = Image::matrix(kTiles * kSide, kTiles * kSide, ValueType::u8);
  for (const BlockPos pos : order) {
    std::vector<Triplet<std::uint8_t>> entries;
    for (std::uint32_t k = 0; k < stored(pos.rx / kSide, pos.cx / kSide); ++k) {
      entries.push_back({k / 2, k % 2, 1});
    }
    image.coo<std::uint8_t>(pos, kSide, kSide, entries);
  }
  fuzz::MemoryFile file;
  file.set(image.bytes());
  const Object object = open(file.path());
  const BlocksIn blocks(base(object));
  for (const Range tiles : {Range{0, 40}, Range{3, 6}, Range{39, 40}, Range{5, 25}}) {
    const Range cells{tiles.begin * kSide, tiles.end * kSide};
    Raster counts(picture::Axis::fit(cells, 40), picture::Axis::fit(cells, 1));
    Raster read = counts;
    draw_counts(blocks, counts);
    draw_cells(object, blocks, read);
    double want = 0;
    for (std::uint64_t i = tiles.begin; i < tiles.end; ++i) {
      for (std::uint64_t j = tiles.begin; j < tiles.end; ++j) {
        want += static_cast<double>(stored(i, j));
      }
    }
    CHECK(counts.total().nonzero == want);
    CHECK(read.total().nonzero == want);
    CHECK(static_cast<double>(stored_in(blocks, {cells, cells})) == want);
  }
  CHECK(is_quick_to_read(blocks, {{0, 2}, {0, 2}}, 2000));
  CHECK(!is_quick_to_read(blocks, {{0, 80}, {0, 80}}, 2000));
}

TEST_CASE("picture: what a file knows of its blocks is what their cells come to") {
  constexpr std::uint32_t kSide = 64;
  const test::TempDir dir;
  Rng rng(22);
  auto writer = MatrixWriter::create(dir / "m.dbdf", 4 * kSide, 2 * kSide, ValueType::f64,
                                     {.tile = TileShape{kSide, kSide}});
  for (std::uint64_t tile = 0; tile < 7; ++tile) {  // the last one stays empty
    std::vector<double> cells(kSide * kSide);
    for (double& v : cells) {
      if (tile == 1 || rng.chance(static_cast<unsigned>(tile) * 14))
        v = 0.5 - static_cast<double>(rng.below(99));
      if (tile == 2 && rng.chance(5)) v = std::numeric_limits<double>::quiet_NaN();
    }
    writer.put<double>({tile / 2 * kSide, tile % 2 * kSide}, {cells.data(), kSide, kSide});
  }
  writer.finish();
  const Object object = open(dir / "m.dbdf");
  const BlocksIn blocks(base(object));
  Raster known(picture::Axis::fit({0, 4 * kSide}, 2), picture::Axis::fit({0, 2 * kSide}, 2));
  Raster read = known;
  draw_counts(blocks, known);
  draw_cells(object, blocks, read);
  REQUIRE(known.total().known == known.total().cells);
  for (std::size_t i = 0; i < read.pixels.size(); ++i) {
    const Pixel &got = known.pixels[i], &want = read.pixels[i];
    CHECK(got.cells == want.cells);
    CHECK(got.nonzero == want.nonzero);
    CHECK(got.nan == want.nan);
    CHECK(got.sum == want.sum);  // halves are summed without rounding
    CHECK(got.minimum() == want.minimum());
    CHECK(got.maximum() == want.maximum());
  }
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

TEST_CASE("picture: ticks of an axis without cells are none, and those of small bars few") {
  for (const Range cells : {Range{0, 0}, Range{7, 7}}) CHECK(cell_ticks(cells, 5).empty());
  const auto all = cell_ticks({0, ~std::uint64_t{0}}, 5);  // of as many rows as there can be
  REQUIRE(all.size() == 4);
  CHECK(all[1].at == 5'000'000'000'000'000'000U);
  CHECK(all[3].at == 15'000'000'000'000'000'000U);
  for (const double high : {0.02, 0.5, 1.0, 1e3}) {
    CAPTURE(high);
    const std::size_t few = value_ticks({3e-5, high, true}, 2).ticks.size();
    CHECK(few >= 2);
    CHECK(few <= 4);
  }
}

TEST_CASE("picture: labels of a colour bar differ, and there are two or more") {
  for (const auto& [low_, high_] : {std::pair{998.5, 1001.5},
                                    {5e6, 5000099.0},
                                    {1234567.0, 1234986.0},
                                    {1.7e18, 1.7e18 + 1e12},
                                    {-1e-7, 1e-7},
                                    {1.0, 1.0 + 0x1p-50},
                                    {-1e300, 2e300},
                                    {-1.7e308, 1.7e308}}) {
    const auto& low = low_;  // clang 14 captures no bindings
    const auto& high = high_;
    for (const std::size_t most : {2, 5, 10}) {
      CAPTURE(low);
      CAPTURE(most);
      const auto [ticks, offset] = value_ticks({low, high, false}, most);
      CHECK(ticks.size() >= 2);
      CHECK(ticks.size() <= most + 2);
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        CHECK(ticks[i].text.size() <= 10);
        CHECK(ticks[i].at >= low);
        CHECK(ticks[i].at <= high);
        if (i > 0) CHECK(ticks[i].text != ticks[i - 1].text);
        if (offset.empty())
          CHECK(std::stod(ticks[i].text) == doctest::Approx(ticks[i].at).epsilon(1e-9));
      }
    }
    const auto [first, last] = picture::end_texts({low, high, false});
    CHECK(first != last);
  }
  CHECK(value_ticks({998.5, 1001.5, false}, 6).ticks[1].text == "999");
  CHECK(value_ticks({998.5, 1001.5, false}, 6).ticks[4].text == "1000.5");
  CHECK(value_ticks({1.7e18, 1.7e18 + 1e12, false}, 5).offset == "1.7e+18");
}

namespace {

/// A row of pixels that show these values.
Picture row_of(const std::vector<double>& values) {
  Picture picture{picture::Axis::fit({0, 1}, 1),
                  picture::Axis::fit({0, values.size()}, values.size()),
                  What::mean,
                  {}};
  for (const double value : values) picture.dots.push_back(Dot::of(value));
  return picture;
}

/// The brightness of one of the 216 colours of a terminal's palette.
double brightness(int number) {
  constexpr double levels[] = {0, 95, 135, 175, 215, 255};
  const auto linear = [&](int level) { return std::pow(levels[level] / 255, 2.2); };
  number -= 16;
  return 0.2126 * linear(number / 36) + 0.7152 * linear(number / 6 % 6) +
         0.0722 * linear(number % 6);
}

}  // namespace

TEST_CASE("picture: on a terminal of 256 colours, more is never darker") {
  std::vector<double> values;
  for (int i = 0; i < 70; ++i) values.push_back(i);
  const Picture picture = row_of(values);
  const Terminal terminal{80, 6, Depth::palette};
  REQUIRE(layout_for(terminal, {{0, 1}, {0, values.size()}}).width == values.size());
  const std::string text = draw_text(picture, scale_for(picture, {}, false), terminal);
  double before = 0;
  std::size_t colours = 0;
  for (std::size_t at = 0; (at = text.find("\x1b[48;5;", at)) != std::string::npos; ++at) {
    const double now = brightness(std::atoi(text.c_str() + at + 7));
    if (now < before && colours >= 8) break;  // the next line
    CHECK(now > before);
    before = now;
    ++colours;
  }
  CHECK(colours >= 8);
}

TEST_CASE("picture: a legend names infinite values, and has no scale where it would show nothing") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto legend = [](const std::vector<double>& values) {
    const Picture picture = row_of(values);
    return legend_lines(picture, scale_for(picture, {}, false), {}, "mean");
  };
  CHECK(legend({1, 2}) == "mean  1 .:-=+*#%@ 2\n");
  CHECK(legend({1, kInfinity, 2, -kInfinity}) == "mean  1 .:-=+*#%@ 2  ^ inf  v -inf\n");
  CHECK(legend({kInfinity}) == "mean  ^ inf\n");
}
