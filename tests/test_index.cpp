#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "lib/dbdf/index_block.h"
#include "lib/index/block_index.h"
#include "lib/io/local/local_file.h"
#include "tests/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/partition.h"
#include "tests/support.h"

using namespace dapple;
using detail::BlockIndex;
using detail::Entry;
using detail::EntryTable;
using test::Partition;
using test::Rng;

namespace {

EntryTable table_of(const std::vector<Region>& blocks) {
  EntryTable entries;
  std::uint64_t offset = 100;
  for (const Region& cells : blocks) {
    Entry e;
    e.pos = {cells.rows.begin, cells.cols.begin};
    e.rows = static_cast<std::uint32_t>(cells.rows.size());
    e.cols = static_cast<std::uint32_t>(cells.cols.size());
    e.offset = offset;
    e.bytes = 9;
    offset += 25;
    entries.push_back(e);
  }
  return entries;
}

BlockIndex index_of(const Partition& p) {
  return BlockIndex::from_entries(table_of(p.blocks), p.rows, p.cols, "some file");
}

// The same index as bytes at the end of a file, used in place.
BlockIndex in_place(const BlockIndex& index, const Partition& p, const test::TempDir& dir) {
  std::vector<std::byte> bytes(64);
  const std::uint64_t size = bytes.size() + detail::dbdf::index_bytes(index);
  detail::dbdf::emit_index(index, 0, size, detail::dbdf::Hints::none,
                           [&](std::span<const std::byte> part) {
                             bytes.insert(bytes.end(), part.begin(), part.end());
                           });
  REQUIRE(bytes.size() == size);
  auto file = detail::LocalFile::open(dir.write("index", bytes));
  auto trailer = detail::dbdf::find_trailer(*file, 64);
  REQUIRE(trailer);
  trailer->place.object = {{0, p.rows}, {0, p.cols}};
  CHECK(trailer->place.grid.has_value() == index.grid().has_value());
  if (trailer->place.grid) {
    CHECK(trailer->place.grid->tile == index.grid()->tile);
    trailer->place.grid = index.grid();  // completed from the object's shape when a file is opened
  }
  CHECK(detail::dbdf::is_whole(*file, *trailer));
  CHECK(trailer->place.count == p.blocks.size());
  return detail::dbdf::index_at(file, *trailer, IndexOrigin::embedded);
}

// Every question about a partition, answered by looking at all of its blocks.
void hold_against_brute_force(const BlockIndex& index, const Partition& p, Rng& rng) {
  REQUIRE(index.size() == p.blocks.size());
  for (std::uint64_t i = 0; i < p.blocks.size(); ++i) {
    CHECK(index.entry(index.in_file_order(i)).cells() == p.blocks[i]);
    if (i > 0) CHECK(index.entry(i - 1).pos < index.entry(i).pos);
  }
  for (std::uint64_t row = 0; row < p.rows; ++row) {
    for (std::uint64_t col = 0; col < p.cols; ++col) {
      const auto block = std::find_if(p.blocks.begin(), p.blocks.end(), [&](const Region& cells) {
        return cells.contains(row, col);
      });
      const auto number = index.cover(row, col);
      const auto found = index.find({row, col});
      REQUIRE(number.has_value() == (block != p.blocks.end()));
      if (number) REQUIRE(index.entry(*number).cells() == *block);
      const bool first =
          block != p.blocks.end() && block->rows.begin == row && block->cols.begin == col;
      REQUIRE(found.has_value() == first);
      if (found) REQUIRE(found == number);
    }
  }
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t r = rng.below(p.rows + 1), c = rng.below(p.cols + 1);
    const Region region{{r, rng.between(r, p.rows)}, {c, rng.between(c, p.cols)}};
    std::vector<Region> touching, expected;
    const auto numbers = index.touching(region);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    for (const std::uint64_t number : numbers) touching.push_back(index.entry(number).cells());
    for (const Region& cells : p.blocks) {
      if (!intersect(cells, region).empty()) expected.push_back(cells);
    }
    std::sort(expected.begin(), expected.end(), [](const Region& a, const Region& b) {
      return BlockPos{a.rows.begin, a.cols.begin} < BlockPos{b.rows.begin, b.cols.begin};
    });
    REQUIRE(touching == expected);
  }
}

}  // namespace

