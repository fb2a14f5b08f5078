#include "dapple/where.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/value_types.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/absent_cells.h"
#include "lib/compute/block_tally.h"
#include "lib/compute/cell_search.h"
#include "lib/object/block_stats.h"
#include "lib/object/in_memory.h"

namespace dapple {

namespace detail {

namespace {

/// How many of a block's `area` cells match, where its statistics tell.
std::optional<std::uint64_t> known_count(const Interval& interval, const BlockStats& stats,
                                         std::uint64_t area) {
  const auto type = stats.type();
  if (!type || stats.nonzero() > area || stats.nans() > area - stats.nonzero()) return {};
  return visit_type(*type, [&](auto tag) -> std::optional<std::uint64_t> {
    using T = decltype(tag);
    const Matching<T>& match = interval.of<T>();
    if (match.nan) return stats.nans();
    const TallyOf<T> tally = stats.tally<T>();
    const std::uint64_t zeros =
        interval.holds_for_zero() ? area - stats.nonzero() - stats.nans() : 0;
    if (stats.nonzero() == 0 || !(tally.min <= match.high && tally.max >= match.low) ||
        (match.low == 0 && match.high == 0)) {
      return zeros;
    }
    if (tally.min >= match.low && tally.max <= match.high) return stats.nonzero() + zeros;
    return {};
  });
}

struct Counted {
  std::uint64_t found = 0, cells = 0;
};

/// Counts the cells of some blocks that match, and all of them.
Counted count_blocks(const Store& store, const Interval& interval, Range numbers) {
  const BlockStatsTable& known = *store.block_stats();
  const auto area = [](const Entry& entry) { return std::uint64_t{entry.rows} * entry.cols; };
  Counted counted;
  std::vector<std::uint64_t> unknown;
  for (std::uint64_t number = numbers.begin; number < numbers.end; ++number) {
    const std::uint64_t cells = area(store.index().entry(number));
    counted.cells += cells;
    if (const auto count = known_count(interval, known[number], cells)) {
      counted.found += *count;
    } else {
      unknown.push_back(number);
    }
  }
  Band band;
  store.watched_blocks(unknown, [&](std::uint64_t number, const Entry& entry) {
    store.confirm_entry(number, entry);
    Counter counter{interval};
    visit_cells(store, entry, {{0, entry.rows}, {0, entry.cols}}, band, counter);
    counted.found += counter.found + (interval.holds_for_zero() ? area(entry) - counter.seen : 0);
  });
  return counted;
}

/// The same of all blocks, and of the cells that are in none. REQUIRES `knows_all_blocks`.
std::uint64_t count_told(const Store& store, const Interval& interval, unsigned threads) {
  const std::uint64_t blocks = store.index().size(), parts = strips_for(threads);
  const std::uint64_t step = (blocks + parts - 1) / parts;
  std::vector<Counted> counted(parts);
  parallel_for(parts, threads, [&](std::uint64_t i) {
    const std::uint64_t begin = std::min(blocks, i * step);
    const Range numbers{begin, std::min(blocks, begin + step)};
    counted[i] = store.watched([&] { return count_blocks(store, interval, numbers); });
  });
  Counted all;
  for (const auto& [found, cells] : counted) {
    all.found += found;
    all.cells += cells;
  }
  const std::uint64_t absent = store.schema().rows * store.schema().cols - all.cells;
  return all.found + (interval.holds_for_zero() ? absent : 0);
}

/// Hands the stored values of blocks that may match to the kernel.
template <class Kernel>
void search(const Store& store, const Region& region, const Interval& interval, Absent absent,
            Kernel& kernel) {
  if (region.empty()) return;
  Band band;
  const BlockStatsTable* const known = store.block_stats();
  const auto visit = [&](std::uint64_t, const Entry& e, const Part& part) {
    if (verdict(interval, e, store.schema().value_type) != Skipped::no) return;
    look_at(store, e, part, band, kernel);
  };
  if (known == nullptr) return store.for_each_block(region, {absent}, visit);
  // Not even the headers of blocks that are ruled out are compared.
  store.require_covered(region, absent);
  std::vector<std::uint64_t> wanted;
  for (const std::uint64_t number : store.index().touching(region)) {
    if (!rules_out(interval, (*known)[number])) wanted.push_back(number);
  }
  store.watched_blocks(wanted, [&](std::uint64_t number, const Entry& entry) {
    store.confirm_entry(number, entry);
    visit(number, entry, shared_part(entry, region));
  });
}

/// Calls take(type, cells) for runs of the cells of these rows that match; their bits are values of
/// that type.
void find(const Store& store, Range rows, const Interval& interval, Absent absent,
          const HitRun::Take& take) {
  HitRun hits(take);
  Finder finder{interval, hits};
  if (interval.holds_for_zero()) {
    scan(store, {rows, {0, store.schema().cols}}, absent, finder);
  } else {
    search(store, {rows, {0, store.schema().cols}}, interval, absent, finder);
  }
  hits.flush();
}

}  // namespace

}  // namespace detail

template <Value T>
void where(const Matrix& matrix, const Condition& condition, const TakeHits<T>& take,
           const WhereOptions& options) {
  const detail::Store& store = matrix.store();
  const detail::Interval interval(condition, options.nonzero);
  constexpr ValueType to = value_type_of<T>();
  std::vector<Hit<T>> hits;
  detail::find(store, {0, matrix.rows()}, interval, options.absent,
               [&](ValueType type, std::span<const detail::StoredCell> cells) {
                 hits.clear();
                 for (const detail::StoredCell& cell : cells) {
                   std::uint64_t bits = 0;
                   if (!detail::convert_cell(type, cell.bits, to, bits)) {
                     detail::fail_fit(store, cell, type, to);
                   }
                   hits.push_back({cell.row, cell.col,
                                   std::bit_cast<T>(static_cast<detail::BitsOf<T>>(bits))});
                 }
                 take(hits);
               });
}

std::uint64_t count_where(const Matrix& matrix, const Condition& condition,
                          const WhereOptions& options) {
  const detail::Store& store = matrix.store();
  detail::require_covered(store, options.absent);
  const detail::Interval interval(condition, options.nonzero);
  if (interval.holds_for_zero()) detail::counted_cells(store, matrix.rows(), matrix.cols());
  if (detail::knows_all_blocks(store)) {
    return detail::count_told(store, interval, options.threads);
  }
  const auto strips = detail::row_strips(store, detail::strips_for(options.threads));
  std::vector<std::uint64_t> found(strips.size());
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    // The stored values of blocks that cannot match are no zeros either, but for explicit ones.
    detail::Counter counter{interval};
    const Region region{strips[i], {0, matrix.cols()}};
    if (interval.holds_for_zero()) {
      detail::Band band;
      detail::visit_region(store, region, {options.absent}, band, counter);
      counter.found += region.rows.size() * region.cols.size() - counter.seen;
    } else {
      detail::search(store, region, interval, options.absent, counter);
    }
    found[i] = counter.found;
  });
  return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
}

