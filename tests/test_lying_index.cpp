// Indexes whose hashes are right and whose entries lead astray.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/io/hash.h"
#include "tests/check.h"
#include "tests/fuzz/sign.h"
#include "tests/support.h"

using namespace dapple;
using detail::load_le, detail::store_le, detail::xxh3;
using test::Image;
using test::kLine;
using test::kPosition;
using test::lines;
using test::TempDir;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kDenseHeader = 10;
constexpr std::uint32_t kWidth = 64;

// Row 0 of a matrix of u16 holds a block header and a row of 99, as if row 1 stood there; the other
// rows are 7.
struct Forged {
  Bytes bytes;
  std::uint64_t entries = 0, fake = 0;  // byte of the index's first entry, and of the forged block

  Forged(const TempDir& dir, std::uint64_t rows) {
    Image forged;
    forged.dense<std::uint8_t>({1, 0}, 1, kWidth, std::vector<std::uint8_t>(kWidth, 99));
    std::vector<std::uint16_t> row(kWidth);
    std::memcpy(row.data(), forged.bytes().data(), forged.size());
    WriteOptions options;
    options.tile = TileShape{1, kWidth};
    options.kind = KindChoice::dense;
    options.narrow = false;
    options.sync = false;
    options.overwrite = true;
    auto w = test::writer<std::uint16_t>(dir / "m.dbdf", rows, kWidth, options);
    for (std::uint64_t r = 0; r < rows; ++r) {
      w.put<std::uint16_t>({r, 0}, {row.data(), 1, kWidth, kWidth});
      std::fill(row.begin(), row.end(), std::uint16_t{7});
    }
    w.finish();
    bytes = test::read_bytes(dir / "m.dbdf");
    entries = bytes.size() - load_le<std::uint64_t>(&bytes[bytes.size() - kLine + 8]) + kLine;
    fake = load_le<std::uint64_t>(entry(0) + 16) + kDenseHeader;
    // The entry of row 1 is that of the forged block.
    std::byte* const e = entry(1);
    store_le(e + 16, fake + kPosition);
    store_le(e + 24, std::uint64_t{kDenseHeader + kWidth});
    store_le(e + 32, std::uint64_t{kWidth});
    store_le(e + 40, xxh3({&bytes[fake], forged.size()}));
    e[56] = std::byte{1};
    e[57] = std::byte{1};
    fuzz::sign_index(bytes);
  }

  std::byte* entry(std::uint64_t number) { return &bytes[entries + number * kLine]; }
};

std::string other_entry(const Forged& file, std::string_view block) {
  return std::to_string(file.entries + kLine) + ": the index entry of block " + std::string(block) +
         " does not match the block";
}

}  // namespace

TEST_CASE("lying index: a body that is sound without its index is believed before it") {
  const TempDir dir;
  const Forged file(dir, 2);
  const auto path = dir.write("lie.dbdf", file.bytes);
  for (const Level level : {Level::structure, Level::payload}) {
    const VerifyReport found = verify(path, level);
    CHECK(lines(found.findings) == std::vector{other_entry(file, "(1, 0)")});
    CHECK(found.blocks == 2);
  }
  const RepairReport report = repair(path, dir / "out");
  CHECK(report.lost.empty());
  CHECK(report.blocks_kept == 2);
  const Matrix saved = Matrix::open(dir / "out");
  CHECK(saved.read<std::uint16_t>({{1, 2}, {0, 3}}) == std::vector<std::uint16_t>{7, 7, 7});
  CHECK(verify(dir / "out", Level::payload).findings.empty());
}

TEST_CASE("lying index: a damaged block is named beside it, and no other one is lost") {
  const TempDir dir;
  Forged file(dir, 3);
  const std::uint64_t last = load_le<std::uint64_t>(file.entry(2) + 16);
  SUBCASE("in its values") {
    file.bytes[last + kDenseHeader] ^= std::byte{1};
    const auto path = dir.write("lie.dbdf", file.bytes);
    const auto found = lines(verify(path, Level::payload).findings);
    REQUIRE(found.size() == 2);
    CHECK(found[1] ==
          std::to_string(file.entries) + ": the index names other blocks than those of the file");
    CHECK(repair(path, dir / "out").blocks_kept == 2);
  }
  SUBCASE("in its header") {
    file.bytes[last + 9] = std::byte{6};  // i16
    const auto path = dir.write("lie.dbdf", file.bytes);
    const RepairReport report = repair(path, dir / "out");
    CHECK(lines(report.lost) ==
          std::vector{std::to_string(last - kPosition) + ": the block header is not that of block "
                                                         "(2, 0), as the index has it"});
    CHECK(report.blocks_kept == 2);
  }
  const Matrix saved = Matrix::open(dir / "out");
  CHECK(saved.read<std::uint16_t>({{1, 2}, {0, 1}}) == std::vector<std::uint16_t>{7});
  CHECK(!saved.find_block({2, 0}));
}

TEST_CASE("lying index: a block whose damaged neighbour hides it is still found by the index") {
  const TempDir dir;
  WriteOptions options;
  options.tile = TileShape{1, kWidth};
  options.kind = KindChoice::dense;
  options.narrow = false;
  options.sync = false;
  auto w = test::writer<std::uint8_t>(dir / "m.dbdf", 3, kWidth, options);
  const std::vector<std::uint8_t> row(kWidth, 5);
  for (std::uint64_t r = 0; r < 3; ++r)
    w.put<std::uint8_t>({r, 0}, {row.data(), 1, kWidth, kWidth});
  w.finish();
  Bytes bytes = test::read_bytes(dir / "m.dbdf");
  const BlockInfo first = test::block_info(dir / "m.dbdf", {0, 0});
  const BlockInfo second = test::block_info(dir / "m.dbdf", {1, 0});
  REQUIRE(second.offset - first.offset == 128);
  store_le(&bytes[first.offset], std::uint32_t{3});  // one bit: as long as both and the padding
  const auto path = dir.write("hidden.dbdf", bytes);
  CHECK(repair(path, dir / "out").blocks_kept == 2);
  const Matrix saved = Matrix::open(dir / "out");
  CHECK(!saved.find_block({0, 0}));
  CHECK(saved.find_block({1, 0}));
}
