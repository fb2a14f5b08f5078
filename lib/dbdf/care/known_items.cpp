#include "lib/dbdf/care/known_items.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "lib/dbdf/care/evidence.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/index_traces.h"
#include "lib/dbdf/walk.h"
#include "lib/io/hash.h"
#include "lib/object/overlap.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

}  // namespace

PlainWalk::PlainWalk(const MappedFile& file, std::uint64_t body, const Schema& schema) {
  Walk walk(file, body, schema.rows, schema.cols);
  try {
    for (Item item; walk.next(item);) {
      if (item.holds_cells()) blocks.push_back(item.entry);
    }
    clean = true;
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt) throw;
  }
}

std::uint64_t PlainWalk::end_of_blocks(std::uint64_t body) const {
  if (blocks.size() == 0) return body;
  const Entry last = blocks[blocks.size() - 1];
  return clean ? last.offset + last.bytes : last.offset - kPosition;
}

std::uint64_t PlainWalk::count_before(std::uint64_t at) const {
  std::uint64_t low = 0, high = blocks.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (blocks[middle].offset - kPosition < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<std::uint64_t> PlainWalk::number_at(std::uint64_t start) const {
  const std::uint64_t number = count_before(start);
  if (number == blocks.size() || blocks[number].offset - kPosition != start) return std::nullopt;
  return number;
}

bool PlainWalk::is_inside_block(std::uint64_t at) const {
  const std::uint64_t number = count_before(at);
  if (number == 0) return false;
  const Entry front = blocks[number - 1];
  return at - (front.offset - kPosition) < kPosition + front.bytes;
}

bool PlainWalk::covers(const Schema& schema) const {
  __extension__ using Area = unsigned __int128;
  Area covered = 0;
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    covered += Area{blocks[i].rows} * blocks[i].cols;
  }
  return covered == Area{schema.rows} * schema.cols &&
         find_overlaps(sorted_by_position(blocks)).empty();
}

KnownItems::KnownItems(const std::shared_ptr<MappedFile>& file, std::uint64_t body,
                       const Schema& schema, const PlainWalk& walk)
    : file_(file), to_hash_(2 * file->size()) {
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  has_trailer_ = trailer.has_value();
  if (trailer) {
    complete_ = is_whole(*file, *trailer);
    other_header_ = complete_ && !knows_header(*file, body, *trailer);
    payload_ = trailer->payload;
    entries_ = trailer->place.entries;
    count_ = trailer->place.count;
  } else {
    payload_ = find_damaged_index(*file, walk.end_of_blocks(body));
    if (!payload_) return;
    // Other lines than entries are no proof of anything.
    entries_ = *payload_ + kLine;
    count_ = file->size() < entries_ ? 0 : (file->size() - entries_) / kLine;
  }
  file->map();
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::uint64_t at = entries_ + i * kLine;
    const Entry e = load_entry(file->at(at, kLine));
    if (e.offset < body + kPosition || e.offset > file->size()) continue;
    if (complete_ || is_proven(e)) items_.push_back({e.offset - kPosition, at});
  }
  std::sort(items_.begin(), items_.end());
  if (complete_ && walk.clean && contradicts(walk, schema)) {
    lies_ = true;
    complete_ = false;
    std::erase_if(items_, [&](const Item& item) { return !walk.number_at(item.first); });
  } else if (trailer) {
    items_.push_back({trailer->payload - kDenseHeader - kPosition, kNone});
    std::sort(items_.begin(), items_.end());
  }
}

// Whether damage cannot be why the index names blocks where a clean walk finds none. Damage to one
// block's header may hide another block, but then some block differs from its entry, or a part of
// the object is left without one.
bool KnownItems::contradicts(const PlainWalk& walk, const Schema& schema) const {
  std::vector<bool> listed(walk.blocks.size());
  bool differs = false, inside = false, unfound = false;
  EntryTable entries;
  for (const auto& [start, at] : items_) {
    const Entry e = load_entry(file_->at(at, kLine));
    entries.push_back(e);
    if (const auto number = walk.number_at(start)) {
      const Entry block = walk.blocks[*number];
      listed[*number] = true;
      differs = differs || (!same_block(block, e) &&
                            xxh3(file_->bytes(start, kPosition + block.bytes)) != e.hash);
    } else {
      unfound = true;
      inside = inside || walk.is_inside_block(start);
    }
  }
  if (!unfound) return false;
  if (walk.covers(schema)) return true;
  if (differs) return false;
  return inside || std::find(listed.begin(), listed.end(), false) != listed.end() ||
         !find_overlaps(sorted_by_position(entries)).empty();
}

namespace {

// An entry has few values that go together: no line of other things looks like one.
bool makes_sense(const Entry& e, const std::byte* line, const Schema& schema) {
  constexpr std::array<std::byte, kLine - entry_at::reserved> kReserved{};
  if (e.kind > BlockKind::coo ||
      !value_type_of_code(std::to_integer<std::uint8_t>(line[entry_at::value_type])) ||
      std::memcmp(line + entry_at::reserved, kReserved.data(), kReserved.size()) != 0) {
    return false;
  }
  const std::uint64_t cells = std::uint64_t{e.rows} * e.cols;
  const bool stores = e.kind == BlockKind::empty   ? e.stored == 0
                      : e.kind == BlockKind::dense ? e.stored == cells
                                                   : e.stored <= cells;
  std::uint64_t bytes = 0;
  const Item item{e};
  return stores && item.holds_cells() && is_inside(item, schema.rows, schema.cols) &&
         block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, bytes) && bytes == e.bytes;
}

}  // namespace

EntryTable KnownItems::named(std::uint64_t body, const Schema& schema) const {
  EntryTable names;
  if (lies_) return names;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::byte* const line = file_->at(entries_ + i * kLine, kLine);
    const Entry e = load_entry(line);
    const bool between =
        e.offset >= body + kPosition && e.offset < *payload_ && e.bytes <= *payload_ - e.offset;
    if (between && makes_sense(e, line, schema)) names.push_back(e);
  }
  return names;
}

// An entry of a damaged index whose hash fits bytes of the file is not one of the damaged. Those of
// sound blocks lie apart, and never take more to prove than the file has.
bool KnownItems::is_proven(const Entry& e) {
  if (e.hash == 0 || e.bytes > file_->size() - e.offset || e.bytes > to_hash_) return false;
  to_hash_ -= e.bytes;
  return xxh3(file_->bytes(e.offset - kPosition, kPosition + e.bytes)) == e.hash;
}

std::optional<Entry> KnownItems::find(std::uint64_t start) const {
  const auto at = std::lower_bound(items_.begin(), items_.end(), Item{start, 0});
  if (at == items_.end() || at->first != start || at->second == kNone) return std::nullopt;
  return load_entry(file_->at(at->second, kLine));
}

std::uint64_t KnownItems::next(std::uint64_t at) const {
  const auto behind = std::upper_bound(items_.begin(), items_.end(), Item{at, kNone});
  return behind == items_.end() ? kNone : behind->first;
}

}  // namespace dapple::detail::dbdf
