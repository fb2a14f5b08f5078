#include "dapple/stats.h"

#include <cstring>

#include "dapple/column.h"
#include "lib/base/parallel.h"
#include "lib/base/text.h"
#include "lib/compute/absent_cells.h"
#include "lib/compute/block_tally.h"
#include "lib/object/column_codes.h"
#include "lib/object/in_memory.h"

namespace dapple {

namespace detail {

namespace {

/// Cells into a tally for each of `rows`.
struct RowTallies {
  Range rows;
  TallyTable tallies{rows.size()};

  template <Value T>
  void dense(const DenseRows<T>& cells) {
    constexpr std::uint64_t kShort = 64;  // cells that are added sooner than vectors are set up
    TallyOf<T>* const tally = tallies.of<T>() + (cells.row - rows.begin);
    for (std::uint64_t r = 0; r < cells.rows; ++r) {
      const std::byte* const row = cells.data + r * cells.row_step;
      if (cells.cols >= kShort) {
        tally_run<T>(tally[r], row, cells.cols);
        continue;
      }
      TallyOf<T> local = tally[r];  // in registers
      for (std::uint64_t c = 0; c < cells.cols; ++c) local.add(load_le<T>(row + c * sizeof(T)));
      tally[r] = local;
    }
  }
  template <AnyRow Row>
  void row(const Row& row) {
    add_row(row, tallies.of<typename Row::Type>()[row.row - rows.begin]);
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
  template <AnyRow Row>
  void row(const Row& row) {
    using T = typename Row::Type;
    TallyOf<T>* const tally = tallies.of<T>() + (row.col - cols.begin);
    row.each([&](std::uint32_t col, T v) { tally[col].add(v); });
  }
  template <Value T>
  void cell(std::uint64_t, std::uint64_t col, T value) {
    tallies.of<T>()[col - cols.begin].add(value);
  }
};

/// Of each row of tiles, or each column. REQUIRES a grid.
std::vector<Totals> grid_totals(const Store& store, const ReadOptions& options, Side side) {
  const Grid grid = *store.index().grid();
  const BlockStatsTable* const known = store.block_stats();
  std::vector<Totals> totals(side == Side::row ? grid.rows : grid.cols);
  // Short lists are not worth a thread each.
  const std::uint64_t each =
      known == nullptr ? 1 : 1 + 65536 / (grid.rows * grid.cols / totals.size());
  const std::uint64_t steps = (totals.size() - 1) / each + 1;
  parallel_for(steps, options.threads, [&](std::uint64_t step) {
    Band band;
    const std::uint64_t begin = step * each;
    const std::uint64_t end = std::min<std::uint64_t>(begin + each, totals.size());
    // Always in the order of numbers, in which a table of statistics is.
    std::vector<WholeTally> tallies(end - begin);
    if (side == Side::row) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const Range numbers{i * grid.cols, (i + 1) * grid.cols};
        tally_blocks(store, known, numbers, band, tallies[i - begin]);
      }
    } else {
      for (std::uint64_t number = begin; number < grid.rows * grid.cols; number += grid.cols) {
        for (std::uint64_t j = 0; j < end - begin; ++j) {
          tally_blocks(store, known, {number + j, number + j + 1}, band, tallies[j]);
        }
      }
    }
    for (std::uint64_t i = begin; i < end; ++i) totals[i] = tallies[i - begin].tallies.totals(0);
  });
  return totals;
}

/// Of all blocks. REQUIRES `knows_all_blocks`.
Totals totals_of_blocks(const Store& store, unsigned threads) {
  // Blocks that are worth a thread, where none, or some, must be read.
  const std::uint64_t step = store.block_stats()->old() ? 64 : 65536;
  const std::uint64_t blocks = store.index().size();
  std::vector<Totals> parts((blocks + step - 1) / step);
  parallel_for(parts.size(), threads, [&](std::uint64_t i) {
    WholeTally tally;
    Band band;
    const Range numbers{i * step, std::min(blocks, (i + 1) * step)};
    tally_blocks(store, store.block_stats(), numbers, band, tally);
    parts[i] = tally.tallies.totals(0);
  });
  Totals all;
  for (const Totals& part : parts) all.merge(part);
  return all;
}

/// Throws type_mismatch for a frame whose cells do not add up: codes, ticks, truth values, and
/// integers that mark missing cells.
void require_numbers(const Store& store) {
  for (const Column& column : store.schema().columns) {
    if (is_plain(column) || is_float(column.value_type)) continue;
    const MeaningKind kind = column.meaning.kind;
    throw Error(Errc::type_mismatch, store.known_as(), std::nullopt,
                "column " + shown(column.label) +
                    (kind == MeaningKind::number ? " holds integers that mark missing cells"
                                                 : " is a " + std::string(name(kind))) +
                    ", which cannot be added to other columns: ask for the statistics of each "
                    "column");
  }
}

std::vector<Stats> grid_stats(const Store& store, const ReadOptions& options, Side side) {
  require_numbers(store);
  const auto& grid = store.index().grid();
  if (!grid) {
    throw Error(Errc::invalid_argument, store.known_as(), std::nullopt,
                "there are no rows or columns of tiles: the blocks form no regular grid");
  }
  const Schema& schema = store.schema();
  std::uint64_t length = schema.rows, step = grid->tile.rows, width = schema.cols;
  if (side == Side::column) {
    length = schema.cols;
    step = grid->tile.cols;
    width = schema.rows;
  }
  std::vector<Stats> stats;
  for (const Totals& totals : grid_totals(store, options, side)) {
    const std::uint64_t begin = stats.size() * step;
    stats.push_back(totals.stats(counted_cells(store, std::min(step, length - begin), width)));
  }
  return stats;
}

/// Of a column where a number of the type marks missing cells.
template <Value T>
Stats marked_stats(const Store& store, std::uint64_t col, const Meaning& meaning,
                   const ReadOptions& options) {
  constexpr std::uint64_t kRows = 64 << 10;
  const ReadOptions reading{left_out(options.absent), options.threads};
  std::vector<T> cells;
  TallyTable tally(1);
  std::uint64_t numbers = 0;
  for (const Range rows : counted_rows(store, col, options.absent)) {
    for (std::uint64_t begin = rows.begin; begin < rows.end; begin += kRows) {
      const Range band{begin, std::min(rows.end, begin + kRows)};
      cells.resize(band.size());
      const Target out{reinterpret_cast<std::byte*>(cells.data()), value_type_of<T>(), sizeof(T),
                       sizeof(T)};
      store.read({band, {col, col + 1}}, out, reading);
      for (const T value : cells) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        if (is_missing(meaning, bits)) continue;
        tally.of<T>()[0].add(value);
        ++numbers;
      }
    }
  }
  return with_missing(tally.totals(0).stats(numbers), store.schema().rows - numbers);
}

/// Throws corrupt for codes without words and for truth values that are none.
void require_meant(const Store& store, const std::vector<Stats>& stats) {
  for (std::uint64_t c = 0; c < store.schema().columns.size(); ++c) {
    const Column& column = store.schema().columns[c];
    const auto greatest = greatest_code(column.meaning);
    if (!greatest || !stats[c].exact || stats[c].exact->max <= *greatest) continue;
    throw Error(Errc::corrupt, store.file().name(), std::nullopt,
                told_code(column, stats[c].exact->max));
  }
}

/// Counts missing cells like NaNs, which those of float columns are.
void count_missing(const Store& store, const ReadOptions& options, std::vector<Stats>& stats) {
  const std::vector<Column>& columns = store.schema().columns;
  for (std::uint64_t c = 0; c < columns.size(); ++c) {
    if (!mark_of(columns[c].meaning) || is_float(columns[c].value_type)) continue;
    if (columns[c].meaning.has_words() && stats[c].nnz + stats[c].nans == stats[c].count) continue;
    visit_type(columns[c].value_type, [&](auto tag) {
      stats[c] = marked_stats<decltype(tag)>(store, c, columns[c].meaning, options);
    });
  }
  require_meant(store, stats);
}

}  // namespace

}  // namespace detail

