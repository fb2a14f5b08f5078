// The index of tiles of one type and shape: what it lists, a flag of old versions (FORMAT.md, "Bit
// 1"), and damage to any of its bits.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "dapple/dapple.h"
#include "lib/base/bytes.h"
#include "lib/io/hash.h"
#include "tests/check.h"
#include "tests/compare.h"
#include "tests/support.h"

using namespace dapple;
using test::TempDir;
using test::writer;

namespace {

constexpr std::size_t kIndexLine = 64, kFlagsAt = 44, kHashAt = 48;
constexpr std::uint32_t kOldFlag = 2;

std::uint32_t flags_of(const std::vector<std::byte>& bytes) {
  return detail::load_le<std::uint32_t>(bytes.data() + bytes.size() - kIndexLine + kFlagsAt);
}

void set_flags(std::vector<std::byte>& bytes, std::uint32_t flags) {
  std::byte* const trailer = bytes.data() + bytes.size() - kIndexLine;
  detail::store_le(trailer + kFlagsAt, flags);
  detail::store_le(trailer + kHashAt, detail::xxh3({trailer, kHashAt}, bytes.size()));
}

/// A matrix of i16, whose tiles of 4 x 4 cells are put in this order, each cell its own number and
/// negative in tiles that are `odd`, which are narrow otherwise.
struct TileLayout {
  std::uint64_t rows, cols;
  std::vector<std::uint64_t> order{};  // none: ascending
  std::uint64_t odd = ~std::uint64_t{0};
  bool narrow = true;
};

std::int16_t tile_cell(const TileLayout& layout, std::uint64_t row, std::uint64_t col) {
  const auto value = static_cast<std::int16_t>(1 + (row * layout.cols + col) % 100);
  const std::uint64_t across = (layout.cols + 3) / 4;
  return static_cast<std::int16_t>(row / 4 * across + col / 4 == layout.odd ? -value : value);
}

std::vector<std::byte> written_bytes(const TempDir& dir, const TileLayout& layout) {
  WriteOptions options;
  options.tile = {4, 4};
  options.kind = KindChoice::dense;
  options.narrow = layout.narrow;
  options.sync = false;
  options.overwrite = true;
  auto w = writer<std::int16_t>(dir / "m", layout.rows, layout.cols, options);
  const std::uint64_t across = (layout.cols + 3) / 4, tiles = (layout.rows + 3) / 4 * across;
  for (std::uint64_t i = 0; i < tiles; ++i) {
    const std::uint64_t k = layout.order.empty() ? i : layout.order[i];
    const BlockPos pos{k / across * 4, k % across * 4};
    const auto height =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(4, layout.rows - pos.rx));
    const auto width = static_cast<std::uint32_t>(std::min<std::uint64_t>(4, layout.cols - pos.cx));
    std::vector<std::int16_t> cells;
    for (std::uint64_t r = 0; r < height; ++r) {
      for (std::uint64_t c = 0; c < width; ++c) {
        cells.push_back(tile_cell(layout, pos.rx + r, pos.cx + c));
      }
    }
    w.put<std::int16_t>(pos, {cells.data(), height, width});
  }
  w.finish();
  return test::read_bytes(dir / "m");
}

/// Number of the cells that are not as they were put; those that throw corrupt count to `refused`.
std::uint64_t wrong_cells(const Matrix& m, const TileLayout& layout, std::uint64_t& refused) {
  std::uint64_t wrong = 0;
  refused = 0;
  for (std::uint64_t row = 0; row < layout.rows; ++row) {
    for (std::uint64_t col = 0; col < layout.cols; ++col) {
      const auto error = test::error_of([&] {
        const auto cell = m.read<std::int16_t>({{row, row + 1}, {col, col + 1}});
        wrong += cell[0] != tile_cell(layout, row, col);
      });
      refused += error && error->code() == Errc::corrupt;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("index of tiles: a listing, and a sidecar, name the blocks as their headers do") {
  const TempDir dir;
  const TileLayout layout{40, 16};
  written_bytes(dir, layout);
  ConvertOptions options;
  options.write.tile = {4, 4};
  options.write.kind = KindChoice::dense;
  options.write.plain = true;
  convert(open(dir / "m"), {}, dir / "plain.dbdf", options);
  write_sidecar(dir / "plain.dbdf");
  for (const char* name : {"m", "plain.dbdf"}) {
    CAPTURE(name);
    const Matrix m = Matrix::open(dir / name);
    CHECK(m.index_origin() == (name[0] == 'm' ? IndexOrigin::embedded : IndexOrigin::sidecar));
    std::uint64_t number = 0;
    for (const BlockInfo& info : m.blocks()) {
      CHECK(info.pos == BlockPos{number / 4 * 4, number % 4 * 4});
      CHECK(info.rows == 4);
      CHECK(info.cols == 4);
      CHECK(info.kind == BlockKind::dense);
      CHECK(info.value_type == ValueType::u8);
      CHECK(info.stored == 16);
      ++number;
    }
    CHECK(number == 40);
    std::uint64_t refused = 0;
    CHECK(wrong_cells(m, layout, refused) == 0);
    CHECK(refused == 0);
  }
}

TEST_CASE("index of tiles: the flag that 0.2 set for evenly spaced ones changes nothing") {
  const TempDir dir;
  const TileLayout layouts[] = {{12, 16}, {10, 14}, {12, 16, {}, 5}, {4, 12, {0, 2, 1}}};
  for (const TileLayout& layout : layouts) {
    auto bytes = written_bytes(dir, layout);
    CHECK((flags_of(bytes) & kOldFlag) == 0);
    set_flags(bytes, flags_of(bytes) | kOldFlag);
    test::write_bytes(dir / "m", bytes);
    CHECK(verify(dir / "m", Level::payload).findings.empty());
    CHECK(test::difference(dir / "m") == "");
    std::uint64_t refused = 0;
    CHECK(wrong_cells(Matrix::open(dir / "m"), layout, refused) == 0);
    CHECK(refused == 0);
  }
}

TEST_CASE("index of tiles: damage to any bit of the index shows no wrong cell") {
  const TempDir dir;
  const TileLayout layout{8, 12};
  const auto sound = written_bytes(dir, layout);
  const std::size_t index = sound.size() - (1 + 6 + 1) * kIndexLine;
  REQUIRE(std::memcmp(sound.data() + index, "DPL-INDX", 8) == 0);
  for (std::size_t byte = index; byte < sound.size(); ++byte) {
    for (const unsigned bit : {0U, 3U, 7U}) {
      CAPTURE(byte);
      CAPTURE(bit);
      auto bytes = sound;
      bytes[byte] ^= static_cast<std::byte>(1U << bit);
      // As somebody would make it: the trailer's own hash is right.
      if (byte >= sound.size() - kIndexLine && byte < sound.size() - kIndexLine + kHashAt) {
        set_flags(bytes, flags_of(bytes));
      }
      test::write_bytes(dir / "m", bytes);
      const auto error = test::error_of([&] {
        std::uint64_t refused = 0;
        CHECK(wrong_cells(Matrix::open(dir / "m"), layout, refused) == 0);
      });
      if (error) CHECK(error->code() == Errc::corrupt);
    }
  }
}
