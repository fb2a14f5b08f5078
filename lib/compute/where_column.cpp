#include "dapple/where_column.h"

#include <numeric>

#include "lib/base/parallel.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/cell_search.h"
#include "lib/compute/column_match.h"

namespace dapple {

namespace detail {

namespace {

/// Finds matching cells of one column, whose cells may be next to each other.
struct ColumnFinder : Finder {
  template <Value T>
  void dense(const DenseRows<T>& cells) const {
    const Matching<T> match = interval.of<T>();
    const bool packed = cells.row_step == sizeof(T);
    for (std::uint64_t r = 0; r < cells.rows; r += kRun) {
      const std::size_t n = std::min<std::uint64_t>(kRun, cells.rows - r);
      const std::byte* const first = cells.data + r * cells.row_step;
      if (packed && count_run<T>(first, n, match) == 0) continue;
      for (std::size_t i = 0; i < n; ++i) {
        const T value = load_le<T>(first + i * cells.row_step);
        if (match(value)) hits.add(cells.row + r + i, cells.col, value);
      }
    }
  }
};

struct ColumnCounter : Counter {
  template <Value T>
  void dense(const DenseRows<T>& cells) {
    const Matching<T> match = interval.of<T>();
    if (cells.row_step == sizeof(T)) {
      found += count_run<T>(cells.data, cells.rows, match);
      return;
    }
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      found += match(load_le<T>(cells.data + r * cells.row_step)) ? 1U : 0U;
    }
  }
};

/// Why a block need not be looked at. Dense blocks have statistics of all of their cells; of
/// others, zeros are not stored.
Skipped verdict_on(const Store& store, const Interval& interval, std::uint64_t number,
                   const Entry& entry) {
  if (entry.kind != BlockKind::dense && interval.holds_for_zero()) return Skipped::no;
  const Skipped skipped = verdict(interval, entry);
  if (skipped != Skipped::no) return skipped;
  const BlockStatsTable* const known = store.block_stats();
  return known != nullptr && rules_out(interval, (*known)[number]) ? Skipped::statistics
                                                                   : Skipped::no;
}

/// Hands the cells of these rows of a column that may match to the kernel, in order of rows.
template <class Kernel>
void search_column(const Store& store, Range rows, std::uint64_t col, const Interval& interval,
                   Absent absent, Kernel& kernel) {
  const Range cols{col, col + 1};
  const bool zeros = interval.holds_for_zero();
  Band band;
  std::uint64_t next = rows.begin;  // the rows before were looked at
  const auto scan_before = [&](std::uint64_t row) {
    if (zeros && next < row) scan(store, {{next, row}, cols}, absent, kernel);
  };
  if (rows.empty()) return;
  store.for_each_block({rows, cols}, {absent},
                       [&](std::uint64_t number, const Entry& e, const Part& part) {
                         if (zeros && e.kind != BlockKind::dense)
                           return;  // scanned, with absent cells
                         scan_before(e.pos.rx + part.rows.begin);
                         next = e.pos.rx + part.rows.end;
                         if (verdict_on(store, interval, number, e) != Skipped::no) return;
                         visit_cells(store, e, part, band, kernel);
                       });
  scan_before(rows.end);
}

/// Calls `take` for runs of the cells of these rows of a column that match, in order.
void find_in_column(const Store& store, Range rows, std::uint64_t col, const ColumnMatch& match,
                    Absent absent, const TakeColumnHits& take) {
  const ValueType type = store.schema().type_of(col);
  std::vector<ColumnHit> found;
  const HitRun::Take confirm = [&](ValueType stored, std::span<const StoredCell> cells) {
    found.clear();
    for (const StoredCell& cell : cells) {
      std::uint64_t bits = cell.bits;
      if (stored != type && !convert_cell(stored, cell.bits, type, bits)) {
        fail_fit(store, cell, type);
      }
      if (match.confirms(bits)) found.push_back({cell.row, bits});
    }
    if (!found.empty()) take(found);
  };
  HitRun hits(confirm);
  ColumnFinder finder{{match.interval(), hits}};
  search_column(store, rows, col, match.interval(), absent, finder);
  hits.flush();
}

/// The condition on a column of a frame.
ColumnMatch match_in(const Frame& frame, std::uint64_t col, const ColumnCondition& condition,
                     const WhereOptions& options) {
  return {frame.column_info(col), condition, options.nonzero, frame.store().file().name()};
}

/// Throws absent unless blocks cover the column, or zeros are asked for.
void require_column(const Store& store, std::uint64_t col, Absent absent) {
  if (absent != Absent::zero) {
    store.require_covered({{0, store.schema().rows}, {col, col + 1}}, absent);
  }
}

}  // namespace

}  // namespace detail

void where(const Frame& frame, std::uint64_t col, const ColumnCondition& condition,
           const TakeColumnHits& take, const WhereOptions& options) {
  const detail::ColumnMatch match = detail::match_in(frame, col, condition, options);
  detail::find_in_column(frame.store(), {0, frame.rows()}, col, match, options.absent, take);
}

std::uint64_t count_where(const Frame& frame, std::uint64_t col, const ColumnCondition& condition,
                          const WhereOptions& options) {
  const detail::Store& store = frame.store();
  const detail::ColumnMatch match = detail::match_in(frame, col, condition, options);
  detail::require_column(store, col, options.absent);
  const auto strips = detail::search_strips(store, options.threads);
  std::vector<std::uint64_t> found(strips.size());
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    if (match.doubtful()) {
      detail::find_in_column(store, strips[i], col, match, options.absent,
                             [&](std::span<const ColumnHit> hits) { found[i] += hits.size(); });
    } else {
      detail::ColumnCounter counter{{match.interval()}};
      detail::search_column(store, strips[i], col, match.interval(), options.absent, counter);
      found[i] = counter.found;
    }
  });
  return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
}

std::vector<std::uint8_t> rows_where(const Frame& frame, std::uint64_t col,
                                     const ColumnCondition& condition,
                                     const WhereOptions& options) {
  const detail::Store& store = frame.store();
  const detail::ColumnMatch match = detail::match_in(frame, col, condition, options);
  detail::require_column(store, col, options.absent);
  const auto strips = detail::search_strips(store, options.threads);
  std::vector<std::uint8_t> mask(frame.rows());
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    detail::find_in_column(store, strips[i], col, match, options.absent,
                           [&](std::span<const ColumnHit> hits) {
                             for (const ColumnHit& hit : hits) mask[hit.row] = 1;
                           });
  });
  return mask;
}

std::vector<BlockVerdict> explain_where(const Frame& frame, std::uint64_t col,
                                        const ColumnCondition& condition,
                                        const WhereOptions& options) {
  const detail::Store& store = frame.store();
  const detail::ColumnMatch match = detail::match_in(frame, col, condition, options);
  std::vector<BlockVerdict> verdicts;
  if (frame.rows() == 0) return verdicts;
  store.for_each_block(
      {{0, frame.rows()}, {col, col + 1}}, {options.absent},
      [&](std::uint64_t number, const detail::Entry& e, const detail::Part&) {
        verdicts.push_back({e.pos, detail::verdict_on(store, match.interval(), number, e)});
      });
  return verdicts;
}

}  // namespace dapple