using detail::Store;

Stats matrix_stats(const BlockedObject& object, const ReadOptions& options) {
  const Store& store = object.store();
  detail::require_numbers(store);
  const Absent absent = detail::left_out(options.absent);
  detail::require_covered(store, absent);
  const std::uint64_t cells = detail::counted_cells(store, object.rows(), object.cols());
  detail::Totals all;
  if (detail::knows_all_blocks(store)) {
    all = detail::totals_of_blocks(store, options.threads);
  } else {
    const auto strips = detail::row_strips(store, detail::strips_for(options.threads));
    std::vector<detail::Totals> parts(strips.size());
    detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
      parts[i] = detail::tally_region(store, {strips[i], {0, object.cols()}}, absent);
    });
    for (const detail::Totals& part : parts) all.merge(part);
  }
  const std::uint64_t missing = detail::nan_cells(store, options.absent, cells);
  return detail::with_missing(all.stats(cells - missing), missing);
}

std::vector<Stats> tile_row_stats(const BlockedObject& object, const ReadOptions& options) {
  return detail::grid_stats(object.store(), options, detail::Side::row);
}

std::vector<Stats> tile_column_stats(const BlockedObject& object, const ReadOptions& options) {
  return detail::grid_stats(object.store(), options, detail::Side::column);
}

