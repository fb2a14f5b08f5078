// What happens before a block is used: its index entry is compared with what it points to, its hash
// with its bytes where that is asked for, and its place is remembered.

#include <algorithm>
#include <string>

#include "lib/object/store.h"

namespace dapple::detail {

namespace {
// A block's position stands in front of it, now and then on a page of its own.
constexpr std::uint64_t kInFront = 16;
}  // namespace

std::uint64_t Store::place_of(std::uint64_t number) const noexcept {
  const std::uint64_t* const all = load_once(places);
  return all != nullptr ? load_once(all[number]) : 0;
}

// The table of places, or nullptr when the system has no room for it.
std::uint64_t* Store::make_places() const {
  if (load_once(places) != nullptr) return place_table_->data();
  const std::lock_guard lock(mutex_);
  if (!place_table_) {
    place_table_.emplace(index_.size());
    auto& hot = const_cast<HotStore&>(static_cast<const HotStore&>(*this));
    const std::uint64_t* const table = place_table_->data();
    std::atomic_ref(hot.places).store(table, std::memory_order_release);
  }
  return place_table_->data();
}

// Compares an entry with the tile that it is of, and with the bytes that it points to.
void Store::compare(std::uint64_t number, const Entry& entry) const {
  if (const auto& grid = index_.grid()) {
    const std::uint64_t i = number / grid->cols, j = number % grid->cols;
    const std::uint64_t rx = i * grid->tile.rows, cx = j * grid->tile.cols;
    if (entry.pos != BlockPos{rx, cx} ||
        entry.rows != std::min<std::uint64_t>(grid->tile.rows, schema_.rows - rx) ||
        entry.cols != std::min<std::uint64_t>(grid->tile.cols, schema_.cols - cx)) {
      index_.fail_entry(number, "expected the index to place tile (" + std::to_string(i) + ", " +
                                    std::to_string(j) + ") at " + detail::text({rx, cx}) +
                                    ", got an entry of " + std::to_string(entry.rows) + " x " +
                                    std::to_string(entry.cols) + " cells at " +
                                    detail::text(entry.pos));
    }
  }
  if (codec_->confirm != nullptr) codec_->confirm(*this, number, entry);
}

// Returns its place, or 0 when it is to be confirmed again the next time.
std::uint64_t Store::confirm(std::uint64_t number, const Entry& entry) const {
  compare(number, entry);
  if (check_ != Check::never && codec_->check_hash != nullptr) codec_->check_hash(*this, entry);
  if (file_->base() == nullptr) return 0;
  if (index_.is_in_place()) guess_.tell(number, entry);
  if (check_ == Check::always) return 0;
  std::uint64_t* const table = make_places();
  if (table == nullptr) return 0;
  std::uint64_t place = place::kTouched;
  if (entry.kind == BlockKind::dense && codec_->dense_header >= 0 && index_.grid() &&
      TileShape{entry.rows, entry.cols} == index_.grid()->tile) {
    const auto address = reinterpret_cast<std::uintptr_t>(file_->at(entry.offset, entry.bytes) +
                                                          codec_->dense_header);
    if (address >> (64 - place::kTagBits) == 0) {
      place = address << place::kTagBits | place::dense_tag(entry.value_type);
    }
  }
  std::atomic_ref(table[number]).store(place, std::memory_order_release);
  return place;
}

std::uint64_t Store::touch(std::uint64_t number) const {
  const std::uint64_t place = place_of(number);
  if (place != 0 && !file_->guarded()) return place;
  if (place == 0) ask_for({&number, 1}, ask_early(number));
  const Entry entry = index_.entry(number);
  return watched([&] { return place != 0 ? place : confirm(number, entry); }, &entry);
}

Block Store::block(std::uint64_t number) const { return Block(*this, number, touch(number), tile); }

Entry Store::confirmed_entry(std::uint64_t number) const {
  const Entry entry = index_.entry(number);
  watched([&] { confirm_entry(number, entry); }, &entry);
  return entry;
}

Entry Store::fetched_entry(std::uint64_t number) const {
  const Entry entry = index_.entry(number);
  Entry to_blame = entry;
  if (const auto& grid = index_.grid(); grid && entry.bytes == 0) {  // it was cut off
    to_blame.pos = {number / grid->cols * grid->tile.rows, number % grid->cols * grid->tile.cols};
  }
  watched(
      [&] {
        if (index_.is_in_place()) compare(number, entry);
      },
      &to_blame);
  return entry;
}

// An entry in place is read anew for each use, and somebody may have written to the file since it
// was first compared: it is this copy that is going to be used, so this one is compared.
void Store::confirm_entry(std::uint64_t number, const Entry& entry) const {
  if (place_of(number) == 0) {
    confirm(number, entry);
  } else if (index_.is_in_place()) {
    compare(number, entry);
  }
}

// What the block shares with a region that the index says it touches.
Part Store::confirmed_part(std::uint64_t number, const Entry& entry, const Region& region) const {
  confirm_entry(number, entry);
  if (intersect(entry.cells(), region).empty()) {
    index_.fail_entry(number, "expected an index that stays as it is while it is read, got block " +
                                  detail::text(entry.pos) + " in place of another one");
  }
  return shared_part(entry, region);
}

// The entry of a small block stands on a page that takes as long to read as the block: both are
// asked for at once (cold tiles of 4 KiB 2.0 times a pread, so 1.3; of 64 KiB 1.2 and 1.05).
// Returns what was asked for.
Range Store::ask_early(std::uint64_t number) const {
  constexpr std::uint64_t kSmall = 256 << 10;
  if (file_->base() == nullptr || !index_.is_in_place()) return {0, 0};
  const std::optional<Range> block = guess_.ask(number);
  if (!block || block->size() > kSmall || block->begin < kInFront || block->end > file_->size()) {
    return {0, 0};
  }
  const Range bytes{block->begin - kInFront, block->end};
  file_->will_need(bytes.begin, bytes.size());
  return bytes;
}

// Touching an unread page makes the system read ahead megabytes; asked in advance for exactly the
// bytes of the blocks, it reads those alone (200 cold tiles of 512 KiB: 105 MB instead of 1119 MB,
// 0.10 s instead of 0.96 s). Neighbours in the file are asked for together.
void Store::ask_for(std::span<const std::uint64_t> numbers, Range asked) const {
  constexpr std::uint64_t kNear = 64 << 10;  // a gap that is cheaper to read than to ask around
  Range wanted{0, 0};
  for (const std::uint64_t number : numbers) {
    if (place_of(number) != 0) continue;
    const Entry e = index_.entry(number);
    if (e.offset > file_->size() || e.bytes > file_->size() - e.offset) continue;
    if (file_->is_read_early(e.bytes)) continue;
    const Range bytes{e.offset - std::min(e.offset, kInFront), e.offset + e.bytes};
    if (bytes == asked) continue;
    if (bytes.begin >= wanted.begin && bytes.begin <= wanted.end + kNear) {
      wanted.end = std::max(wanted.end, bytes.end);
    } else {
      file_->will_need(wanted.begin, wanted.size());
      wanted = bytes;
    }
  }
  file_->will_need(wanted.begin, wanted.size());
}

}  // namespace dapple::detail
