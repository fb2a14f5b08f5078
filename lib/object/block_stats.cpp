#include "lib/object/block_stats.h"

#include <algorithm>
#include <cmath>

#include "lib/cells/convert_cells.h"

namespace dapple::detail {

bool BlockStats::agrees(const BlockStats& other, std::uint64_t n) const noexcept {
  if (*this == other) return true;
  const auto t = type();
  if (t != other.type() || !t) return false;
  return visit_type(*t, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8) {
      return false;  // all is exact
    } else {
      const auto a = tally<T>(), b = other.tally<T>();
      const double squares = static_cast<double>(a.squares);
      const auto near = [&](double x, double y, double scale) {
        const double most = 0x1p-51 * static_cast<double>(n) * scale;
        // Sums beyond f64 may be infinite in one order and NaN in another.
        return x == y || std::abs(x - y) <= most || std::isinf(most) ||
               (std::isnan(x) && std::isnan(y));
      };
      // The sum of n magnitudes is at most sqrt(n * the sum of their squares).
      const bool sums = std::is_integral_v<T>
                            ? a.sum == b.sum
                            : near(static_cast<double>(a.sum), static_cast<double>(b.sum),
                                   std::sqrt(static_cast<double>(n) * squares));
      return sums && near(squares, static_cast<double>(b.squares), squares) &&
             a.nonzero == b.nonzero && a.nans == b.nans && a.min == b.min && a.max == b.max;
    }
  });
}

void BlockStats::merge(const BlockStats& other) noexcept {
  if (!type() || type() != other.type()) return;
  visit_type(*type(), [&](auto tag) {
    using T = decltype(tag);
    auto all = tally<T>();
    all.merge(other.tally<T>());
    *this = of<T>(all);
  });
}

BlockStats stats_of_values(ValueType stored, ValueType type, const std::byte* values,
                           std::uint64_t rows, std::uint64_t cols, std::size_t row_step) {
  const std::size_t size = size_of(type);
  if (row_step == cols * size) {
    cols *= rows;
    rows = rows == 0 ? 0 : 1;
  }
  return visit_type(stored, [&](auto tag) {
    using T = decltype(tag);
    constexpr std::uint64_t kAtOnce = 4096;  // stays in the L1 cache
    std::array<std::byte, kAtOnce * sizeof(T)> run;
    TallyOf<T> tally;
    for (std::uint64_t r = 0; r < rows; ++r) {
      const std::byte* const row = values + r * row_step;
      if (stored == type) {
        tally_run<T>(tally, row, cols);
        continue;
      }
      for (std::uint64_t c = 0; c < cols; c += kAtOnce) {
        const std::uint64_t n = std::min(kAtOnce, cols - c);
        convert_cells(type, row + c * size, size, stored, run.data(), sizeof(T), n);
        tally_run<T>(tally, run.data(), n);
      }
    }
    return BlockStats::of<T>(tally);
  });
}

BlockStatsTable::BlockStatsTable(std::shared_ptr<const ByteSource> file, std::uint64_t offset,
                                 std::uint64_t count)
    : file_(std::move(file)),
      offset_(offset),
      first_(file_->at(offset, count * BlockStats::kBytes)),
      count_(count) {}

}  // namespace dapple::detail