TEST_CASE("index: lookups by cell, by position and by region equal a search of all blocks") {
  Rng rng(20);
  for (const std::uint64_t edge : {3U, 8U, 24U}) {
    for (const Partition& p : test::partitions(rng, edge)) {
      CAPTURE(edge);
      CAPTURE(p.name);
      const test::TempDir dir;
      const BlockIndex index = index_of(p);
      hold_against_brute_force(index, p, rng);
      hold_against_brute_force(in_place(index, p, dir), p, rng);
    }
  }
}

TEST_CASE("index: blocks are found in long bands, however their widths are distributed") {
  Rng rng(22);
  constexpr std::uint64_t kEnd = 2000;
  std::vector<std::uint64_t> cuts;
  SUBCASE("at random") {
    for (std::uint64_t at = 0; at < kEnd; at += rng.between(1, 9)) cuts.push_back(at);
  }
  SUBCASE("bunched in front") {
    for (std::uint64_t at = 0; at < 300; ++at) cuts.push_back(at);
  }
  SUBCASE("bunched at the end") {
    cuts = {0};
    for (std::uint64_t at = kEnd - 300; at < kEnd; ++at) cuts.push_back(at);
  }
  SUBCASE("wider and wider") {
    for (std::uint64_t k = 0; k * k < kEnd; ++k) cuts.push_back(k * k);
  }
  SUBCASE("doubling from either end") {
    for (std::uint64_t at = 1; at < kEnd / 2; at *= 2) {
      cuts.push_back(at);
      cuts.push_back(kEnd - at);
    }
    std::sort(cuts.begin(), cuts.end());
  }
  for (const bool by_row : {false, true}) {
    for (const bool holes : {false, true}) {
      CAPTURE(by_row);
      CAPTURE(holes);
      Partition p{"bands", by_row ? kEnd : 3, by_row ? 3 : kEnd, {}};
      for (std::size_t k = 0; k < cuts.size(); ++k) {
        if (holes && k % 3 == 1) continue;
        const Range band{cuts[k], k + 1 < cuts.size() ? cuts[k + 1] : kEnd};
        const Range across{k % 2, 3};
        p.blocks.push_back(by_row ? Region{band, across} : Region{across, band});
      }
      const test::TempDir dir;
      const BlockIndex index = index_of(p);
      hold_against_brute_force(index, p, rng);
      hold_against_brute_force(in_place(index, p, dir), p, rng);
    }
  }
}

TEST_CASE("index: a regular tiling has a grid, in whatever order its tiles come") {
  Rng rng(21);
  const auto grid_of = [](const Partition& p) { return index_of(p).grid(); };
  Partition p = test::regular(10, 7, {4, 3});
  const Grid grid{3, 3, {4, 3}};
  CHECK(grid_of(p) == grid);
  test::shuffle(p.blocks, rng);
  CHECK(grid_of(p) == grid);
  CHECK(index_of(p).tree().empty());
  CHECK(grid_of(test::regular(10, 7, {10, 7})) == Grid{1, 1, {10, 7}});
  CHECK(grid_of(test::regular(4, 7, {1, 7})) == Grid{4, 1, {1, 7}});

  SUBCASE("not when a tile is missing") { p.blocks.pop_back(); }
  SUBCASE("not when a tile is cut in two") {
    const Region whole = p.blocks.back();
    p.blocks.back().rows.end = whole.rows.begin + 1;
    p.blocks.push_back({{whole.rows.begin + 1, whole.rows.end}, whole.cols});
  }
  CHECK(grid_of(p).has_value() == (p.blocks.size() == 9));
}

TEST_CASE("index: tiles at the far end of the largest object are found") {
  constexpr std::uint64_t kRows = std::uint64_t{1} << 60;
  const Region corner{{kRows - 2, kRows}, {kRows - 3, kRows}};
  const Region middle{{5, 5 + 0xFFFFFFFFULL}, {kRows / 2, kRows / 2 + 0xFFFFFFFFULL}};
  const Partition p{"far", kRows, kRows, {corner, middle}};
  const BlockIndex index = index_of(p);
  CHECK(index.entry(index.cover(kRows - 1, kRows - 1).value()).cells() == corner);
  CHECK(index.entry(index.cover(5 + 0xFFFFFFFEULL, kRows / 2).value()).cells() == middle);
  CHECK(!index.cover(kRows - 3, kRows - 1));
  CHECK(!index.cover(5 + 0xFFFFFFFFULL, kRows / 2));
  CHECK(index.touching({{0, kRows}, {0, kRows}}).size() == 2);
  const BlockIndex tiles = index_of({"tall", kRows, 1, {{{0, 0xFFFFFFFFULL}, {0, 1}}}});
  CHECK(tiles.cover(0xFFFFFFFEULL, 0).has_value());
  CHECK(!tiles.cover(kRows - 1, 0));
}

