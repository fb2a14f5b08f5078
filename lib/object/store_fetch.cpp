// What happens before a block is used: its index entry is compared with what it points to, its hash
// with its bytes where that is asked for, and its place is remembered.

#include <algorithm>
#include <string>

#include "lib/object/store.h"
#include "lib/opening.h"

namespace dapple::detail {

namespace {
// A block's position stands in front of it, now and then on a page of its own.
constexpr std::uint64_t kInFront = 16;
// The words of fewer tiles than this stay in the nearest cache.
constexpr std::uint64_t kManyTiles = 8192;

std::uint64_t word_of(const std::byte* values, Place::Tag tag) noexcept {
  return reinterpret_cast<std::uintptr_t>(values) << Place::kTagBits | tag;
}

[[noreturn, gnu::noinline]] void fail_tile(const BlockIndex& index, std::uint64_t number,
                                           BlockPos wanted, const Entry& entry) {
  const std::uint64_t cols = index.grid()->cols;
  index.fail_entry(number, "expected the index to place tile (" + std::to_string(number / cols) +
                               ", " + std::to_string(number % cols) + ") at " + text(wanted) +
                               ", got an entry of " + std::to_string(entry.rows) + " x " +
                               std::to_string(entry.cols) + " cells at " + text(entry.pos));
}

}  // namespace

// In a word; 0 when it is not known.
std::uint64_t Store::place_of(std::uint64_t number) const noexcept {
  if (const Place::Tag* const tags = load_once(even)) {
    if (const Place::Tag tag = load_once(tags[number]); tag != Place::kUnknown) {
      return word_of(even_values + number * even_step, tag);
    }
  }
  const std::uint64_t* const all = load_once(places);
  return all != nullptr ? load_once(all[number]) : 0;
}

// False when the system has no room for a table of places.
bool Store::make_places() const {
  if (load_once(places) != nullptr) return true;
  const std::lock_guard lock(mutex_);
  if (!place_table_) {
    place_table_.emplace(index_.size());
    if (place_table_->words() == nullptr) return false;
    auto& hot = const_cast<HotStore&>(static_cast<const HotStore&>(*this));
    find_even_tiles(hot);
    const std::uint64_t* const words = place_table_->words();
    std::atomic_ref(hot.places).store(words, std::memory_order_release);
  }
  return place_table_->words() != nullptr;
}

// Judges by the first two tiles, and the room for all, whether tiles lie evenly. A guess: what it
// says of a tile is used only once that tile was confirmed and found there. Of blocks that form no
// grid nothing is remembered but that they were touched, so a tag is all they need (10^6 such
// blocks, asked for along with the entry: a look-up 0.97 us, by words 1.23).
void Store::find_even_tiles(HotStore& hot) const {
  const auto& grid = index_.grid();
  const auto use_tags = [&] {
    const Place::Tag* const tags = place_table_->tags();
    std::atomic_ref(hot.even).store(tags, std::memory_order_release);
  };
  if (!grid) return use_tags();
  if (codec_->dense_header < 0 || index_.size() < kManyTiles ||
      schema_.cols % grid->tile.cols != 0) {
    return;
  }
  const Entry first = index_.entry(0), second = index_.entry(1);
  if (first.kind != BlockKind::dense || second.kind != BlockKind::dense ||
      first.bytes != second.bytes || second.offset <= first.offset ||
      second.offset > file_->size() ||
      (file_->size() - first.offset) / (second.offset - first.offset) < index_.size() - 1) {
    return;
  }
  hot.even_values = file_->base() + first.offset + codec_->dense_header;
  hot.even_step = second.offset - first.offset;
  use_tags();
}

void Store::remember(std::uint64_t number, std::uint64_t place) const {
  const Place known = Place::of_word(place);
  if (even != nullptr && known.values == even_values + number * even_step) {
    std::atomic_ref(place_table_->tags()[number]).store(known.tag, std::memory_order_release);
  } else {
    std::atomic_ref(place_table_->words()[number]).store(place, std::memory_order_release);
  }
}

// Compares an entry with the tile that it is of, and with the bytes that it points to.
DAPPLE_OPENING void Store::compare(std::uint64_t number, const Entry& entry) const {
  if (const auto& grid = index_.grid()) {
    const std::uint64_t i = number / grid->cols, j = number % grid->cols;
    const std::uint64_t rx = i * grid->tile.rows, cx = j * grid->tile.cols;
    if (entry.pos != BlockPos{rx, cx} ||
        entry.rows != std::min<std::uint64_t>(grid->tile.rows, schema_.rows - rx) ||
        entry.cols != std::min<std::uint64_t>(grid->tile.cols, schema_.cols - cx)) {
      fail_tile(index_, number, {rx, cx}, entry);
    }
  }
  if (codec_->confirm != nullptr) codec_->confirm(*this, number, entry);
}

// Returns its place, or 0 when it is to be confirmed again the next time.
DAPPLE_OPENING std::uint64_t Store::confirm(std::uint64_t number, const Entry& entry) const {
  compare(number, entry);
  if (check_ != Check::never && codec_->check_hash != nullptr) codec_->check_hash(*this, entry);
  if (file_->base() == nullptr) return 0;
  if (check_ == Check::always) return 0;
  if (!make_places()) return 0;
  const std::byte* values = nullptr;
  Place::Tag tag = Place::kTouched;
  if (entry.kind == BlockKind::dense && codec_->dense_header >= 0 && index_.grid() &&
      TileShape{entry.rows, entry.cols} == index_.grid()->tile) {
    const std::byte* const p = file_->at(entry.offset, entry.bytes) + codec_->dense_header;
    if (reinterpret_cast<std::uintptr_t>(p) >> (64 - Place::kTagBits) == 0) {
      values = p;
      tag = Place::dense(entry.value_type);
    }
  }
  const std::uint64_t place = word_of(values, tag);
  remember(number, place);
  return place;
}

DAPPLE_OPENING std::uint64_t Store::touch(std::uint64_t number) const {
  const std::uint64_t place = place_of(number);
  if (place != 0 && !file_->guarded()) return place;
  if (place == 0) ask_for({&number, 1});
  const Entry entry = index_.entry(number);
  return watched([&] { return place != 0 ? place : confirm(number, entry); }, &entry);
}

Block Store::block(std::uint64_t number) const {
  return Block(*this, number, Place::of_word(touch(number)), tile);
}

Entry Store::confirmed_entry(std::uint64_t number) const {
  const Entry entry = index_.entry(number);
  watched([&] { confirm_entry(number, entry); }, &entry);
  return entry;
}

DAPPLE_OPENING Entry Store::fetched_entry(std::uint64_t number) const {
  const Entry entry = index_.entry(number);
  Entry to_blame = entry;
  if (const auto& grid = index_.grid(); grid && entry.bytes == 0) {  // it was cut off
    to_blame.pos = {number / grid->cols * grid->tile.rows, number % grid->cols * grid->tile.cols};
  }
  watched(
      [&] {
        // What was read into private memory is as it was when it was compared.
        if (index_.is_in_place() && file_->base() != nullptr) compare(number, entry);
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

// Touching an unread page makes the system read ahead megabytes; asked in advance for exactly the
// bytes of the blocks, it reads those alone (200 cold tiles of 512 KiB: 105 MB instead of 1119 MB,
// 0.10 s instead of 0.96 s). Neighbours in the file are asked for together.
DAPPLE_OPENING void Store::ask_for(std::span<const std::uint64_t> numbers) const {
  constexpr std::uint64_t kNear = 64 << 10;  // a gap that is cheaper to read than to ask around
  Range wanted{0, 0};
  for (const std::uint64_t number : numbers) {
    if (place_of(number) != 0) continue;
    const Entry e = index_.entry(number);
    if (e.offset > file_->size() || e.bytes > file_->size() - e.offset) continue;
    if (file_->is_read_early(e.offset, e.bytes)) continue;
    const Range bytes{e.offset - std::min(e.offset, kInFront), e.offset + e.bytes};
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
