#include "lib/dbdf/known_items.h"

#include <algorithm>
#include <limits>

#include "lib/dbdf/header.h"
#include "lib/dbdf/index_block.h"
#include "lib/dbdf/index_traces.h"
#include "lib/dbdf/walk.h"
#include "lib/hash.h"

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

KnownItems::KnownItems(const std::shared_ptr<MappedFile>& file, std::uint64_t body,
                       const PlainWalk& walk)
    : file_(file), to_hash_(2 * file->size()) {
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  std::uint64_t entries = 0, count = 0;
  has_trailer_ = trailer.has_value();
  if (trailer) {
    complete_ = is_whole(*file, *trailer);
    other_header_ = complete_ && !knows_header(*file, body, *trailer);
    payload_ = trailer->payload;
    entries = trailer->place.entries;
    count = trailer->place.count;
  } else {
    payload_ = find_damaged_index(*file, walk.end_of_blocks(body));
    if (!payload_) return;
    // Other lines than entries are no proof of anything.
    entries = *payload_ + kLine;
    count = file->size() < entries ? 0 : (file->size() - entries) / kLine;
  }
  file->map();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = entries + i * kLine;
    const Entry e = load_entry(file->at(at, kLine));
    if (e.offset < body + kPosition || e.offset > file->size()) continue;
    if (complete_ || is_proven(e)) items_.push_back({e.offset - kPosition, at});
  }
  if (trailer) items_.push_back({trailer->payload - kDenseHeader - kPosition, kNone});
  std::sort(items_.begin(), items_.end());
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
