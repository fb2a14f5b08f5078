#include "lib/index/block_index.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "lib/base/bytes.h"
#include "lib/index/cover_tree.h"
#include "lib/index/entry_summary.h"
#include "lib/index/overlap.h"
#include "lib/io/hash.h"

namespace dapple::detail {

BlockIndex::BlockIndex(Entries entries, const Region& object, const std::optional<Grid>& grid,
                       IndexOrigin origin)
    : entries_(std::move(entries)), object_(object), origin_(origin), grid_(grid) {}

BlockIndex BlockIndex::in_memory(Entries entries, const EntrySummary& summary) {
  BlockIndex index(std::move(entries), summary.object(), summary.grid(), IndexOrigin::scanned);
  index.counts_ = summary.counts();
  return index;
}

BlockIndex BlockIndex::from_entries(EntryTable entries, std::uint64_t rows, std::uint64_t cols,
                                    const std::string& file, IndexOrigin origin) {
  EntrySummary summary(rows, cols);
  for (std::uint64_t i = 0; i < entries.size(); ++i) summary.see(entries[i]);
  BlockIndex index = from_entries(std::move(entries), summary, file);
  index.origin_ = origin;
  return index;
}

BlockIndex BlockIndex::from_entries(EntryTable entries, const EntrySummary& summary,
                                    const std::string& file) {
  const std::uint64_t n = entries.size();
  if (!summary.sorted()) {
    std::vector<std::uint64_t> by_key(n), order(n);
    std::iota(by_key.begin(), by_key.end(), 0);
    std::sort(by_key.begin(), by_key.end(), [&](std::uint64_t a, std::uint64_t b) {
      const BlockPos pa = entries[a].pos, pb = entries[b].pos;
      return pa != pb ? pa < pb : a < b;
    });
    EntryTable sorted;
    sorted.reserve(n);
    EntrySummary again = summary.of_none();
    for (std::uint64_t number = 0; number < n; ++number) {
      const Entry e = entries[by_key[number]];
      sorted.push_back(e);
      again.see(e);
      order[by_key[number]] = number;
    }
    // Two tables of millions of blocks, and what the tree takes, would add up.
    entries = EntryTable();
    by_key = {};
    BlockIndex index = from_entries(std::move(sorted), again, file);
    index.order_ = std::move(order);
    return index;
  }
  CoverTree tree;
  if (!summary.grid() && n > 0) {
    tree = build_cover_tree(entries);
    if (tree.pinned) {
      const auto overlaps = find_overlaps(entries);
      if (!overlaps.empty()) throw overlap_error(entries, overlaps.front(), file);
    }
  }
  BlockIndex index = in_memory(Entries(std::move(entries)), summary);
  index.tree_ = CoverSearch(std::move(tree.words));
  return index;
}

BlockIndex BlockIndex::in_place(std::shared_ptr<const ByteSource> file, const Place& place) {
  BlockIndex index(Entries(file, place.entries, place.count), place.object, place.grid,
                   place.origin);
  index.ordered_ = place.ordered;
  index.tree_words_ = place.tree_words;
  index.hash_ = place.hash;
  const std::uint64_t order = place.ordered ? 8 * place.count : 0;
  index.tree_ = CoverSearch(std::move(file), index.byte_after_entries() + order, place.tree_words);
  return index;
}

BlockIndex BlockIndex::on_demand(Bands bands, std::unique_ptr<const EntryMaker> maker) {
  const std::uint64_t strips = bands.col_starts.size();
  const std::uint64_t count = (bands.object_rows - 1) / bands.rows + 1;
  const std::uint64_t width = strips > 1 ? bands.col_starts[1] : bands.object_cols;
  bool regular = width <= std::numeric_limits<std::uint32_t>::max() &&
                 bands.object_cols - bands.col_starts.back() <= width;
  for (std::uint64_t i = 0; i < strips; ++i) regular &= bands.col_starts[i] == i * width;
  std::optional<Grid> grid;
  if (regular) {
    const auto rows = std::min<std::uint64_t>(bands.rows, bands.object_rows);
    grid = {count, strips, {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(width)}};
  }
  BlockIndex index(Entries(std::move(maker), count * strips),
                   {{0, bands.object_rows}, {0, bands.object_cols}}, grid, IndexOrigin::embedded);
  index.strips_ = std::move(bands.col_starts);
  index.band_rows_ = bands.rows;
  return index;
}

std::uint64_t BlockIndex::strip_of(std::uint64_t col) const noexcept {
  return static_cast<std::uint64_t>(std::upper_bound(strips_.begin(), strips_.end(), col) -
                                    strips_.begin()) -
         1;
}

std::optional<std::uint64_t> BlockIndex::cover(std::uint64_t row, std::uint64_t col) const {
  if (grid_) return (row / grid_->tile.rows) * grid_->cols + col / grid_->tile.cols;
  if (band_rows_ != 0) return row / band_rows_ * strips_.size() + strip_of(col);
  return tree_.cover(entries_, object_, row, col);
}

std::optional<std::uint64_t> BlockIndex::find(BlockPos pos) const {
  if (grid_) {
    if (pos.rx % grid_->tile.rows != 0 || pos.cx % grid_->tile.cols != 0) return std::nullopt;
    const std::uint64_t i = pos.rx / grid_->tile.rows, j = pos.cx / grid_->tile.cols;
    if (i >= grid_->rows || j >= grid_->cols) return std::nullopt;
    return i * grid_->cols + j;
  }
  const auto number = cover(pos.rx, pos.cx);  // a block covers its own first cell
  if (number && entry(*number).pos != pos) return std::nullopt;
  return number;
}

std::vector<std::uint64_t> BlockIndex::touching(const Region& region) const {
  std::vector<std::uint64_t> numbers;
  if (region.empty() || size() == 0) return numbers;
  const auto take_all = [&](Range down, Range across, std::uint64_t per_row) {
    for (std::uint64_t i = down.begin; i <= down.end; ++i) {
      for (std::uint64_t j = across.begin; j <= across.end; ++j) numbers.push_back(i * per_row + j);
    }
  };
  const auto divided = [](Range range, std::uint64_t by) {
    return Range{range.begin / by, (range.end - 1) / by};
  };
  if (grid_) {
    take_all(divided(region.rows, grid_->tile.rows), divided(region.cols, grid_->tile.cols),
             grid_->cols);
    return numbers;
  }
  if (band_rows_ != 0) {
    take_all(divided(region.rows, band_rows_),
             {strip_of(region.cols.begin), strip_of(region.cols.end - 1)}, strips_.size());
    return numbers;
  }
  numbers = tree_.touching(entries_, object_, region);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const BlockPos before = entry(numbers[i - 1]).pos, pos = entry(numbers[i]).pos;
    if (!(before < pos)) {
      fail_entry(numbers[i],
                 "the index is not sorted: block " + text(pos) + " follows block " + text(before));
    }
  }
  return numbers;
}

