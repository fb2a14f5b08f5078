#include "lib/index/cover_search.h"

#include <algorithm>

#include "dapple/error.h"
#include "lib/base/bytes.h"

namespace dapple::detail {

void CoverSearch::fail(std::uint64_t word, std::string detail) const {
  throw Error(Errc::corrupt, file_ != nullptr ? file_->name() : std::string(), first_ + 8 * word,
              std::move(detail));
}

CoverSearch::Words CoverSearch::words_at(std::uint64_t first, std::uint64_t n) const {
  if (file_ == nullptr) return {reinterpret_cast<const std::byte*>(memory_.data() + first), n};
  return {file_->at(first_ + 8 * first, 8 * n), n};
}

CoverSearch::Node CoverSearch::node_at(std::uint64_t at, std::uint64_t parent) const {
  if (at <= parent || at >= size()) {
    fail(parent, "the cover tree of the index leads from word " + std::to_string(parent) + " of " +
                     std::to_string(size()) + " to word " + std::to_string(at));
  }
  const std::uint64_t header = word(at);
  Node node{static_cast<CoverNode>(header & 3), at, header >> 2};
  const std::uint64_t left = size() - at - 1;
  const std::uint64_t fixed = node.kind == CoverNode::pin ? 3 : 0;
  if ((header & 3) == 3 || left < fixed || node.count > (left - fixed) / 2) {
    fail(at, "a node of the index's cover tree does not fit the " + counted(left, "word") +
                 " after its header " + std::to_string(header));
  }
  return node;
}

// The number of words that are not above `x`, given that all are in `within`. An interpolation
// search: it usually touches two cache lines, where a binary search of a thousand words touches
// seven. The value that belongs to a word is n_ words later, and its line is prefetched too. Worth
// 30 % of a lookup among 10^6 blocks.
std::uint64_t CoverSearch::Words::count_not_above(std::uint64_t x, Range within) const noexcept {
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
  std::uint64_t low = 0, high = n_;  // words before low are not above x, words from high on are
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

// The range from word `count` - 1 to the next one.
Range CoverSearch::Words::span_of(std::uint64_t count, Range within) const noexcept {
  return {(*this)[count - 1], count < n_ ? (*this)[count] : within.end};
}

bool CoverSearch::holds(const Entries& entries, std::uint64_t number, std::uint64_t row,
                        std::uint64_t col) const {
  if (number >= entries.size()) {
    fail(0, "the cover tree of the index names block " + std::to_string(number) + " of " +
                std::to_string(entries.size()));
  }
  const Entry e = entries[number];
  // Subtracting: a damaged entry may end beyond 2^64.
  return row >= e.pos.rx && row - e.pos.rx < e.rows && col >= e.pos.cx && col - e.pos.cx < e.cols;
}

std::optional<std::uint64_t> CoverSearch::cover(const Entries& entries, const Region& object,
                                                std::uint64_t row, std::uint64_t col) const {
  if (size() == 0) return std::nullopt;
  std::uint64_t ref = word(0);
  Region part = object;  // that the node covers
  for (std::uint64_t parent = 0; ref != 0;) {
    if (ref % 2 == 1) {
      if (holds(entries, ref / 2, row, col)) return ref / 2;
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
      ref = word(node.at + node.count + band);
      continue;
    }
    const Words pins = words_at(node.at + 4, node.count);
    if (const std::uint64_t i = pins.count_not_above(col, part.cols); i > 0) {
      const std::uint64_t number = word(node.at + 3 + node.count + i);
      if (holds(entries, number, row, col)) return number;
    }
    const std::uint64_t middle = word(node.at + 1);
    (row < middle ? part.rows.end : part.rows.begin) = middle;
    ref = word(node.at + (row < middle ? 2 : 3));
  }
  return std::nullopt;
}

std::vector<std::uint64_t> CoverSearch::touching(const Entries& entries, const Region& object,
                                                 const Region& region) const {
  std::vector<std::uint64_t> numbers;
  if (size() == 0) return numbers;
  const auto take = [&](std::uint64_t number) {
    if (number >= entries.size() || numbers.size() >= entries.size()) {
      fail(0,
           "the cover tree of the index names more than its " + counted(entries.size(), "block"));
    }
    numbers.push_back(number);
  };
  constexpr std::uint64_t kAtOnce = 4 << 20;  // bytes of a tree that is far away
  if (file_ != nullptr && file_->fetches() && size() <= kAtOnce / 8) {
    file_->will_need(first_, 8 * size());
  }
  struct Pending {
    std::uint64_t ref, parent;
    Region part;  // that it covers
  };
  std::vector<Pending> pending{{word(0), 0, object}};
  // A sound tree has fewer nodes and blocks than words; a damaged one may lead to a node again and
  // again.
  for (std::uint64_t visits = 0; !pending.empty(); ++visits) {
    if (visits > 2 * size()) {
      fail(0, "the cover tree of the index reaches a node more than once");
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
        pending.push_back({word(node.at + node.count + band), node.at, below});
      }
      continue;
    }
    const Words pins = words_at(node.at + 4, node.count);
    const std::uint64_t first = pins.count_not_above(region.cols.begin, part.cols);
    const std::uint64_t last = pins.count_not_above(region.cols.end - 1, part.cols);
    visits += node.count;
    for (std::uint64_t i = std::max<std::uint64_t>(first, 1); i <= last; ++i) {
      take(word(node.at + 3 + node.count + i));
    }
    const std::uint64_t row = word(node.at + 1);
    const auto push = [&](std::uint64_t at, Range rows) {
      pending.push_back({word(node.at + at), node.at, {rows, part.cols}});
    };
    if (region.rows.begin < row) push(2, {part.rows.begin, row});
    if (region.rows.end - 1 > row) push(3, {row, part.rows.end});
  }
  entries.will_need(numbers);
  std::erase_if(numbers, [&](std::uint64_t number) {
    return intersect(entries[number].cells(), region).empty();
  });
  return numbers;
}

}  // namespace dapple::detail
