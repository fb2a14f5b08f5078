// Blocks found one by one become the index that a table of all their entries becomes, whether they
// run on evenly (and no entry is kept) or not, wherever they stop to.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "lib/dbdf/index_block.h"
#include "lib/index/found_blocks.h"
#include "tests/support.h"

using namespace dapple;
using detail::BlockIndex;
using detail::Entry;

namespace {

struct Layout {
  std::uint64_t rows, cols;
  TileShape tile;
  ValueType type;
  std::uint64_t header, between;  // bytes in front of a block's cells, and in front of that
};

// The tiles of a file as `layout` tells, from its top left to its bottom right.
std::vector<Entry> tiles_of(const Layout& layout) {
  std::vector<Entry> entries;
  std::uint64_t at = 19;
  for (std::uint64_t rx = 0; rx < layout.rows; rx += layout.tile.rows) {
    for (std::uint64_t cx = 0; cx < layout.cols; cx += layout.tile.cols) {
      Entry e;
      e.pos = {rx, cx};
      e.rows = static_cast<std::uint32_t>(std::min(layout.tile.rows + 0ul, layout.rows - rx));
      e.cols = static_cast<std::uint32_t>(std::min(layout.tile.cols + 0ul, layout.cols - cx));
      e.kind = BlockKind::dense;
      e.value_type = layout.type;
      e.stored = std::uint64_t{e.rows} * e.cols;
      e.offset = at + layout.between;
      e.bytes = layout.header + e.stored * size_of(layout.type);
      at = e.offset + e.bytes;
      entries.push_back(e);
    }
  }
  return entries;
}

const std::vector<Layout> kLayouts = {
    {6, 8, {2, 2}, ValueType::f64, 10, 16},   // even throughout
    {7, 9, {2, 4}, ValueType::f32, 10, 16},   // short tiles at both edges
    {5, 1, {2, 1}, ValueType::u8, 10, 16},    // one column
    {1, 10, {1, 3}, ValueType::i16, 10, 41},  // one row, and something between the blocks
    {4, 4, {4, 4}, ValueType::u32, 10, 16},   // one tile
    {3, 2, {1, 1}, ValueType::i64, 0, 0},     // a cell each, side by side
};

BlockIndex found(const std::vector<Entry>& entries, const Layout& layout, std::uint64_t expected) {
  detail::FoundBlocks blocks(layout.rows, layout.cols);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 3) blocks.expect(expected);
    blocks.add(entries[i]);
  }
  CHECK(blocks.size() == entries.size());
  return std::move(blocks).make_index("some file");
}

BlockIndex tabled(const std::vector<Entry>& entries, const Layout& layout) {
  detail::EntryTable table;
  for (const Entry& e : entries) table.push_back(e);
  return BlockIndex::from_entries(std::move(table), layout.rows, layout.cols, "some file");
}

std::vector<std::byte> emitted(const BlockIndex& index) {
  std::vector<std::byte> bytes;
  detail::dbdf::emit_index(index, 7, 1000, detail::dbdf::Hints::none,
                           [&](std::span<const std::byte> part) {
                             bytes.insert(bytes.end(), part.begin(), part.end());
                           });
  CHECK(bytes.size() == detail::dbdf::index_bytes(index));
  return bytes;
}

bool keeps_entries(const BlockIndex& index) {
  std::vector<std::byte> scratch(Entry::kBytes);
  return index.entry_bytes({0, 1}, scratch).data() != scratch.data();
}

// What is emitted holds every entry, their counts, the grid or the tree, and the order.
void hold_together(const std::vector<Entry>& entries, const Layout& layout,
                   const std::vector<std::uint64_t>& all_expected = {0, 3, 100}) {
  for (const std::uint64_t expected : all_expected) {
    const BlockIndex index = found(entries, layout, expected), wanted = tabled(entries, layout);
    REQUIRE(index.size() == wanted.size());
    CHECK(emitted(index) == emitted(wanted));
    CHECK(index.origin() == IndexOrigin::scanned);
    CHECK(index.grid().has_value() == wanted.grid().has_value());
    for (std::uint64_t row = 0; row < layout.rows; ++row) {
      for (std::uint64_t col = 0; col < layout.cols; ++col) {
        CHECK(index.cover(row, col) == wanted.cover(row, col));
      }
    }
    for (std::uint64_t i = 0; i < index.size(); ++i) {
      CHECK(index.in_file_order(i) == wanted.in_file_order(i));
    }
  }
}

}  // namespace

