#include "dapple/stats.h"

#include "lib/base/parallel.h"
#include "lib/compute/block_cells.h"
#include "lib/compute/totals.h"

namespace dapple {

namespace detail {

namespace {

/// Adds the entries of a row. Floats go to four tallies side by side, of which each addition need
/// not wait for the one before.
template <Value T>
void add_row(const SparseRow<T>& row, TallyOf<T>& tally) {
  if (std::is_integral_v<T> || row.count < 16) {
    TallyOf<T> local = tally;  // in registers
    row.each([&](int, std::uint32_t, T v) { local.add(v); });
    tally = local;
    return;
  }
  TallyOf<T> lanes[4];
  row.each([&](int lane, std::uint32_t, T v) { lanes[lane].add(v); });
  for (const TallyOf<T>& lane : lanes) tally.merge(lane);
}

/// All cells into one tally of each class.
struct WholeTally {
  TallyTable tallies{1};

  template <Value T>
  void dense(const DenseRows<T>& cells) {
    TallyOf<T>& tally = *tallies.of<T>();
    if (cells.row_step == cells.cols * sizeof(T)) {
      tally_run<T>(tally, cells.data, cells.rows * cells.cols);
      return;
    }
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      tally_run<T>(tally, cells.data + r * cells.row_step, cells.cols);
    }
  }
  template <Value T>
  void row(const SparseRow<T>& row) {
    add_row(row, *tallies.of<T>());
  }
  template <Value T>
  void cell(std::uint64_t, std::uint64_t, T value) {
    tallies.of<T>()->add(value);
  }
};

/// Cells into a tally for each of `rows`.
struct RowTallies {
  Range rows;
  TallyTable tallies{rows.size()};

  template <Value T>
  void dense(const DenseRows<T>& cells) {
    TallyOf<T>* const tally = tallies.of<T>() + (cells.row - rows.begin);
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      tally_run<T>(tally[r], cells.data + r * cells.row_step, cells.cols);
    }
  }
  template <Value T>
  void row(const SparseRow<T>& row) {
    add_row(row, tallies.of<T>()[row.row - rows.begin]);
  }
  template <Value T>
  void cell(std::uint64_t row, std::uint64_t, T value) {
    tallies.of<T>()[row - rows.begin].add(value);
  }
};

/// Cells into a tally for each of `cols`.
struct ColumnTallies {
  Range cols;
  TallyTable tallies{cols.size()};

  template <Value T>
  void dense(const DenseRows<T>& cells) {
    tally_columns<T>(tallies.of<T>() + (cells.col - cols.begin), cells.data, cells.row_step,
                     cells.rows, cells.cols);
  }
  template <Value T>
  void row(const SparseRow<T>& row) {
    TallyOf<T>* const tally = tallies.of<T>() + (row.col - cols.begin);
    row.each([&](int, std::uint32_t col, T v) { tally[col].add(v); });
  }
  template <Value T>
  void cell(std::uint64_t, std::uint64_t col, T value) {
    tallies.of<T>()[col - cols.begin].add(value);
  }
};

/// More strips than threads, so that no thread waits long for the last one.
constexpr std::uint64_t kStripsPerThread = 8;

std::uint64_t strips_for(unsigned threads) {
  const unsigned workers = worker_limit(threads);
  return workers == 1 ? 1 : workers * kStripsPerThread;
}

}  // namespace

}  // namespace detail

using detail::Store;

Stats matrix_stats(const BlockedObject& object, const StatsOptions& options) {
  const Store& store = object.store();
  detail::require_covered(store, options.absent);
  const auto strips = detail::row_strips(store, detail::strips_for(options.threads));
  std::vector<detail::Totals> parts(strips.size());
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    detail::WholeTally kernel;
    detail::Band band;
    detail::visit_region(store, {strips[i], {0, object.cols()}}, {options.absent}, band, kernel);
    parts[i] = kernel.tallies.totals(0);
  });
  detail::Totals all;
  for (const detail::Totals& part : parts) all.merge(part);
  std::uint64_t cells;
  if (!detail::multiply(object.rows(), object.cols(), cells)) cells = ~std::uint64_t{0};
  return all.stats(cells);
}

std::vector<Stats> row_stats(const BlockedObject& object, const StatsOptions& options) {
  const Store& store = object.store();
  detail::require_covered(store, options.absent);
  std::vector<Stats> out(object.rows());
  const auto strips = detail::row_strips(store, detail::strips_for(options.threads));
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    detail::RowTallies kernel{strips[i]};
    detail::Band band;
    detail::visit_region(store, {strips[i], {0, object.cols()}}, {options.absent}, band, kernel);
    for (std::uint64_t r = 0; r < strips[i].size(); ++r) {
      out[strips[i].begin + r] = kernel.tallies.totals(r).stats(object.cols());
    }
  });
  return out;
}

std::vector<Stats> column_stats(const BlockedObject& object, const StatsOptions& options) {
  const Store& store = object.store();
  detail::require_covered(store, options.absent);
  std::vector<Stats> out(object.cols());
  const auto put = [&](Range cols, const detail::TallyTable& tallies) {
    for (std::uint64_t c = 0; c < cols.size(); ++c) {
      out[cols.begin + c] = tallies.totals(c).stats(object.rows());
    }
  };
  const std::uint64_t workers = detail::worker_limit(options.threads);
  const auto& grid = store.index().grid();
  if (workers > 1 && grid && grid->cols >= workers) {
    const auto strips = detail::column_strips(store, detail::strips_for(options.threads));
    detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
      detail::ColumnTallies kernel{strips[i]};
      detail::Band band;
      detail::visit_region(store, {{0, object.rows()}, strips[i]}, {options.absent}, band, kernel);
      put(strips[i], kernel.tallies);
    });
    return out;
  }
  const Range cols{0, object.cols()};
  const auto strips = detail::row_strips(store, workers);
  std::vector<detail::ColumnTallies> parts(std::max<std::size_t>(strips.size(), 1), {cols});
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    detail::Band band;
    detail::visit_region(store, {strips[i], cols}, {options.absent}, band, parts[i]);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) parts[0].tallies.merge(parts[i].tallies);
  put(cols, parts[0].tallies);
  return out;
}

}  // namespace dapple
