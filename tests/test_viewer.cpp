#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "apps/viewer/request.h"
#include "apps/viewer/resources.h"
#include "apps/viewer/tile_bytes.h"
#include "dapple/open.h"
#include "tests/check.h"
#include "tests/partition.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::picture;
using test::Image;
using test::Rng;

TEST_CASE("viewer: only what a page asks for is understood") {
  using viewer::parse_resource;
  using viewer::parse_target;
  for (const char* name :
       {"meta", "tile/mean/3.0.12", "tiles/3.0.12", "cells/0.18446744073709551615", "labels/7",
        "rows/61203c2033", "blocks/64.1.1"}) {
    const auto resource = parse_resource(name);
    REQUIRE(resource);
    CHECK(viewer::name_of(*resource) == name);
  }
  for (const char* name :
       {"", "meta/", "tile/mean/3.0", "tile/median/0.0.0", "tiles/mean/0.0.0", "tiles/0.0",
        "tile/mean/-1.0.0", "tile/mean/65.0.0", "tile/mean/0.00.0",
        "tile/mean/0.0.18446744073709551616", "cells/1.2.3", "labels/", "rows/", "rows/6",
        "rows/6G", "rows/612", "../../etc/passwd", "tile/mean/0.0.0?x", "tile/mean/%30.0.0"}) {
    CAPTURE(name);
    CHECK(!parse_resource(name));
  }
  CHECK(parse_target("/secret/", "secret"));
  CHECK(parse_target("/secret/2/meta", "secret")->version == 2);
  CHECK(!parse_target("/secret/2/meta", "secret")->member);
  CHECK(parse_target("/secret/of/7/", "secret")->member == 7);
  CHECK(!parse_target("/secret/of/7/", "secret")->resource);
  CHECK(parse_target("/secret/of/0/2/meta", "secret")->version == 2);
  for (const char* target :
       {"", "/", "/secret", "/secre/", "/secreT/", "/secret/2", "/secret/meta",
        "/secret/../secret/", "secret/", "/secret//meta", "/secret/of/", "/secret/of/1",
        "/secret/of/01/", "/secret/of/x/", "/secret/of/1/of/2/"}) {
    CAPTURE(target);
    CHECK(!parse_target(target, "secret"));
  }
}

namespace {

/// A picture of 100 x 100 pixels.
template <class Value>
Picture picture_of_values(const Value& value) {
  Picture picture{
      picture::Axis::fit({0, 100}, 100), picture::Axis::fit({0, 100}, 100), What::mean, {}};
  for (int i = 0; i < 10000; ++i) picture.dots.push_back(Dot::of(value(i)));
  return picture;
}

/// Pixel `i` of `n` of a tile, as apps/viewer/TILES.md says.
Dot dot_of(const std::string& tile, std::size_t n, std::size_t i) {
  const auto how = static_cast<unsigned char>(tile[4]);
  const unsigned bytes = how >> 4;
  std::uint64_t bits = 0;
  for (unsigned b = 0; b < 8; ++b) {
    bits = bits << 8 | (b < bytes ? static_cast<unsigned char>(tile[5 + b * n + i]) : 0U);
  }
  const bool wide = (how & 8) != 0;
  const std::uint64_t nan = wide ? 0x7FF8 : 0x7FC0;
  if (bits >> 48 == nan) return {0, Dot::State::nan};
  if (bits >> 48 == nan + 1) return {};
  if (bits >> 48 == nan + 2) return {0, Dot::State::unknown};
  if (wide) return Dot::of(std::bit_cast<double>(bits));
  return Dot::of(double{std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32))});
}

}  // namespace

