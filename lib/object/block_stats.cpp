#include "lib/object/block_stats.h"

#include <algorithm>
#include <cmath>

#include "lib/cells/convert_cells.h"

namespace dapple::detail {

namespace {

/// True when both may be of the same `n` floats: sums and spreads depend on the order of addition.
bool agree(const Moments& a, const Moments& b, double n) {
  const auto near = [](double x, double y, double most) {
    // Beyond f64 a sum may be infinite in one order and NaN in another.
    return x == y || std::abs(x - y) <= most || (!std::isfinite(x) && !std::isfinite(y));
  };
  const double spread = std::max(a.spread.high, b.spread.high), sum = a.sum.value();
  return a.count == b.count &&
         near(sum, b.sum.value(), 0x1p-40 * std::sqrt(n * spread) + 0x1p-52 * std::abs(sum)) &&
         near(a.spread.high, b.spread.high, (0x1p-34 + n * 0x1p-63) * spread + n * 0x1p-1074);
}

}  // namespace

bool BlockStats::agrees(const BlockStats& other, std::uint64_t n) const noexcept {
  if (*this == other) return true;
  const auto t = type();
  if (t != other.type() || !t) return false;
  return visit_type(*t, [&](auto tag) {
    using T = decltype(tag);
    const auto a = tally<T>(), b = other.tally<T>();
    const bool known = knows_spread() && other.knows_spread();
    if (std::is_integral_v<T> && known) return false;  // all is exact
    if (a.nonzero != b.nonzero || a.nans != b.nans || a.min != b.min || a.max != b.max)
      return false;
    if constexpr (std::is_floating_point_v<T>) {
      return !known || agree(a.settled, b.settled, static_cast<double>(n));
    } else {
      return a.sum == b.sum;
    }
  });
}

void BlockStats::set_moments(const Moments& moments) noexcept {
  const double infinity = std::numeric_limits<double>::infinity();
  const double spread = moments.spread.value();
  words_[4] = to_bits(moments.sum.high);
  words_[5] = to_bits(moments.sum.low);
  words_[6] = to_bits(std::isfinite(spread) ? spread : infinity);
  words_[7] = moments.count;
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
                                 std::uint64_t count, bool old)
    : file_(std::move(file)),
      offset_(offset),
      first_(file_->at(offset, count * BlockStats::kBytes)),
      count_(count),
      old_(old) {}

}  // namespace dapple::detail
