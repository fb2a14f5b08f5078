#include "dapple/where.h"

#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/base/parallel.h"
#include "lib/base/value_types.h"
#include "lib/base/vectors.h"
#include "lib/cells/convert_cells.h"
#include "lib/compute/block_cells.h"
#include "lib/compute/interval.h"
#include "lib/object/block_stats.h"

namespace dapple {

namespace detail {

namespace {

/// Counts the values for which `match` holds, in counters as wide as values, so that the loop
/// vectorises without widening.
template <Value T, class Match>
[[gnu::always_inline]] inline std::uint64_t count_matches(const std::byte* values, std::size_t n,
                                                          const Match& match) {
  using Count = BitsOf<T>;
  constexpr std::size_t kLongest =
      std::min<std::uint64_t>(std::numeric_limits<Count>::max(), 1U << 16);
  std::uint64_t found = 0;
  while (n > 0) {
    const std::size_t run = std::min(n, kLongest);
    Count here = 0;
    for (std::size_t i = 0; i < run; ++i) {
      here = static_cast<Count>(here + (match(load_le<T>(values + i * sizeof(T))) ? 1 : 0));
    }
    found += here;
    values += run * sizeof(T);
    n -= run;
  }
  return found;
}

template <Value T>
DAPPLE_VECTORS std::uint64_t count_run(const std::byte* values, std::size_t n,
                                       const Matching<T>& match) {
  const T low = match.low, high = match.high;
  if (match.nan) return count_matches<T>(values, n, [](T v) { return v != v; });
  if (match.excludes_zero()) {
    return count_matches<T>(values, n, [=](T v) { return (v >= low) & (v <= high) & (v != 0); });
  }
  return count_matches<T>(values, n, [=](T v) { return (v >= low) & (v <= high); });
}

/// Cells of a row are looked at in runs: first whether any matches, which vectorises.
constexpr std::size_t kRun = 256;

/// Collects cells that match and passes them on in runs of one type.
class HitRun {
 public:
  using Take = std::function<void(ValueType, std::span<const StoredCell>)>;

  explicit HitRun(const Take& take) : take_(take) {}

  template <Value T>
  void add(std::uint64_t row, std::uint64_t col, T value) {
    if (type_ != value_type_of<T>() || size_ == cells_.size()) flush();
    type_ = value_type_of<T>();
    cells_[size_++] = {row, col, std::bit_cast<BitsOf<T>>(value)};
  }
  void flush() {
    if (size_ > 0) take_(type_, std::span(cells_).first(size_));
    size_ = 0;
  }

 private:
  const Take& take_;
  ValueType type_ = ValueType::u8;
  std::size_t size_ = 0;
  std::array<StoredCell, 1024> cells_;
};

/// Finds the cells that match.
struct Finder {
  const Interval& interval;
  HitRun& hits;

  template <Value T>
  void dense(const DenseRows<T>& cells) const {
    const Matching<T> match = interval.of<T>();
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      const std::byte* const row = cells.data + r * cells.row_step;
      for (std::uint64_t c = 0; c < cells.cols; c += kRun) {
        const std::size_t n = std::min<std::uint64_t>(kRun, cells.cols - c);
        if (count_run<T>(row + c * sizeof(T), n, match) == 0) continue;
        for (std::size_t i = 0; i < n; ++i) {
          const T value = load_le<T>(row + (c + i) * sizeof(T));
          if (match(value)) hits.add(cells.row + r, cells.col + c + i, value);
        }
      }
    }
  }
  template <Value T>
  void row(const SparseRow<T>& row) const {
    const Matching<T> match = interval.of<T>();
    row.each([&](int, std::uint32_t col, T value) {
      if (match(value)) hits.add(row.row, row.col + col, value);
    });
  }
  template <Value T>
  void cell(std::uint64_t row, std::uint64_t col, T value) const {
    if (interval.of<T>()(value)) hits.add(row, col, value);
  }
};

/// Counts the cells that match, and how many were looked at.
struct Counter {
  const Interval& interval;
  std::uint64_t found = 0, seen = 0;

