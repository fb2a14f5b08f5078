// Finding blocks in an index: by position, by a cell, by a region.

#include <algorithm>
#include <string>
#include <vector>

#include "lib/object/index.h"

namespace dapple::detail {

std::uint64_t BlockIndex::tree_size() const noexcept {
  return memory_ != nullptr ? tree_.size() : place_.tree_words;
}

std::uint64_t BlockIndex::tree_byte(std::uint64_t i) const noexcept {
  return place_.entries + place_.count * (Entry::kBytes + (place_.ordered ? 8 : 0)) + 8 * i;
}

std::uint64_t BlockIndex::tree_word(std::uint64_t i) const {
  return memory_ != nullptr ? tree_[i] : load_le<std::uint64_t>(place_.where->at(tree_byte(i), 8));
}

BlockIndex::Node BlockIndex::node_at(std::uint64_t at, std::uint64_t parent) const {
  const std::uint64_t size = tree_size();
  if (at <= parent || at >= size) {
    fail(tree_byte(parent), "expected a cover tree node behind word " + std::to_string(parent) +
                                " of " + std::to_string(size) + ", got word " + std::to_string(at));
  }
  const std::uint64_t header = tree_word(at);
  Node node{static_cast<CoverNode>(header & 3), at, header >> 2};
  const std::uint64_t left = size - at - 1;
  const std::uint64_t fixed = node.kind == CoverNode::pin ? 3 : 0;
  if ((header & 3) == 3 || left < fixed || node.count > (left - fixed) / 2) {
    fail(tree_byte(at), "expected a cover tree node of at most " + std::to_string(left) +
                            " words, got header " + std::to_string(header));
  }
  return node;
}

// Number of the words [first, first + n) that are not above `x`; they are ascending.
std::uint64_t BlockIndex::count_not_above(std::uint64_t first, std::uint64_t n,
                                          std::uint64_t x) const {
  std::uint64_t low = 0;
  while (n > 0) {
    const std::uint64_t half = n / 2;
    if (tree_word(first + low + half) <= x) {
      low += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return low;
}

bool BlockIndex::holds(std::uint64_t number, std::uint64_t row, std::uint64_t col) const {
  if (number >= place_.count) {
    fail(tree_byte(0), "expected block numbers below " + std::to_string(place_.count) +
                           " in the cover tree, got " + std::to_string(number));
  }
  const Entry e = entry(number);
  // Subtracting: a damaged entry may end beyond 2^64.
  return row >= e.pos.rx && row - e.pos.rx < e.rows && col >= e.pos.cx && col - e.pos.cx < e.cols;
}

std::optional<std::uint64_t> BlockIndex::cover(std::uint64_t row, std::uint64_t col) const {
  if (const auto& grid = place_.grid) {
    return (row / grid->tile.rows) * grid->cols + col / grid->tile.cols;
  }
  if (pages_ != nullptr) return row / bands_.rows * bands_.col_starts.size() + strip_of(col);
  if (tree_size() == 0) return std::nullopt;
  std::uint64_t ref = tree_word(0);
  for (std::uint64_t parent = 0; ref != 0;) {
    if (ref % 2 == 1) {
      if (holds(ref / 2, row, col)) return ref / 2;
      return std::nullopt;
    }
    const Node node = node_at(ref / 2, parent);
    parent = node.at;
    if (node.kind != CoverNode::pin) {
      const std::uint64_t x = node.kind == CoverNode::row_bands ? row : col;
      const std::uint64_t band = count_not_above(node.at + 1, node.count, x);
      if (band == 0) return std::nullopt;
      ref = tree_word(node.at + node.count + band);
      continue;
    }
    if (const std::uint64_t i = count_not_above(node.at + 4, node.count, col); i > 0) {
      const std::uint64_t number = tree_word(node.at + 3 + node.count + i);
      if (holds(number, row, col)) return number;
    }
    ref = tree_word(node.at + (row < tree_word(node.at + 1) ? 2 : 3));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> BlockIndex::find(BlockPos pos) const {
  // A block covers its own first cell.
  if (const auto& grid = place_.grid) {
    if (pos.rx % grid->tile.rows != 0 || pos.cx % grid->tile.cols != 0) return std::nullopt;
    const std::uint64_t i = pos.rx / grid->tile.rows, j = pos.cx / grid->tile.cols;
    if (i >= grid->rows || j >= grid->cols) return std::nullopt;
    return i * grid->cols + j;
  }
  const auto number = cover(pos.rx, pos.cx);
  if (number && entry(*number).pos != pos) return std::nullopt;
  return number;
}

std::vector<std::uint64_t> BlockIndex::touching(const Region& region) const {
  std::vector<std::uint64_t> numbers;
  if (region.empty() || place_.count == 0) return numbers;
  if (const auto& grid = place_.grid) {
    const std::uint64_t j0 = region.cols.begin / grid->tile.cols;
    const std::uint64_t j1 = (region.cols.end - 1) / grid->tile.cols;
    const std::uint64_t i1 = (region.rows.end - 1) / grid->tile.rows;
    for (std::uint64_t i = region.rows.begin / grid->tile.rows; i <= i1; ++i) {
      for (std::uint64_t j = j0; j <= j1; ++j) numbers.push_back(i * grid->cols + j);
    }
    return numbers;
  }
  if (pages_ != nullptr) {
    const std::uint64_t first = strip_of(region.cols.begin), last = strip_of(region.cols.end - 1);
    const std::uint64_t last_band = (region.rows.end - 1) / bands_.rows;
    for (std::uint64_t band = region.rows.begin / bands_.rows; band <= last_band; ++band) {
      const std::uint64_t number = band * bands_.col_starts.size();
      for (std::uint64_t strip = first; strip <= last; ++strip) numbers.push_back(number + strip);
    }
    return numbers;
  }
  collect_touching(region, numbers);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (!(entry(numbers[i - 1]).pos < entry(numbers[i]).pos)) {
      fail_entry(numbers[i], "expected entries in ascending order of positions, got " +
                                 text(entry(numbers[i]).pos) + " behind " +
                                 text(entry(numbers[i - 1]).pos));
    }
  }
  return numbers;
}

void BlockIndex::collect_touching(const Region& region, std::vector<std::uint64_t>& numbers) const {
  const auto take = [&](std::uint64_t number) {
    if (number >= place_.count || numbers.size() >= place_.count) {
      fail(tree_byte(0), "expected each of " + std::to_string(place_.count) +
                             " blocks once in the cover tree, got more");
    }
    if (!intersect(entry(number).cells(), region).empty()) numbers.push_back(number);
  };
  struct Pending {
    std::uint64_t ref, parent;
  };
  std::vector<Pending> pending{{tree_word(0), 0}};
  // A sound tree has fewer nodes and blocks than words; a damaged one may reach a node along many
  // ways.
  for (std::uint64_t visits = 0; !pending.empty(); ++visits) {
    if (visits > 2 * tree_size()) {
      fail(tree_byte(0), "expected a cover tree that reaches each node once, got more visits");
    }
    const auto [ref, parent] = pending.back();
    pending.pop_back();
    if (ref == 0) continue;
    if (ref % 2 == 1) {
      take(ref / 2);
      continue;
    }
    const Node node = node_at(ref / 2, parent);
    if (node.kind != CoverNode::pin) {
      const Range x = node.kind == CoverNode::row_bands ? region.rows : region.cols;
      const std::uint64_t first = count_not_above(node.at + 1, node.count, x.begin);
      const std::uint64_t last = count_not_above(node.at + 1, node.count, x.end - 1);
      for (std::uint64_t band = std::max<std::uint64_t>(first, 1); band <= last; ++band) {
        pending.push_back({tree_word(node.at + node.count + band), node.at});
      }
      continue;
    }
    const std::uint64_t first = count_not_above(node.at + 4, node.count, region.cols.begin);
    const std::uint64_t last = count_not_above(node.at + 4, node.count, region.cols.end - 1);
    visits += node.count;
    for (std::uint64_t i = std::max<std::uint64_t>(first, 1); i <= last; ++i) {
      take(tree_word(node.at + 3 + node.count + i));
    }
    const std::uint64_t row = tree_word(node.at + 1);
    if (region.rows.begin < row) pending.push_back({tree_word(node.at + 2), node.at});
    if (region.rows.end - 1 > row) pending.push_back({tree_word(node.at + 3), node.at});
  }
}

}  // namespace dapple::detail
