#include "lib/cells/tally.h"

#include <algorithm>
#include <array>

#include "lib/base/bytes.h"
#include "lib/base/value_types.h"
#include "lib/base/vectors.h"

namespace dapple::detail {

namespace {

template <class T>
constexpr bool kSmall = std::is_integral_v<T> && sizeof(T) <= 2;

/// Types for sums of up to kRun values, as narrow as possible, so that loops over lanes of them
/// vectorise.
template <class T>
struct Narrow {
  static constexpr std::size_t kRun = std::size_t{1} << 15;
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double,
                                 std::conditional_t<kSmall<T>, std::int32_t, std::int64_t>>;
  using Squares = std::conditional_t<
      sizeof(T) == 1, std::uint32_t,
      std::conditional_t<std::is_integral_v<T> && sizeof(T) <= 4, std::uint64_t, double>>;
};

template <class T, std::size_t kLanes>
struct Lanes {
  using Sum = typename Narrow<T>::Sum;
  using Squares = typename Narrow<T>::Squares;
  // Sums of 64-bit integers and squares of 32-bit ones are kept in two halves.
  std::array<Sum, kLanes> sum{}, sum_high{};
  std::array<Squares, kLanes> squares{}, squares_high{};
  std::array<std::uint32_t, kLanes> nonzero{}, nans{};
  using Extreme = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  std::array<Extreme, kLanes> min, max;

  Lanes() noexcept { reset(); }
  void reset() noexcept {
    sum.fill(0);
    squares.fill(0);
    nonzero.fill(0);
    if constexpr (std::is_floating_point_v<T>) {
      nans.fill(0);
      min.fill(std::numeric_limits<double>::infinity());
      max.fill(-std::numeric_limits<double>::infinity());
    } else {
      if constexpr (sizeof(T) == 8) sum_high.fill(0);
      if constexpr (sizeof(T) == 4) squares_high.fill(0);
      min.fill(std::numeric_limits<T>::max());
      max.fill(std::numeric_limits<T>::lowest());
    }
  }

  [[gnu::always_inline]] void add(std::size_t lane, T value) noexcept {
    const auto v = static_cast<Extreme>(value);
    if constexpr (std::is_floating_point_v<T>) {
      const bool nan = v != v;
      const double x = nan ? 0.0 : v;
      sum[lane] += x;
      squares[lane] += x * x;
      nonzero[lane] += x != 0 ? 1U : 0U;
      nans[lane] += nan ? 1U : 0U;
    } else {
      if constexpr (sizeof(T) == 8) {
        sum[lane] += static_cast<std::int64_t>(static_cast<std::uint32_t>(v));
        sum_high[lane] += static_cast<std::int64_t>(v >> 32);
        squares[lane] += static_cast<double>(v) * static_cast<double>(v);
      } else if constexpr (sizeof(T) == 4) {
        const auto wide = static_cast<std::int64_t>(v);
        const auto bits = static_cast<std::uint64_t>(wide);
        const std::uint64_t square = bits * bits;  // unsigned, where it fits
        sum[lane] += wide;
        squares[lane] += square & 0xffffffffU;
        squares_high[lane] += square >> 32;
      } else {
        sum[lane] += v;
        const auto magnitude = static_cast<std::uint32_t>(v < 0 ? -v : v);
        squares[lane] += static_cast<std::uint32_t>(magnitude * magnitude);
      }
      nonzero[lane] += v != 0 ? 1U : 0U;
    }
    min[lane] = v < min[lane] ? v : min[lane];
    max[lane] = v > max[lane] ? v : max[lane];
  }