std::optional<Stats> stored_stats(const BlockedObject& object, const BlockInfo& block) {
  const std::uint64_t cells = std::uint64_t{block.rows} * block.cols;
  if (block.kind == BlockKind::empty) return detail::Totals().stats(cells);
  const Store& store = object.store();
  const detail::BlockStatsTable* const known = store.block_stats();
  if (known == nullptr) return std::nullopt;
  const auto& grid = store.index().grid();
  const auto number = grid ? std::optional(block.pos.rx / grid->tile.rows * grid->cols +
                                           block.pos.cx / grid->tile.cols)
                           : store.find(block.pos);
  if (!number || *number >= known->size()) return std::nullopt;
  const detail::BlockStats stats = (*known)[*number];
  const auto type = stats.type();
  if (!type) return std::nullopt;
  return visit_type(*type, [&](auto tag) {
    detail::Totals totals;
    totals.add(stats.tally<decltype(tag)>());
    Stats known_of_block = totals.stats(cells);
    if (!stats.knows_spread()) {
      known_of_block.squared_distances = known_of_block.sum_squares =
          std::numeric_limits<double>::quiet_NaN();
    }
    return known_of_block;
  });
}

namespace {

/// Calls `make`, which makes statistics of `n` rows or columns.
template <class F>
std::vector<Stats> many_stats(const Store& store, std::uint64_t n, std::string_view what,
                              const F& make) {
  const auto told = [&] { return "the statistics of " + detail::counted(n, what); };
  return detail::in_memory(store, n, sizeof(Stats), told, make);
}

std::vector<Stats> stats_of_rows(const BlockedObject& object, const ReadOptions& options) {
  const Store& store = object.store();
  detail::require_numbers(store);
  const Absent absent = detail::left_out(options.absent);
  detail::require_covered(store, absent);
  const detail::LineStats lines(store, options.absent, detail::Side::row);
  std::vector<Stats> out(object.rows());
  const auto strips = detail::row_strips(store, detail::strips_for(options.threads));
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    detail::RowTallies kernel{strips[i]};
    detail::Band band;
    detail::visit_region(store, {strips[i], {0, object.cols()}}, {absent}, band, kernel);
    for (std::uint64_t r = 0; r < strips[i].size(); ++r) {
      const std::uint64_t row = strips[i].begin + r;
      out[row] = lines.of(row, kernel.tallies.totals(r));
    }
  });
  return out;
}

