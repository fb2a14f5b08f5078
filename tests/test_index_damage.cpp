// An index and a block of one file damaged together: what is left of the index must still protect
// the block.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "tests/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support.h"

using namespace dapple;
using test::Image;
using test::kLine;
using test::kPosition;
using test::lines;
using test::TempDir;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kInFront = 26;

// A matrix of 12 x 10 values in six tiles, half of them dense; where its index is.
struct Indexed {
  Bytes bytes;
  std::uint64_t payload = 0;  // of the index
  BlockInfo first;            // the block at (0, 0)

  explicit Indexed(const TempDir& dir) {
    WriteOptions options;
    options.tile = TileShape{4, 5};
    options.sync = false;
    options.overwrite = true;
    auto w = test::writer<std::int32_t>(dir / "m.dbdf", 12, 10, options);
    for (std::uint32_t rx = 0; rx < 12; rx += 4) {
      std::vector<std::int32_t> cells(20);
      for (std::int32_t i = 0; i < 20; ++i) cells[static_cast<std::size_t>(i)] = i;
      w.put<std::int32_t>({rx, 0}, {cells.data(), 4, 5, 5});
      std::fill(cells.begin(), cells.end() - 2, 0);
      w.put<std::int32_t>({rx, 5}, {cells.data(), 4, 5, 5});
    }
    w.finish();
    bytes = test::read_bytes(dir / "m.dbdf");
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + bytes.size() - kLine + 8, 8);
    payload = bytes.size() - size;
    first = test::block_info(dir / "m.dbdf", {0, 0});
  }

  // With one bit of cell (0, 2) flipped, which was 2.
  Bytes with_damaged_block() const {
    Bytes damaged = bytes;
    damaged[first.offset + 10 + 2] ^= std::byte{4};
    return damaged;
  }
};

OpenOptions checking(Check check) {
  OpenOptions options;
  options.format = "dbdf";
  options.check = check;
  return options;
}

WriteOptions unsynced() {
  WriteOptions options;
  options.sync = false;
  options.overwrite = true;
  return options;
}

constexpr std::string_view kUnusable =
    "the index is damaged, so the hashes that were to be checked are lost; repair the file to "
    "rebuild it";
constexpr std::string_view kBadTrailer =
    "the index trailer does not match its hash or the file, which is read without its index; "
    "repair "
    "the file to rebuild it";
constexpr std::string_view kHashesLost =
    "the index is damaged, and with it the hashes that would show damage inside of blocks";

}  // namespace

TEST_CASE("index damage: a bit of the index and one of a block are never both unseen") {
  const TempDir dir;
  const Indexed file(dir);
  fuzz::MemoryFile memory;
  Bytes damaged = file.with_damaged_block();
  const std::uint64_t entry = file.payload + kLine;  // of the block itself: nothing else knows it
  for (std::uint64_t at = file.payload - kInFront; at < damaged.size(); ++at) {
    if (at >= entry && at < entry + kLine) continue;
    const bool tells_index = at < file.payload + 8 || at >= damaged.size() - kLine;
    for (std::uint64_t bit = 0; bit < 8; ++bit) {
      if (!tells_index && bit != at % 8) continue;
      CAPTURE(at - file.payload);
      CAPTURE(bit);
      damaged[at] ^= std::byte{1} << bit;
      memory.set(damaged);
      for (const Check check : {Check::first_touch, Check::always}) {
        std::vector<std::int32_t> cell;
        const auto error = test::error_of([&] {
          cell = Matrix::open(memory.path(), checking(check)).read<std::int32_t>({{0, 1}, {2, 3}});
        });
        REQUIRE(error);
        CHECK(error->code() == Errc::corrupt);
      }
      OpenOptions reading;
      reading.format = "dbdf";
      const auto found = verify(memory.path(), Level::payload, reading).findings;
      CHECK(!found.empty());
      // With the hashes gone, nothing can show which block it is.
      const RepairReport report = repair(memory.path(), dir / "out", unsynced(), reading);
      CHECK(report.blocks_kept >= 5);
      CHECK(!report.lost.empty());
      damaged[at] ^= std::byte{1} << bit;
    }
  }
}

