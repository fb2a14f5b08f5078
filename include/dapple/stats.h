// Statistics of a matrix or frame: of all cells, of each row, of each column.
//
// Cells are read where they are, in the type in which they are stored; nothing is decoded as a
// whole. Files written by dapple have statistics of each block: those of the whole, of rows of
// tiles and of columns of tiles are made of them, and no cell is read. Cells that a sparse block
// does not store are zeros and count like any other. NaNs are counted and left out of everything
// else; infinities are numbers like others.
//
// Exactness. Integers are summed exactly, their squares too up to 32 bits; each result is rounded
// once, to f64. Floats and the squares of 64-bit integers are summed in f64, in an order that
// depends on the file and on the number of threads alone.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "dapple/blocked_object.h"

namespace dapple {

struct Stats {
  std::uint64_t count = 0;  // cells, NaNs included
  std::uint64_t nnz = 0;    // cells that are neither zero (of either sign) nor NaN
  std::uint64_t nans = 0;
  double min = std::numeric_limits<double>::quiet_NaN();  // NaN when there is no number
  double max = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  double sum_squares = 0;

  /// Of the cells that are not NaN; NaN when there are none.
  double mean() const noexcept;
  /// The mean squared distance from the mean (divided by the number of cells, not by one less). It
  /// is the difference of two sums: where the mean is many times the standard deviation, that many
  /// digits squared are lost.
  double variance() const noexcept;
};

struct StatsOptions {
  Absent absent = Absent::error;
  unsigned threads = 1;  // 0: one per processor
};

/// Of all cells. Throws absent (R7), corrupt, type_mismatch, io. O(blocks) where the file, or its
/// sidecar, has statistics of its blocks, otherwise one pass over them.
Stats matrix_stats(const BlockedObject& object, const StatsOptions& options = {});

/// One for each row of tiles, or column of tiles. Throws invalid_argument when the blocks form no
/// regular grid, otherwise as `matrix_stats`, and as fast.
std::vector<Stats> tile_row_stats(const BlockedObject& object, const StatsOptions& options = {});
std::vector<Stats> tile_column_stats(const BlockedObject& object, const StatsOptions& options = {});

/// One for each row. Errors and time as `matrix_stats`; memory: the result, and the sums that it is
/// made of, 32 to 64 bytes a row.
std::vector<Stats> row_stats(const BlockedObject& object, const StatsOptions& options = {});

/// One for each column. Missing cells of a frame (column.h) count as NaNs. Memory likewise, for
/// each thread where the tiles of a grid are fewer than the threads in a row.
std::vector<Stats> column_stats(const BlockedObject& object, const StatsOptions& options = {});

}  // namespace dapple
