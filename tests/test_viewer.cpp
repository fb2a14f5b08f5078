#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <utility>

#include "apps/viewer/archive.h"
#include "apps/viewer/keeper.h"
#include "apps/viewer/request.h"
#include "apps/viewer/tile_bytes.h"
#include "dapple/open.h"
#include "tests/partition.h"
#include "tests/support.h"

using namespace dapple;
using namespace dapple::picture;
using test::Image;
using test::Rng;

TEST_CASE("viewer: an archive's pieces read back whole, or not at all") {
  viewer::ArchiveWriter writer;
  writer.add("first", viewer::PackedPiece(""));
  writer.add("tile/mean/0.0.0", viewer::PackedPiece(std::string(1000, 'x') + "yz"));
  writer.add("tile/mean/0.0.1", viewer::PackedPiece("another"));
  const std::string whole = writer.finish();
  const test::TempDir folder;
  std::size_t fault = 0;
  const auto open = [&](std::string_view bytes) {
    const auto path = folder.path() / "archive";
    std::ofstream(path, std::ios::binary) << bytes;
    return viewer::Archive::open(path.string(), fault);
  };
  const auto piece = [&](std::string_view bytes, std::string_view name) {
    const auto archive = open(bytes);
    return archive ? archive->find(name, 1002) : std::nullopt;
  };
  CHECK(piece(whole, "first") == "");
  const auto right = piece(whole, "tile/mean/0.0.0");
  REQUIRE(right);
  CHECK(right->size() == 1002);
  CHECK(!piece(whole, "second"));
  CHECK(!open(whole)->find("tile/mean/0.0.0", 1001));
  CHECK(!open(whole)->find_fault(1002));
  const std::pair<const char*, std::string> pieces[] = {
      {"first", ""}, {"tile/mean/0.0.0", *right}, {"tile/mean/0.0.1", "another"}};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CHECK(!open(whole.substr(0, at)));
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto archive = open(damaged);
      bool same = archive.has_value();
      for (const auto& [name, bytes] : pieces) {
        const auto got = archive ? archive->find(name, 1002) : std::nullopt;
        CHECK((!got || got == bytes));
        same = same && got;
      }
      // Only the bits that fill up a piece's last byte may be any.
      const auto found = archive ? archive->find_fault(1002) : fault;
      CHECK(found.has_value() == !same);
      // A wrong size in the list shows in the entry after it.
      CHECK((!found || *found <= at + 64));
    }
  }
}

TEST_CASE("viewer: kept pictures are those of the cells, at every zoom and for any budget") {
  constexpr std::uint64_t kRows = 2500, kCols = 700;  // zooms 0 to 4
  Rng rng(3);
  std::vector<float> cells(1200 * kCols);
  for (float& v : cells) v = static_cast<float>(rng.below(100)) - 50;
  std::vector<Triplet<std::uint8_t>> entries;
  for (std::uint32_t r = 0; r < 1000; ++r) entries.push_back({r, (r * 7 + 3) % 300, 9});
  Image image = Image::matrix(kRows, kCols, ValueType::f32);
  image.dense<float>({100, 0}, 1200, kCols, cells);
  image.coo<std::uint8_t>({1300, 200}, 1000, 300, entries);
  const test::TempDir folder;
  const std::string path = folder.write("m.dbdf", image.bytes()).string();
  const Object object = open(path);
  const viewer::Resources fresh(object, object, "m", {.threads = 2});
  const viewer::Resources slow(object, object, "m", {.threads = 2, .most_read = 1000});
  REQUIRE(slow.pyramid().deepest() == 4);
  CHECK(viewer::zooms_to_keep(fresh, 1 << 30) == 3);  // the next is read in a moment
  CHECK(viewer::zooms_to_keep(slow, 1) == 3);         // those of the whole are always kept
  REQUIRE(viewer::zooms_to_keep(slow, 1 << 30) == 5);
  const auto source = viewer::kept_source(path, {});
  for (const unsigned zooms : {3U, 5U}) {
    test::write_text(viewer::kept_path(path), viewer::keep(slow, *source, zooms, {}));
    std::string complaint;
    auto kept = viewer::Kept::find(path, base(object), *source, complaint);
    REQUIRE(kept);
    CHECK(kept->zooms() == zooms);
    CHECK(kept->total().nonzero > 1000);
    std::size_t tiles = 0;
    for (unsigned zoom = 0; zoom < zooms; ++zoom) {
      fresh.for_each_tile({viewer::Resource::Kind::tile, {}, zoom, 0, 0}, [&](auto tile) {
        for (const What what : picture::kFigures) {
          tile.what = what;
          CAPTURE(viewer::name_of(tile));
          CHECK(kept->tile(tile) == fresh.find(tile));
        }
        ++tiles;
      });
    }
    CHECK(tiles == (zooms == 3 ? 1 + 4 + 9 : 1 + 4 + 9 + 15 + 30));
  }
}