TEST_CASE("index damage: an unusable trailer is named") {
  const TempDir dir;
  const Indexed file(dir);
  Bytes damaged = file.with_damaged_block();
  const std::uint64_t trailer = damaged.size() - kLine;
  const std::string end = std::to_string(trailer) + ": ";
  for (const std::uint64_t field : {8, 16, 48, 56}) {  // bytes, count, hash, magic
    CAPTURE(field);
    damaged[trailer + field] ^= std::byte{1};
    const auto path = dir.write("damaged.dbdf", damaged);
    for (const Check check : {Check::first_touch, Check::always}) {
      const Error error =
          test::required_error(test::error_of([&] { open(path, checking(check)); }));
      CHECK(error.code() == Errc::corrupt);
      CHECK(lines({&error, 1}) == std::vector{end + std::string(kUnusable)});
    }
    CHECK(std::get<Matrix>(open(path)).index_origin() == IndexOrigin::scanned);
    CHECK(lines(verify(path, Level::payload).findings) ==
          std::vector{end + std::string(kBadTrailer)});
    CHECK(lines(repair(path, dir / "out", unsynced()).lost) ==
          std::vector{end + std::string(kHashesLost)});
    damaged[trailer + field] ^= std::byte{1};
  }
}

TEST_CASE("index damage: a sidecar knows no hashes and is no way around a damaged index") {
  const TempDir dir;
  const Indexed file(dir);
  Bytes damaged = file.bytes;
  damaged.back() ^= std::byte{1};
  const auto path = dir.write("damaged.dbdf", damaged);
  write_sidecar(path);
  CHECK(Matrix::open(path).index_origin() == IndexOrigin::sidecar);
  const Error error =
      test::required_error(test::error_of([&] { Matrix::open(path, checking(Check::always)); }));
  CHECK(lines({&error, 1}) ==
        std::vector{std::to_string(damaged.size() - kLine) + ": " + std::string(kUnusable)});
}

TEST_CASE("index damage: files that never had an index open with hashes asked for") {
  const TempDir dir;
  SUBCASE("plain") {
    const Image image =
        Image::matrix(2, 2, ValueType::u8).dense<std::uint8_t>({0, 0}, 2, 2, {1, 2, 3, 4});
    const auto path = dir.write("m.dbdf", image.bytes());
    const Matrix m = Matrix::open(path, checking(Check::always));
    CHECK(m.block({0, 0}).dense_view<std::uint8_t>()(1, 1) == 4);
    write_sidecar(path);
    CHECK(Matrix::open(path, checking(Check::always)).index_origin() == IndexOrigin::sidecar);
    CHECK(verify(path, Level::payload).findings.empty());
  }
  SUBCASE("whose last block holds the bytes of one that has") {
    const Indexed file(dir);
    std::vector<std::uint8_t> cells(file.bytes.size());
    std::memcpy(cells.data(), file.bytes.data(), cells.size());
    const auto size = static_cast<std::uint32_t>(cells.size());
    const Image image =
        Image::matrix(1, size, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, size, cells);
    const auto path = dir.write("outer.dbdf", image.bytes());
    CHECK(Matrix::open(path, checking(Check::always)).index_origin() == IndexOrigin::scanned);
    CHECK(verify(path, Level::payload).findings.empty());
    const RepairReport report = repair(path, dir / "out", unsynced());
    CHECK(report.blocks_kept == 1);
    CHECK(report.lost.empty());
  }
  SUBCASE("with auxiliary blocks of others") {
    Image image = Image::matrix(1, 2, ValueType::u8).dense<std::uint8_t>({0, 0}, 1, 2, {1, 2});
    image.block_header({~std::uint64_t{0}, ~std::uint64_t{0}}, 4, kLine, BlockKind::dense);
    image.value_type(ValueType::u8).text("ANOTHERS").zeros(4 * kLine - 8);
    const auto path = dir.write("m.dbdf", image.bytes());
    CHECK(Matrix::open(path, checking(Check::always)).counts().total == 1);
    CHECK(verify(path, Level::payload).findings.empty());
  }
}

TEST_CASE("index damage: of blocks that share a cell, all that are dropped are counted") {
  const TempDir dir;
  Image image = Image::matrix(1, 4, ValueType::u8);
  image.dense<std::uint8_t>({0, 0}, 1, 2, {11, 12}).dense<std::uint8_t>({0, 1}, 1, 2, {22, 23});
  const RepairReport report = repair(dir.write("m", image.bytes()), dir / "out", unsynced());
  CHECK(report.blocks_kept == 0);
  CHECK(report.blocks_lost == 2);
  CHECK(lines(report.lost) ==
        std::vector<std::string>{"63: blocks (0, 0) and (0, 1) both hold cell (0, 1) (R3)"});
}
