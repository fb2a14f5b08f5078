#include "lib/dbdf/care/known_items.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "lib/dbdf/care/evidence.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/index_traces.h"
#include "lib/dbdf/walk.h"
#include "lib/index/overlap.h"
#include "lib/io/hash.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

}  // namespace

PlainWalk::PlainWalk(const ByteSource& file, std::uint64_t body, const Schema& schema,
                     const SeeItem& see) {
  constexpr std::uint64_t kSample = 64;
  Walk walk(file, body, schema.rows, schema.cols);
  try {
    for (Item item; walk.next(item);) {
      if (item.holds_cells()) blocks.push_back(item.entry);
      if (blocks.size() == kSample) {  // growing would copy a table of millions
        blocks.reserve((file.size() - body) / ((walk.offset() - body) / kSample) + kSample);
      }
      see(item, walk.offset());
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
         find_overlaps(blocks, order_by_position(blocks)).empty();
}

KnownItems::KnownItems(const std::shared_ptr<ByteSource>& file, std::uint64_t body)
    : file_(file), body_(body), to_hash_(2 * file->size()) {
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  if (!trailer) return;
  has_trailer_ = true;
  complete_ = is_whole(*file, *trailer);
  other_header_ = complete_ && !knows_header(*file, body, *trailer);
  ordered_ = trailer->place.ordered;
  payload_ = trailer->payload;
  hints_ = *payload_ - kDenseHeader;
  try {
    for_each_hint(*file, body, *trailer, [this](std::string_view, const Hint& hint) {
      hints_ = hint.offset - kDenseHeader;
    });
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt) throw;
  }
  entries_ = trailer->place.entries;
  count_ = trailer->place.count;
}

const std::byte* KnownItems::line(std::uint64_t i) const {
  return file_->at(entries_ + i * kLine, kLine);
}

bool KnownItems::lists_exactly(PlainWalk& walk) const {
  if (!walk.clean || count_ != walk.blocks.size()) return false;
  for (std::uint64_t i = 0; i < count_; ++i) {
    std::uint64_t number = i;
    if (ordered_) {
      number = load_le<std::uint64_t>(file_->at(entries_ + count_ * kLine + 8 * i, 8));
      if (number >= count_) return false;
    }
    const Entry said = load_entry(line(number));
    Entry found = walk.blocks[i];
    if (said.offset != found.offset || !same_block(said, found)) return false;
    found.hash = said.hash;
    walk.blocks.set(i, found);
  }
  return true;
}

bool KnownItems::agrees(PlainWalk& walk, const Schema& schema) {
  if (complete_ && lists_exactly(walk)) return true;
  if (!has_trailer_) {
    payload_ = find_damaged_index(*file_, walk.end_of_blocks(body_));
    if (!payload_) return walk.clean;
    // Some lines are no entries, but those will not be proven.
    entries_ = *payload_ + kLine;
    count_ = file_->size() < entries_ ? 0 : (file_->size() - entries_) / kLine;
  }
  file_->expect_reads();
  for (std::uint64_t i = 0; i < count_; ++i) {
    const Entry e = load_entry(line(i));
    if (e.offset < body_ + kPosition || e.offset > file_->size()) continue;
    if (complete_ || is_proven(e)) starts_.push_back({e.offset - kPosition, entries_ + i * kLine});
  }
  if (complete_ && walk.clean && contradicts(walk, schema)) {
    lies_ = true;
    complete_ = false;
    std::erase_if(starts_, [&](const Start& start) { return !walk.number_at(start.first); });
  } else if (has_trailer_) {
    starts_.push_back({*payload_ - kDenseHeader - kPosition, kNone});
  }
  std::sort(starts_.begin(), starts_.end());
  return false;
}

// True when damage cannot explain why the index names blocks that a clean walk does not find. A
// damaged header may hide a block, but then some block differs from its entry, or some part of the
// object has no block.
bool KnownItems::contradicts(const PlainWalk& walk, const Schema& schema) const {
  std::vector<bool> listed(walk.blocks.size());
  bool differs = false, inside = false, unfound = false;
  EntryTable entries;
  for (const auto& [start, at] : starts_) {
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
         !find_overlaps(entries, order_by_position(entries)).empty();
}

namespace {

// True when the fields of an entry are consistent, which other lines of the index are not.
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
         block_size(e.kind, e.rows, e.cols, e.value_type, e.stored, bytes) &&
         (e.codec == 0 ? bytes == e.bytes : e.bytes >= kEncodedHeader && bytes <= kMostDecoded);
}

}  // namespace

std::optional<Entry> KnownItems::named(std::uint64_t i, const Schema& schema) const {
  const Entry e = load_entry(line(i));
  const bool before_index =
      e.offset >= body_ + kPosition && e.offset < *payload_ && e.bytes <= *payload_ - e.offset;
  if (!before_index || !makes_sense(e, line(i), schema)) return std::nullopt;
  return e;
}

// An entry of a damaged index is intact if its hash matches bytes of the file. Sound blocks do not
// overlap, so proving them never hashes more bytes than the file has.
bool KnownItems::is_proven(const Entry& e) {
  if (e.hash == 0 || e.bytes > file_->size() - e.offset || e.bytes > to_hash_) return false;
  to_hash_ -= e.bytes;
  return xxh3(file_->bytes(e.offset - kPosition, kPosition + e.bytes)) == e.hash;
}

std::optional<Entry> KnownItems::find(std::uint64_t start) const {
  const auto at = std::lower_bound(starts_.begin(), starts_.end(), Start{start, 0});
  if (at == starts_.end() || at->first != start || at->second == kNone) return std::nullopt;
  return load_entry(file_->at(at->second, kLine));
}

std::uint64_t KnownItems::next(std::uint64_t at) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), Start{at, kNone});
  return after == starts_.end() ? kNone : after->first;
}

}  // namespace dapple::detail::dbdf