TEST_CASE("viewer: kept pictures that are damaged are drawn from the file") {
  const test::TempDir folder;
  Image image = Image::matrix(2000, 300, ValueType::f32);
  image.dense<float>({0, 0}, 2000, 300, std::vector<float>(600000, 7));
  const std::string path = folder.write("m.dbdf", image.bytes()).string();
  const Object object = open(path);
  const viewer::Resources fresh(object, object, "m", {.threads = 1});
  const auto source = viewer::kept_source(path, {});
  CHECK(!viewer::find_kept_fault(path, *source, true));  // there are none
  std::string bytes = viewer::keep(fresh, *source, 3, {});
  test::write_text(viewer::kept_path(path), bytes);
  CHECK(!viewer::find_kept_fault(path, *source, true));
  const std::size_t at = bytes.find("tile/mean/2.0.0");
  REQUIRE(at != std::string::npos);
  bytes[at + 30] = static_cast<char>(bytes[at + 30] ^ 0x55);
  test::write_text(viewer::kept_path(path), bytes);

  std::string complaint;
  auto kept = viewer::Kept::find(path, base(object), *source, complaint);
  REQUIRE(kept);
  const auto damaged = *viewer::parse_resource("tile/mean/2.0.0");
  CHECK(!kept->tile(damaged));
  CHECK(!kept->picture(picture::Axis::fit({0, 2000}, 1000), picture::Axis::fit({0, 300}, 300),
                       What::mean));
  CHECK(kept->is_whole(2));
  CHECK(!kept->is_whole(3));
  const viewer::ResourceOptions slow{.threads = 1, .most_read = 1, .most_file = 1};
  viewer::Resources samples(object, object, "m", slow), exact(object, object, "m", slow);
  samples.use(*kept);
  CHECK(samples.find(damaged));
  CHECK(samples.find(damaged) != fresh.find(damaged));
  exact.use(*kept);
  exact.read_all({});
  CHECK(exact.find(damaged) == fresh.find(damaged));

  CHECK(!viewer::find_kept_fault(path, *source, false));
  const auto fault = viewer::find_kept_fault(path, *source, true);
  REQUIRE(fault);
  CHECK(fault->code() == Errc::corrupt);
  CHECK(fault->file() == viewer::kept_path(path));
  CHECK(fault->offset() == at - 30);  // where the header of the piece starts
  auto other = *source;
  ++other.modified_ns;
  CHECK(viewer::find_kept_fault(path, other, false)->code() == Errc::stale_index);
}

TEST_CASE("viewer: kept pictures are bound to every option that decides what is read") {
  const test::TempDir folder;
  const std::string path = (folder / "m.csv").string();
  test::write_text(path, "1,2\n");
  std::vector<OpenOptions> different(16);
  different[1].format = "csv";
  different[2].array = "\xE9";
  different[3].array = "\xEA";
  different[4].csv.header = false;
  different[5].csv.delimiter = ';';
  different[6].csv.missing_as_nan = true;
  different[7].csv.missing_words = {"NULL"};
  different[8].csv.types = {{"a", ValueType::u8}};
  different[9].csv.meanings = {{"a", MeaningKind::text}};
  different[10].futhark.types = {"[]f32"};
  different[11].futhark.value = 0;
  different[12].futhark.frame = true;
  different[13].futhark.first = true;
  different[14].idv.columns = {"a"};
  different[15].idv.keep_hidden = true;
  different.emplace_back().idv.drop_unsupported = true;
  std::set<std::string> opened;
  for (const OpenOptions& options : different) {
    opened.insert(viewer::kept_source(path, options)->opened);
  }
  CHECK(opened.size() == different.size());
  const OpenOptions same{.check = Check::always, .guard = true, .read_ahead = false, .threads = 3};
  const auto before = viewer::kept_source(path, {});
  CHECK(viewer::kept_source(path, same) == before);
  test::write_text(path + ".meta", "{}");
  CHECK(viewer::kept_source(path, {}) != before);
}

