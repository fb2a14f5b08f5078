// Statistics of a matrix or frame: of all cells, of each row, of each column.
//
// Cells are read in place, in their stored type. Files written by dapple contain the statistics of
// each block; where they do, those of all cells, of tile rows and of tile columns read no cell.
// Cells that a sparse block does not store count as zeros. NaNs are counted and otherwise left out;
// infinities are treated as numbers. With Absent::nan, cells that no block covers count as NaNs,
// among integers too.
//
// Exactness. Integers and their squares are summed exactly, so what only integers make is the same
// to the last bit whatever the tiles, types and threads are: `sum`, `sum_squares` and
// `squared_distances` are rounded once, `Stats::exact` is not. Floats are measured from one of
// them, up to 1024 at a time, and these groups are merged (Chan's formula): however far n cells are
// from zero, the relative error of `squared_distances` and of the variance is below 2^-36 + n *
// 2^-65, and mostly around 2^-50. Floats in other tiles, in narrower types or read by other threads
// may differ within that bound. (Distances below 2^-537 have squares that f64 rounds to 0.) The
// error of `sum` is below 2^-32 of the sum of the magnitudes. A sum of which a part is beyond f64
// is infinite, and NaN where two parts are, of opposite signs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dapple/blocked_object.h"

namespace dapple {

/// Of integers, without rounding to f64. Each is the bits of an i64 if it is negative, else of a
/// u64: as cells of either type are stored.
struct ExactStats {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t mean = 0;  // rounded to the nearest integer, halves away from zero
};

struct Stats {
  std::uint64_t count = 0;  // cells, NaNs included
  std::uint64_t nnz = 0;    // cells that are neither zero (of either sign) nor NaN
  std::uint64_t nans = 0;
  double min = std::numeric_limits<double>::quiet_NaN();  // NaN when there is no number
  double max = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  double sum_squares = 0;
  double squared_distances = 0;  // from the mean, summed
  /// Where there are numbers and none is stored as a float: what `min`, `max` and `mean` round when
  /// it is beyond 2^53, as times in nanoseconds are.
  std::optional<ExactStats> exact{};

  /// The mean of the cells that are not NaN; NaN when there are none.
  double mean() const noexcept;
  /// The population variance (divided by n, not n - 1) of the cells that are not NaN: zero where
  /// all are the same, NaN where there is no number or one is infinite, infinite where
  /// `squared_distances` is beyond f64.
  double variance() const noexcept;
};

/// Statistics of all cells. Throws absent (R7), corrupt, io, unsupported for more than 2^64 - 1
/// cells, and type_mismatch for a frame with columns of words, times or truth values, or of
/// integers of which one marks a missing cell: `column_stats` takes those. O(blocks) if the file or
/// its sidecar contains statistics, otherwise one pass over the blocks.
Stats matrix_stats(const BlockedObject& object, const ReadOptions& options = {});

/// One result for each row, or column, of tiles. Throws invalid_argument if the blocks form no
/// regular tiling, and what `matrix_stats` throws. Time as `matrix_stats`.
std::vector<Stats> tile_row_stats(const BlockedObject& object, const ReadOptions& options = {});
std::vector<Stats> tile_column_stats(const BlockedObject& object, const ReadOptions& options = {});

/// Of the cells of one of `object.blocks()`, zeros that it does not store included, as the file or
/// its sidecar has them; codes and ticks count as numbers. Nothing where the file has none, unless
/// the block is empty; no variance and no sum of squares (NaN) of floats and 64-bit integers where
/// an earlier version of dapple wrote them. Reads no cell. Throws corrupt, io. O(1) in a regular
/// tiling, otherwise O(log blocks).
std::optional<Stats> stored_stats(const BlockedObject& object, const BlockInfo& block);

/// One result for each row. Throws what `matrix_stats` throws, and no_memory. One pass over the
/// blocks. Memory: the result, and 48 to 128 bytes per row while it runs.
std::vector<Stats> row_stats(const BlockedObject& object, const ReadOptions& options = {});

/// One result for each column, of any frame; otherwise like `row_stats`, with memory per column.
/// Of a column that shares no block with another the file or its sidecar tells, and no cell is
/// read. Missing cells (column.h) count as NaNs, and columns of integers that have some are read
/// twice. Columns of words are summarised by code, times by tick. With more threads than columns of
/// tiles, the memory is multiplied by the number of threads.
std::vector<Stats> column_stats(const BlockedObject& object, const ReadOptions& options = {});

}  // namespace dapple
