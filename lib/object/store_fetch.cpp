// What happens before a block is used: its index entry is compared with what it points to, its hash
// with its bytes where that is asked for, and its place is remembered.

#include <algorithm>
#include <string>

#include "lib/object/store.h"

namespace dapple::detail {

namespace {
// A block's position stands in front of it, now and then on a page of its own.
constexpr std::uint64_t kInFront = 16;
// The first entries of an index in place may be on a page that nobody reads otherwise: they are
// looked at for as many tiles as this, whose words would leave the nearest cache.
constexpr std::uint64_t kManyTiles = 8192;

[[noreturn, gnu::noinline]] void fail_tile(const BlockIndex& index, std::uint64_t number,
                                           BlockPos wanted, const Entry& entry) {
  const std::uint64_t cols = index.grid()->cols;
  index.fail_entry(number, "expected the index to place tile (" + std::to_string(number / cols) +
                               ", " + std::to_string(number % cols) + ") at " + text(wanted) +
                               ", got an entry of " + std::to_string(entry.rows) + " x " +
                               std::to_string(entry.cols) + " cells at " + text(entry.pos));
}

}  // namespace

// `kUnknown` when it is not known.
Place Store::place_of(std::uint64_t number) const noexcept {
  const KnownPlaces& places = known();
  return places.words != nullptr ? places.of_block(number) : Place();
}

// One per block, by number; nullptr when there are none.
const Place::Tag* Store::tags_of_blocks() const noexcept {
  const KnownPlaces& places = known();
  return places.words != nullptr ? places.tags + 1 : nullptr;
}

// False when the system has no room for a table of places.
bool Store::make_places() const {
  if (known().words != nullptr) return true;
  const std::lock_guard lock(mutex_);
  if (!place_table_) {
    place_table_.emplace(index_.size());
    if (place_table_->words() == nullptr) return false;
    places_ = no_places_;
    places_.words = place_table_->words();
    places_.tags = place_table_->tags();
    // Every fetch from a guarded file has to look whether it is intact: none is a hot one.
    if (!file_->guarded()) places_.word_rows = places_.rows;
    if (find_even_tiles(places_)) {
      places_.even_rows = places_.word_rows;
      places_.even_cols = places_.cols;
    }
    std::atomic_ref(known_).store(&places_, std::memory_order_release);
  }
  return place_table_->words() != nullptr;
}

// Judges by the first two tiles, and the room for all, whether tiles lie evenly. A guess: what it
// says of a tile is used only once that tile was confirmed and found there.
bool Store::find_even_tiles(KnownPlaces& places) const {
  const bool at_hand = !index_.is_in_place() || index_.run() || index_.size() >= kManyTiles;
  if (!index_.grid() || !at_hand || index_.size() < 2 || codec_->dense_header < 0 ||
      schema_.cols % index_.grid()->tile.cols != 0) {
    return false;
  }
  const Entry first = index_.entry(0), second = index_.entry(1);
  if (first.kind != BlockKind::dense || second.kind != BlockKind::dense ||
      first.bytes != second.bytes || second.offset <= first.offset ||
      second.offset > file_->size() ||
      (file_->size() - first.offset) / (second.offset - first.offset) < index_.size() - 1) {
    return false;
  }
  places.values = file_->base() + first.offset + codec_->dense_header;
  places.step = second.offset - first.offset;
  return true;
}

void Store::remember(std::uint64_t number, const Place& place) const {
  const bool evenly = places_.step != 0 || !index_.grid();
  if (evenly && place.values == places_.values + number * places_.step) {
    std::atomic_ref(place_table_->tags()[number + 1]).store(place.tag, std::memory_order_release);
  } else {
    std::atomic_ref(place_table_->words()[number]).store(place.word(), std::memory_order_release);
  }
}

// Compares an entry with the tile that it is of, and with the bytes that it points to.
void Store::compare(std::uint64_t number, const Entry& entry) const {
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

// Returns its place; `kUnknown` when it is to be confirmed again the next time.
Place Store::confirm(std::uint64_t number, const Entry& entry) const {
  compare(number, entry);
  if (check_ != Check::never && codec_->check_hash != nullptr) codec_->check_hash(*this, entry);
  if (file_->base() == nullptr || check_ == Check::always || !make_places()) return {};
  Place place{nullptr, Place::kTouched};
  if (entry.kind == BlockKind::dense && codec_->dense_header >= 0 && index_.grid() &&
      TileShape{entry.rows, entry.cols} == index_.grid()->tile) {
    const Place dense{file_->at(entry.offset, entry.bytes) + codec_->dense_header,
                      Place::dense(entry.value_type)};
    if (dense.fits_word()) place = dense;
  }
  remember(number, place);
  return place;
}

Place Store::touch(std::uint64_t number) const {
  const Place place = place_of(number);
  const bool touched = place.tag != Place::kUnknown;
  if (touched && !file_->guarded()) return place;
  if (!touched) ask_for({&number, 1});
  const Entry entry = index_.entry(number);
  return watched([&] { return touched ? place : confirm(number, entry); }, &entry);
}

Block Store::block(std::uint64_t number) const {
  return Block(*this, number, touch(number), known().tile);
}

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
        // What was read into private memory is as it was when it was compared.
        if (index_.is_in_place() && file_->base() != nullptr) compare(number, entry);
      },
      &to_blame);
  return entry;
}

// An entry in place is read anew for each use, and somebody may have written to the file since it
// was first compared: it is this copy that is going to be used, so this one is compared.
void Store::confirm_entry(std::uint64_t number, const Entry& entry) const {
  if (place_of(number).tag == Place::kUnknown) {
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
void Store::ask_for(std::span<const std::uint64_t> numbers) const {
  constexpr std::uint64_t kNear = 64 << 10;  // a gap that is cheaper to read than to ask around
  Range wanted{0, 0};
  for (const std::uint64_t number : numbers) {
    if (place_of(number).tag != Place::kUnknown) continue;
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