TEST_CASE("viewer: only what a page asks for is understood") {
  using viewer::parse_resource;
  using viewer::parse_target;
  for (const char* name : {"meta", "tile/mean/3.0.12", "tiles/3.0.12",
                           "cells/0.18446744073709551615", "labels/7", "blocks/64.1.1"}) {
    const auto resource = parse_resource(name);
    REQUIRE(resource);
    CHECK(viewer::name_of(*resource) == name);
  }
  for (const char* name : {"", "meta/", "tile/mean/3.0", "tile/median/0.0.0", "tiles/mean/0.0.0",
                           "tiles/0.0", "tile/mean/-1.0.0", "tile/mean/65.0.0", "tile/mean/0.00.0",
                           "tile/mean/0.0.18446744073709551616", "cells/1.2.3", "labels/",
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

namespace {

/// A picture of 100 x 100 pixels.
template <class Value>
Picture picture_of_values(const Value& value) {
  Picture picture{
      picture::Axis::fit({0, 100}, 100), picture::Axis::fit({0, 100}, 100), What::mean, {}};
  for (int i = 0; i < 10000; ++i) picture.dots.push_back(Dot::of(value(i)));
  return picture;
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
    const auto back = viewer::read_tile(tile, picture.rows, picture.cols, What::mean);
    REQUIRE(back);
    for (std::size_t i = 0; i < picture.dots.size(); ++i) {
      CAPTURE(i);
      REQUIRE(back->dots[i].state == picture.dots[i].state);
      const double got = back->dots[i].value, want = picture.dots[i].value;
      REQUIRE((got == want || std::abs(got - want) <= error));
    }
    CHECK(!viewer::read_tile(tile.substr(1), picture.rows, picture.cols, What::mean));
    const std::string sampled = viewer::tile_bytes(picture, viewer::kSampled);
    CHECK(!viewer::read_tile(sampled, picture.rows, picture.cols, What::mean));
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

TEST_CASE("viewer: pictures kept by the first version are read") {
  Image image = Image::matrix(2, 2, ValueType::f32);
  image.dense<float>({0, 0}, 2, 2, std::vector<float>{1, 2, 3, 4});
  const test::TempDir folder;
  const std::string path = folder.write("m.dbdf", image.bytes()).string();
  const Object object = open(path);
  const auto source = viewer::kept_source(path, {});
  std::string about = viewer::kept_about(1, *source, {});
  const std::string version = "\"version\":2";
  REQUIRE(about.find(version) != std::string::npos);
  about.replace(about.find(version), version.size(), "\"version\":1");
  // 2 x 2: 1, NaN, absent and 4, as upper and lower bytes of bfloat16.
  const std::string tile("\2\0\2\0\0\x3f\x7f\x7f\x40\x80\xc0\xc1\x80", 13);
  viewer::ArchiveWriter writer;
  writer.add("tile/mean/0.0.0", viewer::PackedPiece(tile));
  writer.add(viewer::kAboutName, viewer::PackedPiece(about));
  test::write_text(viewer::kept_path(path), writer.finish());
  std::string complaint;
  const auto kept = viewer::Kept::find(path, base(object), *source, complaint);
  REQUIRE(kept);
  CHECK(kept->tile(*viewer::parse_resource("tile/mean/0.0.0")) == tile);
  const auto picture =
      kept->picture(picture::Axis::fit({0, 2}, 2), picture::Axis::fit({0, 2}, 2), What::mean);
  REQUIRE(picture);
  CHECK(picture->at(0, 0).value == 1);
  CHECK(picture->at(0, 1).state == Dot::State::nan);
  CHECK(picture->at(1, 0).state == Dot::State::absent);
  CHECK(picture->at(1, 1).value == 4);
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
