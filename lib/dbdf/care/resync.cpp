#include "lib/dbdf/care/resync.h"

#include <algorithm>
#include <span>
#include <utility>

#include "dapple/error.h"

namespace dapple::detail::dbdf {

bool is_tile(const Entry& block, TileShape tile, const Schema& schema) noexcept {
  return block.pos.rx % tile.rows == 0 && block.pos.cx % tile.cols == 0 &&
         block.rows == std::min<std::uint64_t>(tile.rows, schema.rows - block.pos.rx) &&
         block.cols == std::min<std::uint64_t>(tile.cols, schema.cols - block.pos.cx);
}

void TileCounts::count(const EntryTable& blocks, const Schema& schema) {
  constexpr std::size_t kMostShapes = 64;
  for (; counted_ < blocks.size(); ++counted_) {
    const Entry block = blocks[counted_];
    const std::pair shape(block.rows, block.cols);
    if (fitting_.size() < kMostShapes && fitting_.count(shape) == 0) {
      std::uint64_t& fit = fitting_[shape];
      for (std::uint64_t i = 0; i < counted_; ++i) {
        fit += is_tile(blocks[i], {block.rows, block.cols}, schema);
      }
    }
    for (auto& [tile, fit] : fitting_) fit += is_tile(block, {tile.first, tile.second}, schema);
  }
}

std::optional<TileShape> TileCounts::common() const {
  const auto best =
      std::max_element(fitting_.begin(), fitting_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == fitting_.end() || best->second < 2 || best->second < counted_ - counted_ / 3) {
    return std::nullopt;
  }
  return TileShape{best->first.first, best->first.second};
}

std::optional<TileShape> common_tile(const EntryTable& blocks, const Schema& schema) {
  TileCounts counts;
  counts.count(blocks, schema);
  return counts.common();
}

namespace {

// Most bytes start no item, and checking the most telling fields costs less than an exception.
bool may_be_item(const std::byte* p, const Schema& schema) noexcept {
  const BlockPos pos{load_le<std::uint64_t>(p), load_le<std::uint64_t>(p + 8)};
  const auto rows = load_le<std::uint32_t>(p + kPosition);
  const auto cols = load_le<std::uint32_t>(p + kPosition + 4);
  if (p[kPosition + 8] > std::byte{3}) return false;
  if (rows == 0 || cols == 0 || pos == kAuxiliaryPos) return true;
  return pos.rx < schema.rows && rows <= schema.rows - pos.rx && pos.cx < schema.cols &&
         cols <= schema.cols - pos.cx;
}

}  // namespace

std::optional<Item> Resync::item_at(std::uint64_t at) const {
  const std::uint64_t left = file_.size() - at;
  if (left < kShortestItem || !may_be_item(file_.at(at, kShortestItem), schema_)) {
    return std::nullopt;
  }
  try {
    const auto bytes = file_.bytes(at, std::min<std::uint64_t>(left, kLongestItemHeader));
    Item item;
    read_item_header(bytes, at, schema_.rows, schema_.cols, left, file_.name(), item);
    return item;
  } catch (const Error&) {
    return std::nullopt;
  }
}

namespace {

// Reads the fields of a truncated item header.
class CutFields {
 public:
  explicit CutFields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // The next field of that many bytes; if it is incomplete, the lowest value it may have had.
  std::uint64_t next(std::size_t size) {
    const std::size_t have = std::min(size, bytes_.size());
    std::uint64_t value = 0;
    full_ = have > 0;
    for (std::size_t i = 0; i < have; ++i) {
      value |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
      full_ = full_ && bytes_[i] == std::byte{0xFF};
    }
    bytes_ = bytes_.subspan(have);
    cut_ = have < size;
    return value;
  }
  bool was_cut() const { return cut_; }    // the last field was incomplete
  bool was_full() const { return full_; }  // all its available bits are set
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool cut_ = false, full_ = false;
};

}  // namespace

void Resync::learn(const EntryTable& blocks) {
  for (std::uint64_t i = tiles_.counted(); i < blocks.size(); ++i) {
    taken_.emplace(blocks[i].pos.rx, blocks[i].pos.cx);
  }
  tiles_.count(blocks, schema_);
}

bool Resync::may_be_cut(std::uint64_t at, const EntryTable& blocks) {
  learn(blocks);
  const std::uint64_t left = std::min<std::uint64_t>(file_.size() - at, kPosition + kDenseHeader);
  CutFields fields(file_.bytes(at, left));
  BlockPos pos;
  pos.rx = fields.next(sizeof pos.rx);
  const bool row_of_auxiliary = fields.was_full();
  if (!row_of_auxiliary && pos.rx >= schema_.rows) return false;
  if (fields.at_end()) return true;
  pos.cx = fields.next(sizeof pos.cx);
  const bool auxiliary = row_of_auxiliary && fields.was_full();
  if (!auxiliary) {
    if (pos.rx >= schema_.rows || pos.cx >= schema_.cols) return false;
    if (!fields.was_cut() && taken_.count({pos.rx, pos.cx}) != 0) return false;
  }
  const std::uint64_t rows = fields.next(4), cols = fields.next(4);
  if (!auxiliary && (rows > schema_.rows - pos.rx || cols > schema_.cols - pos.cx)) return false;
  if (fields.at_end()) return true;
  const std::uint64_t kind = fields.next(1);
  if (kind > 3 || (auxiliary && kind != static_cast<std::uint64_t>(BlockKind::dense))) return false;
  if (fields.at_end()) return kind != 0;
  return value_type_of_code(static_cast<std::uint8_t>(fields.next(1))).has_value();
}

bool Resync::reaches_end(std::uint64_t at) {
  std::vector<std::uint64_t> passed;
  while (at < file_.size() && !leads_nowhere_[at]) {
    const auto item = item_at(at);
    passed.push_back(at);
    // Zeros look like a chain of items without cells.
    if (!item || !(item->holds_cells() || item->auxiliary)) break;
    at = item->entry.offset + item->entry.bytes;
  }
  if (at == file_.size()) return true;
  for (const std::uint64_t byte : passed) leads_nowhere_[byte] = true;
  return false;
}

std::uint64_t Resync::next_item(std::uint64_t at, const EntryTable& blocks, bool to_end) {
  file_.expect_reads();
  if (leads_nowhere_.empty()) leads_nowhere_.resize(file_.size());
  learn(blocks);
  const auto tile = to_end ? std::nullopt : tiles_.common();
  for (; file_.size() - at >= kShortestItem; ++at) {
    const auto item = item_at(at);
    if (!item || !item->holds_cells() || rejected_.count(at) != 0) continue;
    const Entry& e = item->entry;
    if (taken_.count({e.pos.rx, e.pos.cx}) != 0) continue;
    const std::uint64_t end = e.offset + e.bytes;
    const bool followed = end == file_.size() || item_at(end).has_value();
    if ((tile && is_tile(e, *tile, schema_) && followed) || reaches_end(at)) return at;
  }
  return file_.size();
}

}  // namespace dapple::detail::dbdf
