#include "lib/dbdf/care/whole_index.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "lib/base/search.h"
#include "lib/dbdf/header.h"
#include "lib/dbdf/hints.h"
#include "lib/index/overlap.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

/// The number of the block whose position is at this byte.
std::optional<std::uint64_t> starting_at(const EntryTable& blocks, std::uint64_t byte) {
  const std::uint64_t low = count_first(
      blocks.size(), [&](std::uint64_t i) { return blocks[i].offset - kPosition < byte; });
  if (low == blocks.size() || blocks[low].offset - kPosition != byte) return std::nullopt;
  return low;
}

}  // namespace

bool same_block(const Entry& a, const Entry& b) noexcept {
  return a.pos == b.pos && a.rows == b.rows && a.cols == b.cols && a.kind == b.kind &&
         a.stored == b.stored && a.bytes == b.bytes && a.codec == b.codec &&
         (a.kind == BlockKind::empty || a.value_type == b.value_type);
}

WholeIndex::WholeIndex(const std::shared_ptr<ByteSource>& file, std::uint64_t body) : file_(file) {
  const auto trailer = find_trailer(*file, body + kPosition + kDenseHeader);
  if (!trailer) return;
  has_trailer_ = true;
  found_ = is_whole(*file, *trailer);
  other_header_ = found_ && !knows_header(*file, body, *trailer);
  place_ = trailer->place;
  payload_ = trailer->payload;
  hints_ = payload_ - kDenseHeader;
  try {
    for_each_hint(*file, body, *trailer, [this](std::string_view, const Hint& hint) {
      hints_ = hint.offset - kDenseHeader;
    });
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt) throw;
  }
}

Entry WholeIndex::entry(std::uint64_t number) const {
  return load_entry(file_->at(place_.entries + number * kLine, kLine));
}

bool WholeIndex::lists(EntryTable& blocks) const {
  if (!found_ || size() != blocks.size()) return false;
  const std::uint64_t order = place_.entries + size() * kLine;
  for (std::uint64_t i = 0; i < size(); ++i) {
    const std::uint64_t number =
        place_.ordered ? load_le<std::uint64_t>(file_->at(order + 8 * i, 8)) : i;
    if (number >= size()) return false;
    const Entry said = entry(number);
    Entry block = blocks[i];
    if (said.offset != block.offset || !same_block(said, block)) return false;
    block.hash = said.hash;
    blocks.set(i, block);
  }
  return true;
}

bool WholeIndex::lies(const EntryTable& blocks, std::uint64_t rows, std::uint64_t cols) {
  arrange();
  bool names_others = false, differs = false;
  for (const Start& start : starts_) {
    if (start.number == kNone) continue;
    const auto block = starting_at(blocks, start.byte);
    names_others |= !block;
    differs |= block && !same_block(blocks[*block], entry(start.number));
  }
  // A block that differs from its entry is damaged, or its entry was forged: its hash tells.
  if (!names_others) return !differs && size() < blocks.size();
  return cells_in_none(blocks, rows, cols) == 0 &&
         find_overlaps(blocks, order_by_position(blocks)).empty();
}

void WholeIndex::keep_only(const EntryTable& blocks) {
  std::erase_if(starts_, [&](const Start& start) {
    return start.number != kNone && !starting_at(blocks, start.byte);
  });
}

void WholeIndex::arrange() {
  starts_.clear();
  for (std::uint64_t i = 0; i < size(); ++i) {
    const std::uint64_t offset = entry(i).offset;
    if (offset >= kPosition && offset <= file_->size()) starts_.push_back({offset - kPosition, i});
  }
  if (has_trailer_) starts_.push_back({payload_ - kDenseHeader - kPosition, kNone});
  std::sort(starts_.begin(), starts_.end());
}

std::optional<Entry> WholeIndex::find(std::uint64_t start) const {
  const auto at = std::lower_bound(starts_.begin(), starts_.end(), Start{start, 0});
  if (at == starts_.end() || at->byte != start || at->number == kNone) return std::nullopt;
  return entry(at->number);
}

std::uint64_t WholeIndex::next(std::uint64_t at) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), Start{at, kNone});
  return after == starts_.end() ? kNone : after->byte;
}

}  // namespace dapple::detail::dbdf
