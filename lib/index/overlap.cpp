#include "lib/index/overlap.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace dapple::detail {

std::vector<std::uint64_t> order_by_position(const EntryTable& entries) {
  const auto before = [&](std::uint64_t i, std::uint64_t j) {
    const Entry a = entries[i], b = entries[j];
    return a.pos != b.pos ? a.pos < b.pos : a.offset < b.offset;
  };
  std::uint64_t sorted = 1;
  while (sorted < entries.size() && !before(sorted, sorted - 1)) ++sorted;
  if (sorted >= entries.size()) return {};
  std::vector<std::uint64_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), before);
  return order;
}

// A sweep over the rows that keeps the column ranges of the blocks that the current row crosses.
std::vector<Overlap> find_overlaps(const EntryTable& entries,
                                   std::span<const std::uint64_t> order) {
  struct Active {
    std::uint64_t col_end, number;
  };
  std::map<std::uint64_t, Active> active;                   // by first column; disjoint
  using Leaving = std::pair<std::uint64_t, std::uint64_t>;  // row end, first column
  std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> leaving;
  std::vector<Overlap> overlaps;
  for (std::uint64_t k = 0; k < entries.size(); ++k) {
    const std::uint64_t i = order.empty() ? k : order[k];
    const Entry e = entries[i];
    const Region cells = e.cells();
    while (!leaving.empty() && leaving.top().first <= cells.rows.begin) {
      active.erase(leaving.top().second);
      leaving.pop();
    }
    const auto next = active.lower_bound(cells.cols.begin);
    std::optional<std::uint64_t> other;
    if (next != active.end() && next->first < cells.cols.end) other = next->second.number;
    if (next != active.begin() && std::prev(next)->second.col_end > cells.cols.begin) {
      other = std::prev(next)->second.number;
    }
    if (other) {
      const bool first = entries[*other].offset < e.offset;
      overlaps.push_back(first ? Overlap{*other, i} : Overlap{i, *other});
      continue;
    }
    active.emplace(cells.cols.begin, Active{cells.cols.end, i});
    leaving.emplace(cells.rows.end, cells.cols.begin);
  }
  return overlaps;
}

Error overlap_error(const EntryTable& entries, const Overlap& overlap, const std::string& file) {
  const Entry earlier = entries[overlap.earlier], later = entries[overlap.later];
  const Region both = intersect(earlier.cells(), later.cells());
  return Error(Errc::corrupt, file, later.offset,
               "blocks " + text(earlier.pos) + " and " + text(later.pos) + " both hold cell " +
                   text({both.rows.begin, both.cols.begin}) + " (R3)");
}

Area cells_in_none(const EntryTable& entries, std::uint64_t rows, std::uint64_t cols) {
  const Area all = Area{rows} * cols;
  Area covered = 0;
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    covered += Area{entries[i].rows} * entries[i].cols;
  }
  return all - std::min(all, covered);
}

}  // namespace dapple::detail