TEST_CASE("index: blocks that share a cell are refused, the later one named (R3)") {
  Rng rng(22);
  std::vector<Partition> all = test::partitions(rng, 12);
  for (Partition& p : all) {
    if (p.blocks.empty()) continue;
    CAPTURE(p.name);
    const Region victim = p.blocks[rng.below(p.blocks.size())];
    const std::uint64_t row = rng.between(victim.rows.begin, victim.rows.end - 1);
    const std::uint64_t col = rng.between(victim.cols.begin, victim.cols.end - 1);
    p.blocks.push_back({{row, row + 1}, {col, col + 1}});
    const auto error = test::error_of([&] { index_of(p); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    CHECK(error->file() == "some file");
    CHECK(error->offset() == 100 + 25 * (p.blocks.size() - 1));
    CHECK(error->detail() == "blocks " + detail::text({victim.rows.begin, victim.cols.begin}) +
                                 " and " + detail::text({row, col}) + " both hold cell " +
                                 detail::text({row, col}) + " (R3)");
  }
}

TEST_CASE("index: random overlapping rectangles are refused exactly when two share a cell (R3)") {
  Rng rng(23);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    Partition p{"random", 40, 40, {}};
    for (std::uint64_t n = rng.between(2, 8); n > 0; --n) {
      const std::uint64_t r = rng.below(40), c = rng.below(40);
      p.blocks.push_back({{r, std::min<std::uint64_t>(40, r + rng.between(1, 12))},
                          {c, std::min<std::uint64_t>(40, c + rng.between(1, 12))}});
    }
    bool overlap = false;
    for (std::size_t i = 0; i < p.blocks.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        overlap |= !intersect(p.blocks[i], p.blocks[k]).empty();
      }
    }
    CHECK(test::error_of([&] { index_of(p); }).has_value() == overlap);
    refused += overlap;
  }
  CHECK(refused > 50);
  CHECK(refused < 350);
}

TEST_CASE("index: counts are those of the blocks, in memory and in place") {
  Partition p = test::pinwheels(2);
  EntryTable entries = table_of(p.blocks);
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    Entry e = entries[i];
    e.kind = static_cast<BlockKind>(i % 3);
    e.stored = i;
    entries.set(i, e);
  }
  const test::TempDir dir;
  const BlockIndex index = BlockIndex::from_entries(std::move(entries), p.rows, p.cols, "");
  for (const BlockCounts& counts : {index.counts(), in_place(index, p, dir).counts()}) {
    CHECK(counts.total == 20);
    CHECK(counts.empty == 7);
    CHECK(counts.dense == 7);
    CHECK(counts.csr == 6);
    CHECK(counts.coo == 0);
    CHECK(counts.stored == 190);
  }
}

