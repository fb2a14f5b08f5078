// Small files that speak of much: what they say is believed as far as the file can hold it, and
// what nobody wrote is missed at once.

#include <cstring>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/io/hash.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using test::error_of;
using test::Image;

namespace {

constexpr std::uint64_t kMany = std::uint64_t{1} << 60;

std::string refusal(const test::TempDir& dir, const Image& image, const std::string& to,
                    const Selection& part = {}) {
  const auto path = dir.write("in.dbdf", image.bytes());
  ConvertOptions options;
  options.to = to;
  options.drop_labels = true;
  const auto object = open(path);
  const auto error = error_of([&] { convert(object, part, dir / "out", options); });
  CHECK(dir.names() == std::vector<std::string>{"in.dbdf"});
  REQUIRE(error);
  CHECK(error->code() == Errc::absent);
  CHECK(error->file() == path.string());
  return error->detail();
}

/// A file of two tiles of 1 x 4 cells with an index.
std::vector<std::byte> two_tiles(const test::TempDir& dir) {
  WriteOptions options;
  options.tile = TileShape{1, 4};
  options.overwrite = true;
  auto w = test::writer<std::uint8_t>(dir / "sound.dbdf", 2, 4, options);
  const std::vector<std::uint8_t> cells{1, 2, 3, 4, 5, 6, 7, 8};
  w.put<std::uint8_t>({0, 0}, {cells.data(), 1, 4});
  w.put<std::uint8_t>({1, 0}, {cells.data() + 4, 1, 4});
  w.finish();
  return test::read_bytes(dir / "sound.dbdf");
}

std::uint64_t word(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint64_t value;
  std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

/// Where the index's payload starts.
std::size_t index_start(const std::vector<std::byte>& bytes) {
  return bytes.size() - word(bytes, bytes.size() - 56);
}

template <class T>
void set(std::vector<std::byte>& bytes, std::size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof value);
}

/// Makes the hashes of a changed index right again.
void hash_again(std::vector<std::byte>& bytes) {
  const std::size_t start = index_start(bytes), trailer = bytes.size() - 64;
  const std::span<const std::byte> all(bytes);
  set(bytes, start + 48, detail::xxh3(all.subspan(start, 48)));
  set(bytes, trailer, detail::xxh3(all.subspan(start, trailer - start)));
  set(bytes, trailer + 48, detail::xxh3(all.subspan(trailer, 48), bytes.size()));
}

/// What listing the blocks says of a file whose index was changed at `at`, from its first entry.
template <class T>
Error listing_error(const test::TempDir& dir, std::size_t at, T value) {
  auto bytes = two_tiles(dir);
  set(bytes, index_start(bytes) + 64 + at, value);
  hash_again(bytes);
  const Matrix m = Matrix::open(dir.write("lie.dbdf", bytes));
  REQUIRE(m.index_origin() == IndexOrigin::embedded);
  return test::required_error(error_of([&] {
    for (const BlockInfo& block : m.blocks()) CHECK(block.pos.cx == 0);
  }));
}

}  // namespace

TEST_CASE("bounds: cells that no block covers are told at once, whatever the target") {
  const test::TempDir dir;
  const Image none = Image::frame(kMany, {{"a", ValueType::f64}, {"b", ValueType::f64}});
  const Image few =
      Image::matrix(kMany, 5, ValueType::i32, 2).csr<std::int32_t>({0, 0}, 5, {{}, {}});
  for (const std::string to :
       {"btable", "idv", "npy", "mtx", "csv", "futhark", "futhark-text", "daphne", "dbdf"}) {
    CAPTURE(to);
    CHECK(refusal(dir, none, to) == "no block covers cell (0, 0) (R7)");
    CHECK(refusal(dir, few, to) == "no block covers cell (2, 0) (R7)");
  }
  Selection part;
  part.cols = std::vector<std::uint64_t>{3, 4, 0};
  CHECK(refusal(dir, few, "btable", part) == "no block covers cell (2, 3) (R7)");
}

TEST_CASE("bounds: rows without number are written in little memory until there is no room") {
  const test::TempDir dir;
  const auto path = dir.write("in.dbdf", Image::matrix(kMany, 5, ValueType::f64, 2).bytes());
  ConvertOptions options;
  options.to = "btable";
  options.absent = Absent::zero;
  struct Full {};
  std::uint64_t bytes = 0;
  CHECK_THROWS_AS(convert(
                      open(path), {},
                      [&](std::span<const std::byte> part) {
                        bytes += part.size();
                        if (bytes > 50'000'000) throw Full{};
                      },
                      options),
                  Full);
}