TEST_CASE("found blocks: of an even run no entry is kept, and each is what it was") {
  for (const Layout& layout : kLayouts) {
    CAPTURE(layout.rows);
    const std::vector<Entry> entries = tiles_of(layout);
    hold_together(entries, layout);
    CHECK_FALSE(keeps_entries(found(entries, layout, 0)));
    CHECK(keeps_entries(tabled(entries, layout)));
  }
}

TEST_CASE("found blocks: a run that ends anywhere, in any way, goes on as a table") {
  struct Change {
    const char* name;
    std::function<void(std::vector<Entry>&, std::size_t)> apply;
  };
  const std::vector<Change> changes = {
      {"another type", [](auto& all, std::size_t i) { all[i].value_type = ValueType::u64; }},
      {"a sparse block", [](auto& all, std::size_t i) { all[i].kind = BlockKind::csr; }},
      {"an empty block",
       [](auto& all, std::size_t i) {
         all[i].kind = BlockKind::empty;
         all[i].value_type = ValueType::u8;
         all[i].stored = 0;
         all[i].bytes = 9;
       }},
      {"something in front of it",
       [](auto& all, std::size_t i) {
         for (std::size_t k = i; k < all.size(); ++k) all[k].offset += 25;
       }},
      {"a smaller block",
       [](auto& all, std::size_t i) {
         Entry& e = all[i];
         if (e.rows == 1) return;
         --e.rows;
         e.stored -= e.cols;
         e.bytes -= e.cols * size_of(e.value_type);
       }},
      {"the next one first",
       [](auto& all, std::size_t i) {
         if (i + 1 < all.size()) std::swap(all[i].pos, all[i + 1].pos);
         if (i + 1 < all.size()) std::swap(all[i].rows, all[i + 1].rows);
         if (i + 1 < all.size()) std::swap(all[i].cols, all[i + 1].cols);
       }},
      {"one that is missing",
       [](auto& all, std::size_t i) { all.erase(all.begin() + static_cast<std::ptrdiff_t>(i)); }},
      {"nothing more", [](auto& all, std::size_t i) { all.resize(i); }},
  };
  for (const Layout& layout : kLayouts) {
    const std::vector<Entry> even = tiles_of(layout);
    for (const Change& change : changes) {
      CAPTURE(change.name);
      for (std::size_t i = 0; i < even.size(); ++i) {
        CAPTURE(i);
        std::vector<Entry> entries = even;
        change.apply(entries, i);
        hold_together(entries, layout);
      }
    }
  }
}

TEST_CASE("found blocks: two that share a cell are refused") {
  const Layout& layout = kLayouts[0];
  std::vector<Entry> entries = tiles_of(layout);
  entries[5].pos = entries[2].pos;
  const auto error = test::error_of([&] { found(entries, layout, 0); });
  REQUIRE(error);
  CHECK(error->code() == Errc::corrupt);
  CHECK(error->detail() == test::error_of([&] { tabled(entries, layout); })->detail());
}

// A file that begins with small blocks lets expect far more than it has.
TEST_CASE("found blocks: what is expected is a hint, whatever memory it would take") {
  const Layout& layout = kLayouts[1];
  std::vector<Entry> entries = tiles_of(layout);
  hold_together(entries, layout, {~std::uint64_t{0}, std::uint64_t{1} << 57});
  entries[1].kind = BlockKind::csr;
  hold_together(entries, layout, {~std::uint64_t{0}, std::uint64_t{1} << 57});
}