/// Of a column that has its blocks to itself, as columns of frames do beside others of another
/// type, if the file tells of each of them.
std::optional<detail::Totals> told_column(const Store& store, std::uint64_t col) {
  const detail::BlockStatsTable* const known = store.block_stats();
  if (known == nullptr || store.schema().rows == 0) return std::nullopt;
  const auto first = store.index().cover(0, col);
  if (!first || store.index().entry(*first).cols != 1) return std::nullopt;
  detail::WholeTally tally;
  const Region column{{0, store.schema().rows}, {col, col + 1}};
  for (const std::uint64_t number : store.covering(column, Absent::zero).numbers) {
    const detail::Entry entry = store.index().entry(number);
    if (entry.kind == BlockKind::empty) continue;
    if (entry.cols != 1 || tally.add(*known, {number, number + 1}) == number) return std::nullopt;
  }
  return tally.tallies.totals(0);
}

/// Calls put(columns, their tallies) for all of `cols`.
template <class Put>
void tally_columns(const Store& store, Range cols, const ReadOptions& options, const Put& put) {
  const Absent absent = detail::left_out(options.absent);
  const std::uint64_t workers = detail::worker_limit(options.threads);
  const auto& grid = store.index().grid();
  if (workers > 1 && grid && grid->cols >= workers && cols.size() == store.schema().cols) {
    const auto strips = detail::column_strips(store, detail::strips_for(options.threads));
    return detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
      detail::ColumnTallies kernel{strips[i]};
      detail::Band band;
      detail::visit_region(store, {{0, store.schema().rows}, strips[i]}, {absent}, band, kernel);
      put(strips[i], kernel.tallies);
    });
  }
  const auto strips = detail::row_strips(store, workers);
  std::vector<detail::ColumnTallies> parts(std::max<std::size_t>(strips.size(), 1), {cols});
  detail::parallel_for(strips.size(), options.threads, [&](std::uint64_t i) {
    detail::Band band;
    detail::visit_region(store, {strips[i], cols}, {absent}, band, parts[i]);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) parts[0].tallies.merge(parts[i].tallies);
  put(cols, parts[0].tallies);
}

std::vector<Stats> stats_of_columns(const BlockedObject& object, const ReadOptions& options) {
  const Store& store = object.store();
  detail::require_covered(store, detail::left_out(options.absent));
  const detail::LineStats lines(store, options.absent, detail::Side::column);
  std::vector<Stats> out(object.cols());
  const auto put = [&](Range cols, const detail::TallyTable& tallies) {
    for (std::uint64_t c = 0; c < cols.size(); ++c) {
      out[cols.begin + c] = lines.of(cols.begin + c, tallies.totals(c));
    }
  };
  Range unknown{0, 0};  // columns in a row, which are read together
  const auto read_unknown = [&](std::uint64_t next) {
    if (!unknown.empty()) tally_columns(store, unknown, options, put);
    unknown = {next, next};
  };
  for (std::uint64_t col = 0; col < object.cols(); ++col) {
    const auto told = store.watched([&] { return told_column(store, col); });
    if (told) {
      out[col] = lines.of(col, *told);
      read_unknown(col + 1);
    } else {
      unknown.end = col + 1;
    }
  }
  read_unknown(object.cols());
  detail::count_missing(store, options, out);
  return out;
}

}  // namespace

std::vector<Stats> row_stats(const BlockedObject& object, const ReadOptions& options) {
  return many_stats(object.store(), object.rows(), "row",
                    [&] { return stats_of_rows(object, options); });
}

std::vector<Stats> column_stats(const BlockedObject& object, const ReadOptions& options) {
  return many_stats(object.store(), object.cols(), "column",
                    [&] { return stats_of_columns(object, options); });
}

}  // namespace dapple
