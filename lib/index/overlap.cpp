#include "lib/index/overlap.h"

#include <algorithm>
#include <iterator>
#include <numeric>

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

std::optional<std::uint64_t> OverlapSweep::add(const Region& cells, std::uint64_t number) {
  while (!leaving_.empty() && leaving_.top().first <= cells.rows.begin) {
    active_.erase(leaving_.top().second);
    leaving_.pop();
  }
  const auto next = active_.lower_bound(cells.cols.begin);
  if (next != active_.begin() && std::prev(next)->second.col_end > cells.cols.begin) {
    return std::prev(next)->second.number;
  }
  if (next != active_.end() && next->first < cells.cols.end) return next->second.number;
  active_.emplace(cells.cols.begin, Active{cells.cols.end, number});
  leaving_.emplace(cells.rows.end, cells.cols.begin);
  return std::nullopt;
}

std::vector<Overlap> find_overlaps(const EntryTable& entries,
                                   std::span<const std::uint64_t> order) {
  OverlapSweep sweep;
  std::vector<Overlap> overlaps;
  for (std::uint64_t k = 0; k < entries.size(); ++k) {
    const std::uint64_t i = order.empty() ? k : order[k];
    const Entry e = entries[i];
    const auto other = sweep.add(e.cells(), i);
    if (!other) continue;
    const bool first = entries[*other].offset < e.offset;
    overlaps.push_back(first ? Overlap{*other, i} : Overlap{i, *other});
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