  template <Value T>
  void dense(const DenseRows<T>& cells) {
    const Matching<T> match = interval.of<T>();
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      found += count_run<T>(cells.data + r * cells.row_step, cells.cols, match);
    }
    seen += cells.rows * cells.cols;
  }
  template <Value T>
  void row(const SparseRow<T>& row) {
    const Matching<T> match = interval.of<T>();
    std::uint64_t here = 0;
    row.each([&](int, std::uint32_t, T value) { here += match(value) ? 1U : 0U; });
    found += here;
    seen += row.count;
  }
  template <Value T>
  void cell(std::uint64_t, std::uint64_t, T value) {
    found += interval.of<T>()(value) ? 1U : 0U;
    ++seen;
  }
};

/// Why the stored values of a block need no look. Zeros that it does not store are another matter.
Skipped verdict(const Interval& interval, const Entry& entry) {
  if (entry.kind == BlockKind::empty) return Skipped::empty;
  const bool none =
      visit_type(entry.value_type, [&](auto tag) { return interval.of<decltype(tag)>().none(); });
  return none ? Skipped::value_type : Skipped::no;
}

/// True when statistics rule out that a stored value of a block matches.
bool rules_out(const Interval& interval, const BlockStats& stats) {
  const auto type = stats.type();
  return type && visit_type(*type, [&](auto tag) {
           using T = decltype(tag);
           const Matching<T>& match = interval.of<T>();
           if (match.nan) return stats.nans() == 0;
           if (match.nonzero && stats.nonzero() == 0) return true;
           const TallyOf<T> tally = stats.tally<T>();
           return !(tally.min <= match.high && tally.max >= match.low);
         });
}

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

/// Counts the cells of a row of tiles that match.
std::uint64_t count_band(const Store& store, const BlockStatsTable& known, const Interval& interval,
                         std::uint64_t i) {
  const Grid& grid = *store.index().grid();
  const Schema& schema = store.schema();
  const std::uint64_t rows =
      std::min<std::uint64_t>(grid.tile.rows, schema.rows - i * grid.tile.rows);
  const auto area_of = [&](std::uint64_t number) {
    const std::uint64_t left = schema.cols - number % grid.cols * grid.tile.cols;
    return rows * std::min<std::uint64_t>(grid.tile.cols, left);
  };
  std::uint64_t found = 0;
  std::vector<std::uint64_t> unknown;
  for (std::uint64_t number = i * grid.cols; number < (i + 1) * grid.cols; ++number) {
    if (const auto count = known_count(interval, known[number], area_of(number))) {
      found += *count;
    } else {
      unknown.push_back(number);
    }
  }
  Band band;
  store.watched_blocks(unknown, [&](std::uint64_t number, const Entry& entry) {
    store.confirm_entry(number, entry);
    Counter counter{interval};
    visit_cells(store, entry, {{0, entry.rows}, {0, entry.cols}}, band, counter);
    found += counter.found + (interval.holds_for_zero() ? area_of(number) - counter.seen : 0);
  });
  return found;
}

/// Hands the stored values of blocks that may match to the kernel.
template <class Kernel>
void search(const Store& store, const Region& region, const Interval& interval, Absent absent,
            Kernel& kernel) {
  if (region.empty()) return;
  Band band;
  const BlockStatsTable* const known = store.block_stats();
  const auto visit = [&](std::uint64_t number, const Entry& e, const Part& part) {
    if (verdict(interval, e) != Skipped::no) return;
    if (known != nullptr && rules_out(interval, (*known)[number])) return;
    visit_cells(store, e, part, band, kernel);
  };
  if (known == nullptr || !store.index().grid()) {
    return store.for_each_block(region, {absent}, visit);
  }
  // Not even the headers of blocks that are ruled out are compared.
  std::vector<std::uint64_t> wanted;
  for (const std::uint64_t number : store.index().touching(region)) {
    if (!rules_out(interval, (*known)[number])) wanted.push_back(number);
  }
  store.watched_blocks(wanted, [&](std::uint64_t number, const Entry& entry) {
    store.confirm_entry(number, entry);
    visit(number, entry, shared_part(entry, region));
  });
}

/// Hands all cells of these rows to the kernel, zeros that no block stores included.
template <class Kernel>
void scan(const Store& store, Range rows, Absent absent, Kernel& kernel) {
  constexpr std::uint64_t kBytes = 1U << 20;
  const ValueType type = store.schema().value_type;
  const std::size_t size = size_of(type);
  const std::uint64_t width = std::min<std::uint64_t>(store.schema().cols, kBytes / size);
  if (width == 0) return;
  const std::uint64_t height = std::max<std::uint64_t>(1, kBytes / size / width);
  Band band;
  for (std::uint64_t r = rows.begin; r < rows.end; r += height) {
    for (std::uint64_t c = 0; c < store.schema().cols; c += width) {
      const Region piece{{r, std::min(r + height, rows.end)},
                         {c, std::min(c + width, store.schema().cols)}};
      const std::size_t step = piece.cols.size() * size;
      std::byte* const cells = band.room(piece.rows.size() * step);
      store.read(piece, {cells, type, step, size}, {absent});
      visit_type(type, [&](auto tag) {
        kernel.dense(
            DenseRows<decltype(tag)>{r, c, piece.rows.size(), piece.cols.size(), cells, step});
      });
    }
  }
}

/// Calls take(type, cells) for runs of the cells of these rows that match; their bits are values of
/// that type.
void find(const Store& store, Range rows, const Interval& interval, Absent absent,
          const HitRun::Take& take) {
  HitRun hits(take);
  Finder finder{interval, hits};
  if (interval.holds_for_zero()) {
    scan(store, rows, absent, finder);
  } else {
    search(store, {rows, {0, store.schema().cols}}, interval, absent, finder);
  }
  hits.flush();
}

[[noreturn]] void fail_fit(const Store& store, std::uint64_t row, std::uint64_t col,
                           ValueType type) {
  throw Error(
      Errc::type_mismatch, store.file().name(), std::nullopt,
      "the value of cell " + text({row, col}) + " is not exact as " + std::string(name(type)));
}

std::vector<Range> strips_of(const Store& store, unsigned threads) {
  const unsigned workers = worker_limit(threads);
  return row_strips(store, workers == 1 ? 1 : std::uint64_t{workers} * 8);
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
                     detail::fail_fit(store, cell.row, cell.col, to);
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
  const detail::BlockStatsTable* const known = store.block_stats();
  const auto& grid = store.index().grid();
  if (known != nullptr && grid && grid->rows >= detail::worker_limit(options.threads)) {
    std::vector<std::uint64_t> found(grid->rows);
    detail::parallel_for(grid->rows, options.threads, [&](std::uint64_t i) {
      found[i] = detail::count_band(store, *known, interval, i);
    });
    return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
  }
  const auto strips = detail::strips_of(store, options.threads);
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
  const auto strips = detail::strips_of(store, options.threads);
  std::vector<std::uint8_t> mask(matrix.rows());
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
  const detail::BlockStatsTable* const known = store.block_stats();
  std::vector<BlockVerdict> verdicts;
  const Region all{{0, matrix.rows()}, {0, matrix.cols()}};
  if (all.empty()) return verdicts;
  store.for_each_block(all, {options.absent},
                       [&](std::uint64_t number, const detail::Entry& e, const detail::Part&) {
                         Skipped skipped = zeros ? Skipped::no : detail::verdict(interval, e);
                         if (skipped == Skipped::no && !zeros && known != nullptr &&
                             detail::rules_out(interval, (*known)[number])) {
                           skipped = Skipped::statistics;
                         }
                         verdicts.push_back({e.pos, skipped});
                       });
  return verdicts;
}

#define DAPPLE_INSTANTIATE(T) \
  template void where<T>(const Matrix&, const Condition&, const TakeHits<T>&, const WhereOptions&);
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple
