#include "lib/index/cover_tree.h"

#include <algorithm>
#include <span>

namespace dapple::detail {

namespace {

struct Item {
  Region cells;
  std::uint64_t number;
};

using Items = std::span<Item>;

constexpr Range rows_of(const Item& item) { return item.cells.rows; }
constexpr Range cols_of(const Item& item) { return item.cells.cols; }

class Builder {
 public:
  explicit Builder(CoverTree& tree) : tree_(tree) {}

  // Recursion is as deep as the tree: every level leaves at most three quarters of the blocks.
  std::uint64_t build(Items items) {
    if (items.empty()) return 0;
    if (items.size() == 1) return 2 * items.front().number + 1;
    if (const auto bands = cut(items, rows_of); balanced(bands, items.size())) {
      return emit_bands(items, bands, CoverNode::row_bands, rows_of);
    }
    if (const auto bands = cut(items, cols_of); balanced(bands, items.size())) {
      return emit_bands(items, bands, CoverNode::col_bands, cols_of);
    }
    return emit_pin(items);
  }

 private:
  // Sorts the items along an axis; returns where each band starts, and the number of items.
  template <class Axis>
  static std::vector<std::size_t> cut(Items items, Axis axis) {
    const auto before = [axis](const Item& a, const Item& b) {
      return axis(a).begin < axis(b).begin;
    };
    if (!std::is_sorted(items.begin(), items.end(), before)) {
      std::sort(items.begin(), items.end(), before);
    }
    std::vector<std::size_t> starts;
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i == 0 || axis(items[i]).begin >= end) starts.push_back(i);
      end = std::max(end, axis(items[i]).end);
    }
    starts.push_back(items.size());
    return starts;
  }

  static bool balanced(const std::vector<std::size_t>& starts, std::size_t n) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      largest = std::max(largest, starts[i + 1] - starts[i]);
    }
    return largest <= n - n / 4 && largest < n;
  }

  template <class Axis>
  std::uint64_t emit_bands(Items items, const std::vector<std::size_t>& starts, CoverNode kind,
                           Axis axis) {
    const std::size_t m = starts.size() - 1;
    const std::size_t at = append_header(m, kind, 2 * m);
    for (std::size_t i = 0; i < m; ++i) {
      tree_.words[at + 1 + i] = axis(items[starts[i]]).begin;
    }
    for (std::size_t i = 0; i < m; ++i) {
      const std::uint64_t ref = build(items.subspan(starts[i], starts[i + 1] - starts[i]));
      tree_.words[at + 1 + m + i] = ref;
    }
    return 2 * std::uint64_t{at};
  }

  std::uint64_t emit_pin(Items items) {
    tree_.pinned = true;
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
    std::nth_element(items.begin(), middle, items.end(), [](const Item& a, const Item& b) {
      return a.cells.rows.begin < b.cells.rows.begin;
    });
    const std::uint64_t row = middle->cells.rows.begin;
    const auto crossing = std::partition(
        items.begin(), items.end(), [row](const Item& item) { return item.cells.rows.end <= row; });
    const auto below = std::partition(
        crossing, items.end(), [row](const Item& item) { return item.cells.rows.begin <= row; });
    std::sort(crossing, below,
              [](const Item& a, const Item& b) { return a.cells.cols.begin < b.cells.cols.begin; });
    const auto m = static_cast<std::size_t>(below - crossing);
    const std::size_t at = append_header(m, CoverNode::pin, 3 + 2 * m);
    tree_.words[at + 1] = row;
    for (std::size_t i = 0; i < m; ++i) {
      const Item& item = crossing[static_cast<std::ptrdiff_t>(i)];
      tree_.words[at + 4 + i] = item.cells.cols.begin;
      tree_.words[at + 4 + m + i] = item.number;
    }
    const std::uint64_t above_ref = build(Items(items.begin(), crossing));
    tree_.words[at + 2] = above_ref;
    const std::uint64_t below_ref = build(Items(below, items.end()));
    tree_.words[at + 3] = below_ref;
    return 2 * std::uint64_t{at};
  }

  std::size_t append_header(std::size_t m, CoverNode kind, std::size_t more) {
    const std::size_t at = tree_.words.size();
    tree_.words.push_back(4 * std::uint64_t{m} + static_cast<std::uint64_t>(kind));
    tree_.words.resize(at + 1 + more);
    return at;
  }

  CoverTree& tree_;
};

}  // namespace

CoverTree build_cover_tree(const EntryTable& blocks) {
  std::vector<Item> items;
  items.reserve(blocks.size());
  for (std::uint64_t i = 0; i < blocks.size(); ++i) items.push_back({blocks[i].cells(), i});
  CoverTree tree;
  tree.words.push_back(0);
  const std::uint64_t root = Builder(tree).build(items);
  tree.words[0] = root;
  return tree;
}

}  // namespace dapple::detail
