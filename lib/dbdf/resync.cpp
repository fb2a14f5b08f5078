#include "lib/dbdf/resync.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dapple/error.h"

namespace dapple::detail::dbdf {

bool is_tile(const Entry& block, TileShape tile, const Schema& schema) noexcept {
  return block.pos.rx % tile.rows == 0 && block.pos.cx % tile.cols == 0 &&
         block.rows == std::min<std::uint64_t>(tile.rows, schema.rows - block.pos.rx) &&
         block.cols == std::min<std::uint64_t>(tile.cols, schema.cols - block.pos.cx);
}

std::optional<TileShape> common_tile(const EntryTable& blocks, const Schema& schema) {
  constexpr std::size_t kMostShapes = 64;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> fitting;
  for (std::uint64_t i = 0; i < blocks.size() && fitting.size() < kMostShapes; ++i) {
    fitting.emplace(std::pair(blocks[i].rows, blocks[i].cols), 0);
  }
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    const Entry block = blocks[i];
    for (auto& [shape, count] : fitting) {
      count += is_tile(block, {shape.first, shape.second}, schema);
    }
  }
  const auto best =
      std::max_element(fitting.begin(), fitting.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == fitting.end() || best->second < 2 ||
      best->second < blocks.size() - blocks.size() / 3) {
    return std::nullopt;
  }
  return TileShape{best->first.first, best->first.second};
}

namespace {

// Most bytes start no item: a look at what is most telling costs less than an error.
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

bool Resync::may_be_cut(std::uint64_t at, const Entry& front) const {
  const std::uint64_t left = file_.size() - at;
  if (left >= kShortestItem) return may_be_item(file_.at(at, kShortestItem), schema_);
  const std::byte* p = file_.at(at, left);
  if (left >= kPosition / 2) {
    const auto may_be = [](std::uint64_t position, std::uint64_t size) {
      return position < size || position == kAuxiliaryPos.rx;
    };
    return may_be(load_le<std::uint64_t>(p), schema_.rows) &&
           (left < kPosition || may_be(load_le<std::uint64_t>(p + 8), schema_.cols));
  }
  // Too few to tell; but a block that lacks columns or entries leaves so many bytes behind it.
  const std::uint64_t value = size_of(front.value_type);
  if (front.kind == BlockKind::dense) return left % (front.rows * value) != 0;
  if (front.kind == BlockKind::coo) return left % (value + (front.cols == 1 ? 4 : 8)) != 0;
  return true;
}

bool Resync::reaches_end(std::uint64_t at) {
  std::vector<std::uint64_t> passed;
  while (at < file_.size() && !leads_nowhere_[at]) {
    const auto item = item_at(at);
    passed.push_back(at);
    if (!item) break;
    at = item->entry.offset + item->entry.bytes;
  }
  if (at == file_.size()) return true;
  for (const std::uint64_t byte : passed) leads_nowhere_[byte] = true;
  return false;
}

std::uint64_t Resync::next_item(std::uint64_t at, const EntryTable& blocks) {
  file_.map();
  if (leads_nowhere_.empty()) leads_nowhere_.resize(file_.size());
  const auto tile = common_tile(blocks, schema_);
  std::set<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    taken.emplace(blocks[i].pos.rx, blocks[i].pos.cx);
  }
  for (; file_.size() - at >= kShortestItem; ++at) {
    const auto item = item_at(at);
    if (!item || !item->holds_cells() || rejected_.count(at) != 0) continue;
    const Entry& e = item->entry;
    if (taken.count({e.pos.rx, e.pos.cx}) != 0) continue;
    const std::uint64_t end = e.offset + e.bytes;
    const bool followed = end == file_.size() || item_at(end).has_value();
    if ((tile && is_tile(e, *tile, schema_) && followed) || reaches_end(at)) return at;
  }
  return file_.size();
}

}  // namespace dapple::detail::dbdf