// Trees that somebody wrote to mislead: every word of a sound one replaced by every kind of value.
TEST_CASE("index: a lying cover tree gives a block that covers the cell, nothing, or an error") {
  Rng rng(24);
  for (const Partition& p : {test::pinwheels(3), test::guillotine(rng, 14, 14, 20), test::spiral(5),
                             test::banded(rng, 9, 9)}) {
    CAPTURE(p.name);
    const BlockIndex sound = index_of(p);
    const std::uint64_t size = detail::dbdf::index_bytes(sound) + 64;
    std::vector<std::byte> bytes(64);
    detail::dbdf::emit_index(sound, 0, size, detail::dbdf::Hints::none,
                             [&](std::span<const std::byte> part) {
                               bytes.insert(bytes.end(), part.begin(), part.end());
                             });
    const std::size_t tree = 64 + 64 + 64 * p.blocks.size() + 8 * sound.file_order().size();
    const std::uint64_t words = sound.tree().size();
    fuzz::MemoryFile lying;
    for (std::uint64_t w = 0; w < words; ++w) {
      const std::uint64_t old = sound.tree()[w];
      for (const std::uint64_t lie :
           {std::uint64_t{0}, old + 1, old - 1, old + 2, old ^ 2, std::uint64_t{2}, 2 * words - 2,
            2 * words, 2 * p.blocks.size() + 1, old << 32, ~std::uint64_t{0}, rng.bits()}) {
        std::vector<std::byte> damaged = bytes;
        detail::store_le(damaged.data() + tree + 8 * w, lie);
        lying.set(damaged);
        const auto file = detail::LocalFile::open(lying.path());
        const auto trailer = detail::dbdf::find_trailer(*file, 64);
        REQUIRE(trailer);
        if (lie != old) REQUIRE(!detail::dbdf::is_whole(*file, *trailer));
        const BlockIndex index = detail::dbdf::index_at(file, *trailer, IndexOrigin::embedded);
        for (int i = 0; i < 12; ++i) {
          const std::uint64_t row = rng.below(p.rows), col = rng.below(p.cols);
          test::error_of([&] {
            const auto number = index.cover(row, col);
            if (number) CHECK(index.entry(*number).cells().contains(row, col));
            const auto found = index.find({row, col});
            if (found) CHECK(index.entry(*found).pos == BlockPos{row, col});
          });
          test::error_of([&] {
            const Region region{{row, p.rows}, {col, p.cols}};
            for (const std::uint64_t number : index.touching(region)) {
              CHECK(!intersect(index.entry(number).cells(), region).empty());
            }
          });
        }
      }
    }
  }
}

namespace {

// An index of one block of a single cell, with this cover tree.
BlockIndex index_with(const std::vector<std::uint64_t>& tree, const test::TempDir& dir) {
  const EntryTable entries = table_of({{{0, 1}, {0, 1}}});
  std::vector<std::byte> bytes(64);
  bytes.insert(bytes.end(), entries.data(), entries.data() + Entry::kBytes);
  const auto words = std::as_bytes(std::span(tree));
  bytes.insert(bytes.end(), words.begin(), words.end());
  const auto file = detail::LocalFile::open(dir.write("tree", bytes));
  file->expect_reads();
  BlockIndex::Place place;
  place.entries = 64;
  place.count = 1;
  place.tree_words = tree.size();
  return BlockIndex::in_place(file, place);
}

// An index whose tree is a ladder: every node sends all of its bands to the next node, so that
// there are `fan`^depth ways through it.
BlockIndex ladder(std::uint64_t depth, std::uint64_t fan, const test::TempDir& dir) {
  std::vector<std::uint64_t> tree{2};
  for (std::uint64_t level = 0; level < depth; ++level) {
    const std::uint64_t next = tree.size() + 1 + 2 * fan;
    tree.push_back(4 * fan);  // bands of rows
    for (std::uint64_t i = 0; i < fan; ++i) tree.push_back(i);
    for (std::uint64_t i = 0; i < fan; ++i) tree.push_back(level + 1 == depth ? 0 : 2 * next);
  }
  return index_with(tree, dir);
}

}  // namespace

TEST_CASE("index: a pinned node that is reached again and again ends in an error, soon") {
  constexpr std::uint64_t kFan = 1 << 18;
  std::vector<std::uint64_t> tree{2, 4 * kFan};
  for (std::uint64_t i = 0; i < kFan; ++i) tree.push_back(i);
  for (std::uint64_t i = 0; i < kFan; ++i) tree.push_back(2 * (2 + 2 * kFan));
  tree.insert(tree.end(), {4 * kFan + 2, 0, 0, 0});
  for (std::uint64_t i = 0; i < kFan; ++i) tree.push_back(i);
  tree.resize(tree.size() + kFan);  // every one of them is block 0
  const test::TempDir dir;
  const BlockIndex index = index_with(tree, dir);
  const auto error = test::error_of([&] { index.touching({{1, kFan}, {0, kFan}}); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
}

TEST_CASE("index: a tree with more ways than nodes is given up") {
  const test::TempDir dir;
  for (const auto& [depth, fan] : {std::pair{60, 2}, std::pair{3, 20000}, std::pair{1000, 60}}) {
    const BlockIndex index =
        ladder(static_cast<std::uint64_t>(depth), static_cast<std::uint64_t>(fan), dir);
    const auto error = test::error_of([&] { index.touching({{0, 1u << 20}, {0, 1}}); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    CHECK(!index.cover(0, 0));
  }
}
