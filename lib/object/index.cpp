#include "lib/object/index.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "lib/io/hash.h"
#include "lib/object/cover_tree.h"
#include "lib/object/entry_pages.h"
#include "lib/object/entry_summary.h"
#include "lib/object/overlap.h"
#include "lib/object/tile_run.h"

namespace dapple::detail {

std::string text(BlockPos pos) {
  std::string s = "(";
  s += std::to_string(pos.rx);
  s += ", ";
  s += std::to_string(pos.cx);
  return s += ")";
}

void store_entry(std::byte* p, const Entry& e) noexcept {
  store_le(p + entry_at::rx, e.pos.rx);
  store_le(p + entry_at::cx, e.pos.cx);
  store_le(p + entry_at::offset, e.offset);
  store_le(p + entry_at::bytes, e.bytes);
  store_le(p + entry_at::stored, e.stored);
  store_le(p + entry_at::hash, e.hash);
  store_le(p + entry_at::rows, e.rows);
  store_le(p + entry_at::cols, e.cols);
  p[entry_at::kind] = static_cast<std::byte>(e.kind);
  p[entry_at::value_type] = static_cast<std::byte>(e.value_type);
  std::memset(p + entry_at::reserved, 0, Entry::kBytes - entry_at::reserved);
}

void EntryTable::reserve(std::uint64_t n) {
  if (n <= lines_.size()) return;
  Array<Line> larger(n);
  std::copy_n(lines_.begin(), size_, larger.begin());
  lines_ = std::move(larger);
}

void EntryTable::grow() { reserve(std::max<std::uint64_t>(16, 2 * size_)); }

BlockIndex BlockIndex::from_entries(EntryTable entries, std::uint64_t rows, std::uint64_t cols,
                                    const std::string& file) {
  EntrySummary summary(rows, cols);
  for (std::uint64_t i = 0; i < entries.size(); ++i) summary.see(entries[i]);
  return from_entries(std::move(entries), summary, file);
}

BlockIndex BlockIndex::from_entries(EntryTable entries, const EntrySummary& summary,
                                    const std::string& file) {
  BlockIndex index;
  index.held_ = std::make_unique<Held>();
  Held& held = *index.held_;
  const std::uint64_t n = entries.size();
  held.counts = summary.counts();
  index.place_.object = summary.object();
  index.place_.grid = summary.grid();
  if (!summary.sorted()) {
    std::vector<std::uint64_t> by_key(n);
    std::iota(by_key.begin(), by_key.end(), 0);
    std::sort(by_key.begin(), by_key.end(), [&](std::uint64_t a, std::uint64_t b) {
      const BlockPos pa = entries[a].pos, pb = entries[b].pos;
      return pa != pb ? pa < pb : a < b;
    });
    EntryTable ordered;
    ordered.reserve(n);
    held.order.resize(n);
    EntrySummary again = summary.of_none();
    for (std::uint64_t number = 0; number < n; ++number) {
      const Entry e = entries[by_key[number]];
      ordered.push_back(e);
      again.see(e);
      held.order[by_key[number]] = number;
    }
    entries = std::move(ordered);
    index.place_.grid = again.grid();
  }
  index.place_.count = n;
  index.place_.origin = IndexOrigin::scanned;
  if (!index.place_.grid && n > 0) {
    std::vector<Region> cells;
    cells.reserve(n);
    for (std::uint64_t i = 0; i < n; ++i) cells.push_back(entries[i].cells());
    CoverTree tree = build_cover_tree(cells);
    if (tree.pinned) {
      const auto overlaps = find_overlaps(entries);
      if (!overlaps.empty()) throw overlap_error(entries, overlaps.front(), file);
    }
    held.tree = std::move(tree.words);
  }
  held.table = std::move(entries);
  index.memory_ = held.table.data();
  return index;
}

BlockIndex BlockIndex::from_run(const TileRun& run, const EntrySummary& summary) {
  BlockIndex index;
  index.held_ = std::make_unique<Held>();
  index.held_->counts = summary.counts();
  index.held_->run = std::make_shared<const TileRun>(run);
  index.place_.object = summary.object();
  index.place_.grid = summary.grid();
  index.place_.count = run.size();
  index.place_.origin = IndexOrigin::scanned;
  return index;
}

BlockIndex BlockIndex::in_place(std::shared_ptr<const MappedFile> file, const Place& place) {
  BlockIndex index;
  index.place_ = place;
  index.file_ = std::move(file);
  return index;
}

BlockIndex BlockIndex::on_demand(Bands bands, std::unique_ptr<const EntryMaker> maker) {
  BlockIndex index;
  const std::uint64_t strips = bands.col_starts.size();
  const std::uint64_t width = strips > 1 ? bands.col_starts[1] : bands.object_cols;
  bool regular = width <= std::numeric_limits<std::uint32_t>::max() &&
                 bands.object_cols - bands.col_starts.back() <= width;
  for (std::uint64_t i = 0; i < strips; ++i) regular &= bands.col_starts[i] == i * width;
  const std::uint64_t count = (bands.object_rows - 1) / bands.rows + 1;
  if (regular) {
    const auto rows = std::min<std::uint64_t>(bands.rows, bands.object_rows);
    index.place_.grid =
        Grid{count, strips, {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(width)}};
  }
  index.place_.count = count * strips;
  index.place_.origin = IndexOrigin::embedded;
  index.held_ = std::make_unique<Held>();
  index.held_->bands = std::move(bands);
  index.held_->pages = std::make_shared<EntryPages>(std::move(maker), index.place_.count);
  return index;
}

Entry BlockIndex::made_entry(std::uint64_t number) const {
  if (held_->run != nullptr) return (*held_->run)[number];
  return load_entry(held_->pages->at(number));
}

bool BlockIndex::lies_evenly() const {
  if (!place_.grid || size() < 3 || !held_->order.empty()) return false;
  TileRun run(place_.object.rows.end, place_.object.cols.end);
  for (std::uint64_t i = 0; i < size(); ++i) {
    if (!run.take(entry(i))) return false;
  }
  return true;
}

std::span<const std::byte> BlockIndex::entry_bytes(Range numbers,
                                                   std::span<std::byte> scratch) const {
  const std::size_t bytes = static_cast<std::size_t>(numbers.size()) * Entry::kBytes;
  if (memory_ != nullptr) return {memory_ + numbers.begin * Entry::kBytes, bytes};
  std::byte* p = scratch.data();
  for (std::uint64_t i = numbers.begin; i < numbers.end; ++i, p += Entry::kBytes) {
    store_entry(p, made_entry(i));
  }
  return scratch.first(bytes);
}

std::uint64_t BlockIndex::strip_of(std::uint64_t col) const noexcept {
  const auto& starts = held_->bands.col_starts;
  return static_cast<std::uint64_t>(std::upper_bound(starts.begin(), starts.end(), col) -
                                    starts.begin()) -
         1;
}

BlockCounts BlockIndex::counts(std::uint64_t most) const {
  if (is_on_demand()) return held_->pages->counts();
  if (file_ == nullptr) return held_ != nullptr ? held_->counts : BlockCounts();
  const std::uint64_t head = place_.entries - Entry::kBytes;
  const std::byte* p = file_->at(head, Entry::kBytes);
  if (load_le<std::uint64_t>(p + head_at::hash) != xxh3({p, head_at::hash})) {
    fail(head, std::string("expected counts of blocks that fit their hash, got others; ")
                   .append(remedy()));
  }
  BlockCounts counts;
  counts.total = place_.count;
  counts.empty = load_le<std::uint64_t>(p + head_at::empty);
  counts.dense = load_le<std::uint64_t>(p + head_at::dense);
  counts.csr = load_le<std::uint64_t>(p + head_at::csr);
  counts.coo = load_le<std::uint64_t>(p + head_at::coo);
  counts.stored = load_le<std::uint64_t>(p + head_at::stored);
  std::uint64_t left = counts.total;
  for (const std::uint64_t n : {counts.empty, counts.dense, counts.csr, counts.coo}) {
    if (n > left)
      fail(head,
           "expected counts of " + std::to_string(counts.total) + " blocks by kind, got more");
    left -= n;
  }
  if (left != 0)
    fail(head, "expected counts of " + std::to_string(counts.total) + " blocks by kind, got " +
                   std::to_string(left) + " less");
  if (counts.stored > most) {
    fail(head, "expected an index of at most " + std::to_string(most) +
                   " stored values in as many bytes of the file, got " +
                   std::to_string(counts.stored) + "; " + std::string(remedy()));
  }
  return counts;
}

void BlockIndex::require_whole() const {
  if (file_ == nullptr || !place_.hash) return;
  const std::uint64_t first = place_.entries - Entry::kBytes;
  const std::uint64_t end = round_up(tree_byte(place_.tree_words), Entry::kBytes);
  file_->map();
  file_->will_need(first, end - first);
  if (xxh3(file_->bytes(first, end - first)) != *place_.hash) {
    fail(first,
         std::string("expected an index that fits its hash, got another; ").append(remedy()));
  }
}

std::uint64_t BlockIndex::in_file_order(std::uint64_t i) const {
  if (is_on_demand()) return held_->pages->in_file_order(i);
  if (file_ == nullptr) return held_->order.empty() ? i : held_->order[i];
  if (!place_.ordered) return i;
  const std::uint64_t at = place_.entries + place_.count * Entry::kBytes + 8 * i;
  const auto number = load_le<std::uint64_t>(file_->at(at, 8));
  if (number >= place_.count) {
    fail(at, "expected a block number below " + std::to_string(place_.count) + ", got " +
                 std::to_string(number));
  }
  return number;
}

void BlockIndex::fail(std::uint64_t byte, std::string detail) const {
  throw Error(Errc::corrupt, file_ != nullptr ? file_->name() : std::string(), byte,
              std::move(detail));
}

void BlockIndex::fail_entry(std::uint64_t number, std::string detail) const {
  fail(place_.entries + number * Entry::kBytes, std::move(detail));
}

std::string_view BlockIndex::remedy() const noexcept {
  return place_.origin == IndexOrigin::sidecar ? "index the file again to renew the sidecar"
                                               : "repair the file to rebuild its index";
}

}  // namespace dapple::detail
