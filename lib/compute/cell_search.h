// What searches of matrices and of columns share: kernels that find or count matching cells, and
// what rules out a match in a block.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/compute/block_cells.h"
#include "lib/compute/interval.h"
#include "lib/object/block_stats.h"

namespace dapple::detail {

/// The number of `n` values that match.
template <Value T>
std::uint64_t count_run(const std::byte* values, std::size_t n, const Matching<T>& match);

/// Cells of a row are looked at in runs: first whether any matches, which vectorises.
inline constexpr std::size_t kRun = 256;

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
  void add(ValueType type, std::span<const StoredCell> cells) {
    for (const StoredCell& cell : cells) {
      if (type_ != type || size_ == cells_.size()) flush();
      type_ = type;
      cells_[size_++] = cell;
    }
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

/// Finds the cells that match, those of each block in ascending order: a block may store its
/// entries in any (R5).
struct Finder {
  const Interval& interval;
  HitRun& hits;
  std::vector<StoredCell> entries{};  // found in the sparse row or COO block that is looked at
  ValueType type{};                   // of all of them

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
  template <AnyRow Row>
  void row(const Row& row) {
    using T = typename Row::Type;
    const Matching<T> match = interval.of<T>();
    row.each([&](std::uint32_t col, T value) {
      if (match(value)) keep(row.row, row.col + col, value);
    });
    end_entries();
  }
  template <Value T>
  void cell(std::uint64_t row, std::uint64_t col, T value) {
    if (interval.of<T>()(value)) keep(row, col, value);
  }
  /// After the last `cell` of a block.
  void end_entries();

 private:
  template <Value T>
  void keep(std::uint64_t row, std::uint64_t col, T value) {
    type = value_type_of<T>();
    entries.push_back({row, col, std::bit_cast<BitsOf<T>>(value)});
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
  template <AnyRow Row>
  void row(const Row& row) {
    using T = typename Row::Type;
    const Matching<T> match = interval.of<T>();
    std::uint64_t here = 0;
    row.each([&](std::uint32_t, T value) { here += match(value) ? 1U : 0U; });
    found += here;
    seen += row.count();
  }
  template <Value T>
  void cell(std::uint64_t, std::uint64_t, T value) {
    found += interval.of<T>()(value) ? 1U : 0U;
    ++seen;
  }
};

/// Why the stored values of a block, whose columns are declared as `declared`, need no look. Zeros
/// that it does not store are another matter.
Skipped verdict(const Interval& interval, const Entry& entry, ValueType declared);
/// The same, with a look at the statistics of the block, if it has any.
Skipped verdict(const Interval& interval, const Store& store, std::uint64_t number,
                const Entry& entry, ValueType declared);

/// Hands the cells of a part of a block to the kernel.
template <class Kernel>
void look_at(const Store& store, const Entry& entry, const Part& part, Band& band, Kernel& kernel) {
  visit_cells(store, entry, part, band, kernel);
  if constexpr (requires { kernel.end_entries(); }) kernel.end_entries();
}

/// True when statistics rule out that a stored value of a block matches.
bool rules_out(const Interval& interval, const BlockStats& stats);

/// Hands all cells of a region of one type to the kernel, zeros that no block stores included.
template <class Kernel>
void scan(const Store& store, const Region& region, Absent absent, Kernel& kernel) {
  if (region.empty()) return;
  constexpr std::uint64_t kBytes = 1U << 20;
  const ValueType type = store.schema().type_of(region.cols.begin);
  const std::size_t size = size_of(type);
  const std::uint64_t width = std::min<std::uint64_t>(region.cols.size(), kBytes / size);
  const std::uint64_t height = std::max<std::uint64_t>(1, kBytes / size / width);
  Band band;
  for (std::uint64_t r = region.rows.begin; r < region.rows.end; r += height) {
    for (std::uint64_t c = region.cols.begin; c < region.cols.end; c += width) {
      const Region piece{{r, std::min(r + height, region.rows.end)},
                         {c, std::min(c + width, region.cols.end)}};
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

/// Throws type_mismatch: the value found in a cell, of type `type`, is not one of `wanted`.
[[noreturn]] void fail_fit(const Store& store, const StoredCell& cell, ValueType type,
                           ValueType wanted);

}  // namespace dapple::detail