TEST_CASE("bounds: where nothing is stored, a conversion passes over any number of tiles at once") {
  const test::TempDir dir;
  const auto path = dir.write("in.dbdf", Image::matrix(kMany, 3, ValueType::f64, 2).bytes());
  ConvertOptions options;
  options.absent = Absent::zero;
  const Error error =
      test::required_error(error_of([&] { convert(open(path), {}, dir / "out.dbdf", options); }));
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.file() == (dir / "out.dbdf").string());
  CHECK(error.detail() ==
        "more than 16777216 empty blocks for cells that were never put would be needed; choose "
        "larger tiles");

  constexpr std::uint64_t kFew = std::uint64_t{1} << 40;
  const auto few = dir.write("few.dbdf", Image::matrix(kFew, 3, ValueType::f64, 2).bytes());
  convert(open(few), {}, dir / "out.dbdf", options);
  const Matrix written = Matrix::open(dir / "out.dbdf");
  CHECK(written.blocks().size() == 257);  // each of at most 2^32 - 1 rows
  CHECK(written.read<double>({{kFew - 1, kFew}, {0, 3}}) == std::vector<double>{0, 0, 0});
}

TEST_CASE("bounds: a file that would be of too many tiles is named") {
  const test::TempDir dir;
  const auto error = error_of([&] {
    test::writer<double>(dir / "m.dbdf", 1, kMany, {.tile = TileShape{256, 256}});
  });
  REQUIRE(error);
  CHECK(error->code() == Errc::invalid_argument);
  CHECK(error->file() == (dir / "m.dbdf").string());
  CHECK(error->detail() ==
        "more than 16777216 strips of columns would be needed; choose larger tiles");
}

TEST_CASE("bounds: a listed block lies inside the object and the file, or its entry is blamed") {
  const test::TempDir dir;
  const auto sound = two_tiles(dir);
  const std::size_t entry = index_start(sound) + 64;
  const std::string option = "; repair the file to rebuild its index";

  const Error far = listing_error(dir, 64, std::uint64_t{1} << 63);  // rx of the second
  CHECK(far.code() == Errc::corrupt);
  CHECK(far.offset() == entry + 64);
  CHECK(far.detail() ==
        "the index has a block of 1 x 4 cells at (9223372036854775808, 0), outside the 2 x 4 cells "
        "(R2)" +
            option);
  const Error tall = listing_error(dir, 48, std::uint32_t{4'000'000'000});
  CHECK(tall.offset() == entry);
  CHECK(tall.detail() ==
        "the index has a block of 4000000000 x 4 cells at (0, 0), outside the 2 x 4 cells (R2)" +
            option);
  const Error out = listing_error(dir, 16, std::uint64_t{sound.size()});
  CHECK(out.offset() == entry);
  CHECK(out.detail() == "the index has a block of " + std::to_string(word(sound, entry + 24)) +
                            " bytes at byte " + std::to_string(sound.size()) + " of a file of " +
                            std::to_string(sound.size()) + " (R4)" + option);
  const Error long_one = listing_error(dir, 24, ~std::uint64_t{0});
  CHECK(long_one.offset() == entry);
}

TEST_CASE("bounds: more stored values than the file has bytes are not believed") {
  const test::TempDir dir;
  auto bytes = two_tiles(dir);
  const std::size_t start = index_start(bytes);
  set(bytes, start + 40, std::uint64_t{1'000'000'000'000});
  hash_again(bytes);
  const Matrix m = Matrix::open(dir.write("lie.dbdf", bytes));
  const auto error = error_of([&] { m.counts(); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
  CHECK(error->offset() == start);
  CHECK(error->detail() == "the index counts 1000000000000 stored values in a file of " +
                               std::to_string(bytes.size()) +
                               " bytes; repair the file to rebuild its index");
}

TEST_CASE("bounds: a file that is cut under a guard is io to whoever walks over its blocks") {
  for (const std::uint64_t size : {0, 1, 18}) {
    const test::TempDir dir;
    const auto path = dir.write("m.dbdf", two_tiles(dir));
    const Matrix m = Matrix::open(path, {.guard = true});
    std::filesystem::resize_file(path, size);
    const auto error = error_of([&] {
      for (const BlockInfo& block : m.blocks()) static_cast<void>(block);
    });
    REQUIRE(error);
    CHECK(error->code() == Errc::io);
    CHECK(error->detail().find("truncated to " + std::to_string(size) + " byte") !=
          std::string::npos);
  }
}