TEST_CASE("viewer: pixels of a tile have as many bytes as keep different values apart") {
  const auto wave = [](int i) { return std::sin(i / 1600.0); };
  const auto check = [](const auto& value, std::size_t bytes, double error) {
    Picture picture = picture_of_values(value);
    picture.dots[3] = {};
    picture.dots[4] = {0, Dot::State::nan};
    picture.dots[5] = {0, Dot::State::unknown};
    const std::string tile = viewer::tile_bytes(picture, viewer::kExact);
    CHECK(tile.size() == 5 + 10000 * bytes);
    const std::size_t said = static_cast<unsigned char>(tile[4]) >> 4;
    CHECK(said == bytes);
    for (std::size_t i = 0; i < picture.dots.size(); ++i) {
      CAPTURE(i);
      const Dot back = dot_of(tile, 10000, i);
      REQUIRE(back.state == picture.dots[i].state);
      const double got = back.value, want = picture.dots[i].value;
      REQUIRE((got == want || std::abs(got - want) <= error));
    }
    const std::string sampled = viewer::tile_bytes(picture, viewer::kSampled);
    CHECK((sampled[4] & 3) == 2);
    CHECK(sampled.substr(5) == tile.substr(5));
  };
  check(wave, 2, 0.002);
  check([&](int i) { return 1000 + 2 * wave(i); }, 3, 0.008);
  check([&](int i) { return 1e6 + wave(i); }, 5, 0.004);
  check([](int i) { return 2000 + i % 25; }, 3, 0);
  check([](int i) { return i * 13 % 65536; }, 3, 0);
  check([](int i) { return i % 250; }, 2, 0);
  check([](int i) { return i % 2 == 0 ? 1e300 : -1e300; }, 3, 1e297);
  check([](int i) { return i % 2 == 0 ? 1e-300 : 1; }, 3, 1e-3);
  check([](int i) { return 0x1p53 - i % 7; }, 8, 0);
  check([](int i) { return i % 2 == 0 ? 3.4028234663852886e38 : 0; }, 4, 0);
  check([](int i) { return i % 2 == 0 ? HUGE_VAL : 1; }, 2, 0);
}

TEST_CASE("viewer: a file that is read within a second is shown by its cells, not by samples") {
  Image image = Image::matrix(600, 600, ValueType::f32);
  std::vector<float> cells(600 * 600, 1);
  cells[77777] = 50;
  image.dense<float>({0, 0}, 600, 600, cells);
  const test::TempDir folder;
  const Object object = open(folder.write("m.dbdf", image.bytes()));
  const auto tile = *viewer::parse_resource("tile/max/0.0.0");
  const viewer::Resources small(object, object, "m", {.threads = 1, .most_read = 1000});
  const viewer::Resources large(object, object, "m",
                                {.threads = 1, .most_read = 1000, .most_file = 1000});
  const viewer::Resources quick(object, object, "m", {.threads = 1});
  CHECK(small.find(tile) == quick.find(tile));
  CHECK((small.find(tile)->at(4) & 3) == viewer::kExact);
  CHECK((large.find(tile)->at(4) & 3) != viewer::kExact);
}

TEST_CASE("viewer: a request names this machine, by whatever port, and may ask for plain bytes") {
  for (const char* host :
       {"127.0.0.1", "localhost", "localhost:8080", "127.0.0.1:65535", "[::1]:1"}) {
    CAPTURE(host);
    CHECK(viewer::is_loopback(host));
  }
  for (const char* host :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "127.0.0.10",
        "localhost:", "localhost:x", "localhost:80:80", ":80"}) {
    CAPTURE(host);
    CHECK(!viewer::is_loopback(host));
  }
  for (const char* header :
       {"deflate", "gzip, deflate, br", "*", "gzip;q=0.5,deflate;q=0.1", "br,*;q=1"}) {
    CAPTURE(header);
    CHECK(viewer::accepts_deflate(header));
  }
  for (const char* header :
       {"", "identity", "gzip", "deflate;q=0", "deflate; q=0.00, gzip", "x-deflate", ","}) {
    CAPTURE(header);
    CHECK(!viewer::accepts_deflate(header));
  }
}
