// Finding blocks in an index: by position, by a cell, by a region.

#include <algorithm>
#include <string>
#include <vector>

#include "lib/object/index.h"

namespace dapple::detail {

std::uint64_t BlockIndex::tree_size() const noexcept {
  return held_ != nullptr ? held_->tree.size() : place_.tree_words;
}

std::uint64_t BlockIndex::tree_byte(std::uint64_t i) const noexcept {
  return place_.entries + place_.count * (Entry::kBytes + (place_.ordered ? 8 : 0)) + 8 * i;
}

BlockIndex::Words BlockIndex::words_at(std::uint64_t first, std::uint64_t n) const {
  if (held_ != nullptr) {
    return {reinterpret_cast<const std::byte*>(held_->tree.data() + first), n};
  }
  return {file_->at(tree_byte(first), 8 * n), n};
}

std::uint64_t BlockIndex::tree_word(std::uint64_t i) const { return words_at(i, 1)[0]; }

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

// Number of the words that are not above `x`, all being expected in `within`. Looked for from where
// it is if they lie evenly, mostly within two cache lines, while a search from the middle of a
// thousand touches seven. What belongs to the words stands as far behind them as they are long:
// both are asked for at once (10^6 blocks, a look-up 1.70 us, so 1.20; Xeon of family 6, model
// 167).
std::uint64_t BlockIndex::Words::count_not_above(std::uint64_t x, Range within) const noexcept {
  constexpr std::uint64_t kNear = 8;
  if (n_ == 0 || x < within.begin) return 0;
  const double share =
      static_cast<double>(x - within.begin) / static_cast<double>(within.end - within.begin);
  const std::uint64_t guess =
      share < 1 ? std::min(static_cast<std::uint64_t>(share * static_cast<double>(n_)), n_ - 1)
                : n_ - 1;
  for (std::ptrdiff_t line = -2; line <= 2; ++line) {
    const std::byte* const there = first_ + 8 * guess + 64 * line;
    __builtin_prefetch(there);
    __builtin_prefetch(there + 8 * n_);
  }
  std::uint64_t low = 0, high = n_;  // words in front of low are not above x, words from high are
  if ((*this)[guess] <= x) {
    low = guess + 1;
    for (std::uint64_t step = kNear; high - low > step; step *= 2) {
      if ((*this)[low + step] > x) {
        high = low + step;
        break;
      }
      low += step + 1;
    }
  } else {
    high = guess;
    for (std::uint64_t step = kNear; high - low > step; step *= 2) {
      if ((*this)[high - step - 1] <= x) {
        low = high - step;
        break;
      }
      high -= step + 1;
    }
  }
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if ((*this)[middle] <= x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// From the last of `count` words to the next one.
Range BlockIndex::Words::span_of(std::uint64_t count, Range within) const noexcept {
  return {(*this)[count - 1], count < n_ ? (*this)[count] : within.end};
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
  if (is_on_demand()) {
    const Bands& bands = held_->bands;
    return row / bands.rows * bands.col_starts.size() + strip_of(col);
  }
  if (tree_size() == 0) return std::nullopt;
  std::uint64_t ref = tree_word(0);
  Region part = place_.object;  // that the node is about
  for (std::uint64_t parent = 0; ref != 0;) {
    if (ref % 2 == 1) {
      if (holds(ref / 2, row, col)) return ref / 2;
      return std::nullopt;
    }
    const Node node = node_at(ref / 2, parent);
    parent = node.at;
    if (node.kind != CoverNode::pin) {
      const bool by_row = node.kind == CoverNode::row_bands;
      Range& span = by_row ? part.rows : part.cols;
      const Words bands = words_at(node.at + 1, node.count);
      const std::uint64_t band = bands.count_not_above(by_row ? row : col, span);
      if (band == 0) return std::nullopt;
      span = bands.span_of(band, span);
      ref = tree_word(node.at + node.count + band);
      continue;
    }
    const Words pins = words_at(node.at + 4, node.count);
    if (const std::uint64_t i = pins.count_not_above(col, part.cols); i > 0) {
      const std::uint64_t number = tree_word(node.at + 3 + node.count + i);
      if (holds(number, row, col)) return number;
    }
    const std::uint64_t middle = tree_word(node.at + 1);
    (row < middle ? part.rows.end : part.rows.begin) = middle;
    ref = tree_word(node.at + (row < middle ? 2 : 3));
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
  if (is_on_demand()) {
    const Bands& bands = held_->bands;
    const std::uint64_t first = strip_of(region.cols.begin), last = strip_of(region.cols.end - 1);
    const std::uint64_t last_band = (region.rows.end - 1) / bands.rows;
    for (std::uint64_t band = region.rows.begin / bands.rows; band <= last_band; ++band) {
      const std::uint64_t number = band * bands.col_starts.size();
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
    Region part;  // that it is about
  };
  std::vector<Pending> pending{{tree_word(0), 0, place_.object}};
  // A sound tree has fewer nodes and blocks than words; a damaged one may reach a node along many
  // ways.
  for (std::uint64_t visits = 0; !pending.empty(); ++visits) {
    if (visits > 2 * tree_size()) {
      fail(tree_byte(0), "expected a cover tree that reaches each node once, got more visits");
    }
    const auto [ref, parent, cells] = pending.back();
    const Region part = cells;  // clang: lambdas capture no structured bindings
    pending.pop_back();
    if (ref == 0) continue;
    if (ref % 2 == 1) {
      take(ref / 2);
      continue;
    }
    const Node node = node_at(ref / 2, parent);
    if (node.kind != CoverNode::pin) {
      const bool by_row = node.kind == CoverNode::row_bands;
      const Range x = by_row ? region.rows : region.cols;
      const Range span = by_row ? part.rows : part.cols;
      const Words bands = words_at(node.at + 1, node.count);
      const std::uint64_t first = bands.count_not_above(x.begin, span);
      const std::uint64_t last = bands.count_not_above(x.end - 1, span);
      for (std::uint64_t band = std::max<std::uint64_t>(first, 1); band <= last; ++band) {
        Region below = part;
        (by_row ? below.rows : below.cols) = bands.span_of(band, span);
        pending.push_back({tree_word(node.at + node.count + band), node.at, below});
      }
      continue;
    }
    const Words pins = words_at(node.at + 4, node.count);
    const std::uint64_t first = pins.count_not_above(region.cols.begin, part.cols);
    const std::uint64_t last = pins.count_not_above(region.cols.end - 1, part.cols);
    visits += node.count;
    for (std::uint64_t i = std::max<std::uint64_t>(first, 1); i <= last; ++i) {
      take(tree_word(node.at + 3 + node.count + i));
    }
    const std::uint64_t row = tree_word(node.at + 1);
    const auto push = [&](std::uint64_t word, Range rows) {
      pending.push_back({tree_word(node.at + word), node.at, {rows, part.cols}});
    };
    if (region.rows.begin < row) push(2, {part.rows.begin, row});
    if (region.rows.end - 1 > row) push(3, {row, part.rows.end});
  }
}

}  // namespace dapple::detail
