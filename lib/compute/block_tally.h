// All values of a block in one tally: from what the file knows of it, or from the block itself.
#pragma once

#include <array>

#include "lib/compute/block_cells.h"
#include "lib/compute/totals.h"
#include "lib/object/block_stats.h"

namespace dapple::detail {

/// Adds the entries of a row. Where there are many, they are put next to each other first, since
/// contiguous values are added several at once.
template <AnyRow Row>
void add_row(const Row& row, TallyOf<typename Row::Type>& tally) {
  using T = typename Row::Type;
  if (std::is_integral_v<T> || row.count() < 16) {
    TallyOf<T> local = tally;  // in registers
    row.each([&](std::uint32_t, T v) { local.add(v); });
    tally = local;
    return;
  }
  std::array<T, FloatTally::kPending> values;
  std::size_t n = 0;
  const auto flush = [&] {
    tally_run<T>(tally, reinterpret_cast<const std::byte*>(values.data()), n);
    n = 0;
  };
  row.each([&](std::uint32_t, T v) {
    if (n == values.size()) flush();
    values[n++] = v;
  });
  flush();
}

/// A kernel (block_cells.h) that adds all stored values to one tally of each class.
struct WholeTally {
  TallyTable tallies{1};

  /// Adds the statistics of blocks up to the first of which not all is known, and returns its
  /// number, or `numbers.end`.
  std::uint64_t add(const BlockStatsTable& known, Range numbers);

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
  template <AnyRow Row>
  void row(const Row& row) {
    add_row(row, *tallies.of<typename Row::Type>());
  }
  template <Value T>
  void cell(std::uint64_t, std::uint64_t, T value) {
    tallies.of<T>()->add(value);
  }
};

/// Reads a block, whose entry is known to be right. Nothing is known of one that stores values in a
/// type that its columns do not hold. Throws corrupt.
BlockStats scan_block(const Store& store, const Entry& entry);

/// True when the file tells of its blocks, which share no cell. O(blocks) without a grid.
bool knows_all_blocks(const Store& store);

/// Adds blocks `numbers` to `tallies`, as `known` has them or by reading them. Throws as
/// `visit_cells`.
void tally_blocks(const Store& store, const BlockStatsTable* known, Range numbers, Band& band,
                  WholeTally& tallies);

/// Reads all blocks of a region. Throws as `visit_region`.
Totals tally_region(const Store& store, const Region& region, Absent absent);

}  // namespace dapple::detail