std::vector<std::uint8_t> rows_where(const Matrix& matrix, const Condition& condition,
                                     const WhereOptions& options) {
  const detail::Store& store = matrix.store();
  detail::require_covered(store, options.absent);
  const detail::Interval interval(condition, options.nonzero);
  const auto strips = detail::row_strips(store, detail::strips_for(options.threads));
  const auto told = [&] {
    return "one value for each of " + detail::counted(matrix.rows(), "row");
  };
  auto mask = detail::in_memory(store, matrix.rows(), 1, told,
                                [&] { return std::vector<std::uint8_t>(matrix.rows()); });
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    detail::find(store, strips[i], interval, options.absent,
                 [&](ValueType, std::span<const detail::StoredCell> cells) {
                   for (const detail::StoredCell& cell : cells) mask[cell.row] = 1;
                 });
  });
  return mask;
}

std::vector<BlockVerdict> explain_where(const Matrix& matrix, const Condition& condition,
                                        const WhereOptions& options) {
  const detail::Store& store = matrix.store();
  const detail::Interval interval(condition, options.nonzero);
  const bool zeros = interval.holds_for_zero();
  std::vector<BlockVerdict> verdicts;
  const Region all{{0, matrix.rows()}, {0, matrix.cols()}};
  if (all.empty()) return verdicts;
  store.for_each_block(
      all, {options.absent},
      [&](std::uint64_t number, const detail::Entry& e, const detail::Part&) {
        verdicts.push_back(
            {e.pos, zeros ? Skipped::no
                          : detail::verdict(interval, store, number, e, matrix.value_type())});
      });
  return verdicts;
}

#define DAPPLE_INSTANTIATE(T) \
  template void where<T>(const Matrix&, const Condition&, const TakeHits<T>&, const WhereOptions&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