BlockCounts BlockIndex::counts(std::uint64_t most) const {
  if (entries_.maker() != nullptr) {
    EntrySummary all(0, 0);
    for (std::uint64_t i = 0; i < size(); ++i) all.see(entry(i));
    return all.counts();
  }
  if (!is_in_place()) return counts_;
  const ByteSource& file = *entries_.file();
  const std::uint64_t head = entries_.byte_of(0) - Entry::kBytes;
  const std::byte* p = file.at(head, Entry::kBytes);
  const auto lying = [&](const std::string& what) {
    fail(head, what + "; " + std::string(remedy()));
  };
  if (load_le<std::uint64_t>(p + head_at::hash) != xxh3({p, head_at::hash})) {
    lying("the counts of blocks in the index do not match their hash");
  }
  BlockCounts counts;
  counts.total = size();
  counts.empty = load_le<std::uint64_t>(p + head_at::empty);
  counts.dense = load_le<std::uint64_t>(p + head_at::dense);
  counts.csr = load_le<std::uint64_t>(p + head_at::csr);
  counts.coo = load_le<std::uint64_t>(p + head_at::coo);
  counts.stored = load_le<std::uint64_t>(p + head_at::stored);
  std::uint64_t left = counts.total;
  for (const std::uint64_t n : {counts.empty, counts.dense, counts.csr, counts.coo}) {
    if (n > left) lying("the index counts more blocks by kind than its " + std::to_string(size()));
    left -= n;
  }
  if (left != 0) lying("the index counts fewer blocks by kind than its " + std::to_string(size()));
  // A value takes a byte at least, but in encoded blocks, which decode to at most 2^30 bytes each.
  if (counts.stored > most && counts.stored >> 30 > counts.total) {
    lying("the index counts " + std::to_string(counts.stored) + " stored values in a file of " +
          counted(most, "byte"));
  }
  return counts;
}

void BlockIndex::require_whole() const {
  if (!is_in_place() || !hash_) return;
  const ByteSource& file = *entries_.file();
  const std::uint64_t first = entries_.byte_of(0) - Entry::kBytes;
  const std::uint64_t tree = byte_after_entries() + (ordered_ ? 8 * size() : 0);
  const std::uint64_t end = round_up(tree + 8 * tree_words_, Entry::kBytes);
  file.expect_reads();
  file.will_need(first, end - first);
  if (xxh3(file.bytes(first, end - first)) != *hash_) {
    fail(first, std::string("the index does not match its hash; ").append(remedy()));
  }
}

std::uint64_t BlockIndex::in_file_order(std::uint64_t i) const {
  if (entries_.maker() != nullptr) return entries_.maker()->file_order(size())[i];
  if (!is_in_place()) return order_.empty() ? i : order_[i];
  if (!ordered_) return i;
  const std::uint64_t at = byte_after_entries() + 8 * i;
  const auto number = load_le<std::uint64_t>(entries_.file()->at(at, 8));
  if (number >= size()) {
    fail(at, "the index lists block number " + std::to_string(number) + " of " +
                 std::to_string(size()));
  }
  return number;
}

void BlockIndex::fail(std::uint64_t byte, std::string detail) const {
  throw Error(Errc::corrupt, is_in_place() ? entries_.file()->name() : std::string(), byte,
              std::move(detail));
}

void BlockIndex::fail_entry(std::uint64_t number, std::string detail) const {
  fail(entries_.byte_of(number), std::move(detail));
}

std::string_view BlockIndex::remedy() const noexcept {
  return origin_ == IndexOrigin::sidecar ? "index the file again to renew the sidecar"
                                         : "repair the file to rebuild its index";
}

}  // namespace dapple::detail
