#include "lib/compute/absent_cells.h"

#include <algorithm>

#include "lib/base/bytes.h"

namespace dapple::detail {

namespace {

/// True when there may be absent cells that count as NaN: a grid covers everything.
bool may_be_nan(const Store& store, Absent absent) {
  return absent == Absent::nan && !store.index().grid();
}

/// Calls f(cells) for each block.
template <class F>
void for_each_cover(const Store& store, const F& f) {
  const Region object{{0, store.schema().rows}, {0, store.schema().cols}};
  store.watched([&] {
    for (std::uint64_t i = 0; i < store.index().size(); ++i) {
      const Region cells = intersect(store.index().entry(i).cells(), object);
      if (!cells.empty()) f(cells);
    }
  });
}

}  // namespace

std::uint64_t counted_cells(const Store& store, std::uint64_t rows, std::uint64_t cols) {
  std::uint64_t cells = 0;
  if (multiply(rows, cols, cells)) return cells;
  throw Error(Errc::unsupported, store.known_as(), std::nullopt,
              std::to_string(rows) + " x " + std::to_string(cols) +
                  " cells are more than 2^64 - 1, which is as far as they are counted; cells that "
                  "are not zero are, and those of single rows or columns");
}

Stats with_missing(Stats stats, std::uint64_t missing) noexcept {
  stats.count += missing;
  stats.nans += missing;
  return stats;
}

std::uint64_t nan_cells(const Store& store, Absent absent, std::uint64_t cells) {
  if (!may_be_nan(store, absent)) return 0;
  for_each_cover(store, [&](const Region& cover) {
    cells -= std::min(cells, cover.rows.size() * cover.cols.size());
  });
  return cells;
}

std::vector<Range> counted_rows(const Store& store, std::uint64_t col, Absent absent) {
  const Range all{0, store.schema().rows};
  if (!may_be_nan(store, absent)) return {all};
  std::vector<Range> rows;
  store.for_each_block({all, {col, col + 1}}, {Absent::zero},
                       [&](std::uint64_t, const Entry& entry, const Part&) {
                         rows.push_back(intersect(all, entry.cells().rows));
                       });
  return rows;
}

LineStats::LineStats(const Store& store, Absent absent, Side side) {
  const Schema& schema = store.schema();
  const bool rows = side == Side::row;
  width_ = rows ? schema.cols : schema.rows;
  if (!may_be_nan(store, absent)) return;
  // How many cells more are covered than in the line before; then, how many are not.
  absent_.resize((rows ? schema.rows : schema.cols) + 1);
  for_each_cover(store, [&](const Region& cells) {
    const Range lines = rows ? cells.rows : cells.cols;
    const std::uint64_t across = (rows ? cells.cols : cells.rows).size();
    absent_[lines.begin] += across;
    absent_[lines.end] -= across;
  });
  std::uint64_t covered = 0;
  for (std::uint64_t& line : absent_) {
    covered += line;
    line = width_ - std::min(width_, covered);
  }
}

Stats LineStats::of(std::uint64_t line, const Totals& totals) const noexcept {
  const std::uint64_t absent = absent_.empty() ? 0 : absent_[line];
  return with_missing(totals.stats(width_ - absent), absent);
}

}  // namespace dapple::detail