  void flush(std::size_t lane, TallyOf<T>& tally) const noexcept {
    TallyOf<T> part;
    part.nonzero = nonzero[lane];
    part.min = min[lane];
    part.max = max[lane];
    if constexpr (std::is_floating_point_v<T>) {
      part.sum = sum[lane];
      part.squares = squares[lane];
      part.nans = nans[lane];
    } else if constexpr (sizeof(T) == 8) {
      part.sum = Int128{sum[lane]} + Int128{sum_high[lane]} * (Int128{1} << 32);
      part.squares = squares[lane];
    } else if constexpr (sizeof(T) == 4) {
      part.sum = sum[lane];
      part.squares = Uint128{squares[lane]} + (Uint128{squares_high[lane]} << 32);
    } else {
      part.sum = sum[lane];
      part.squares = squares[lane];
    }
    tally.merge(part);
  }
};

/// Lanes of a run: enough to fill a vector with the narrowest members.
template <class T>
constexpr std::size_t kSideBySide = kSmall<T> ? 32 : 16;

template <class T>
DAPPLE_VECTORS void add_run(Lanes<T, kSideBySide<T>>& lanes, const std::byte* values,
                            std::size_t n) noexcept {
  constexpr std::size_t kLanes = kSideBySide<T>;
  Lanes<T, kLanes> held = lanes;  // a local copy stays in registers
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) held.add(k, load_le<T>(values + (i + k) * sizeof(T)));
  }
  for (std::size_t k = 0; i + k < n; ++k) held.add(k, load_le<T>(values + (i + k) * sizeof(T)));
  lanes = held;
}

constexpr std::size_t kColumnsAtOnce = 128;

template <class T>
DAPPLE_VECTORS void add_rows(Lanes<T, kColumnsAtOnce>& lanes, const std::byte* values,
                             std::size_t row_step, std::size_t rows, std::size_t cols) noexcept {
  for (std::size_t r = 0; r < rows; ++r, values += row_step) {
    for (std::size_t c = 0; c < cols; ++c) lanes.add(c, load_le<T>(values + c * sizeof(T)));
  }
}

}  // namespace

template <Value T>
void tally_run(TallyOf<T>& tally, const std::byte* values, std::size_t n) noexcept {
  constexpr std::size_t kMost = Narrow<T>::kRun * kSideBySide<T>;
  constexpr std::size_t kFew = 8;
  if (n <= kFew) {
    for (std::size_t i = 0; i < n; ++i) tally.add(load_le<T>(values + i * sizeof(T)));
    return;
  }
  for (std::size_t i = 0; i < n;) {
    const std::size_t run = std::min(n - i, kMost);
    Lanes<T, kSideBySide<T>> lanes;
    add_run<T>(lanes, values + i * sizeof(T), run);
    for (std::size_t k = 0; k < kSideBySide<T>; ++k) lanes.flush(k, tally);
    i += run;
  }
}

template <Value T>
void tally_columns(TallyOf<T>* tallies, const std::byte* values, std::size_t row_step,
                   std::uint64_t rows, std::size_t cols) noexcept {
  Lanes<T, kColumnsAtOnce> lanes;
  for (std::size_t first = 0; first < cols; first += kColumnsAtOnce) {
    const std::size_t width = std::min(cols - first, kColumnsAtOnce);
    for (std::uint64_t row = 0; row < rows;) {
      const std::size_t height = std::min<std::uint64_t>(rows - row, Narrow<T>::kRun);
      lanes.reset();
      add_rows<T>(lanes, values + row * row_step + first * sizeof(T), row_step, height, width);
      for (std::size_t c = 0; c < width; ++c) lanes.flush(c, tallies[first + c]);
      row += height;
    }
  }
}

#define DAPPLE_INSTANTIATE(T)                                                               \
  template void tally_run<T>(TallyOf<T>&, const std::byte*, std::size_t) noexcept;          \
  template void tally_columns<T>(TallyOf<T>*, const std::byte*, std::size_t, std::uint64_t, \
                                 std::size_t) noexcept;
DAPPLE_FOR_EACH_VALUE(DAPPLE_INSTANTIATE)
#undef DAPPLE_INSTANTIATE

}  // namespace dapple::detail
