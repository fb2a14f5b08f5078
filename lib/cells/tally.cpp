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
template <class T>
constexpr bool kFloat = std::is_floating_point_v<T>;

/// Types for sums of up to kRun values, as narrow as possible, so that loops over lanes of them
/// vectorise.
template <class T>
struct Narrow {
  static constexpr std::size_t kRun = kFloat<T> ? FloatTally::kPending : std::size_t{1} << 15;
  using Sum = std::conditional_t<kFloat<T>, double,
                                 std::conditional_t<kSmall<T>, std::int32_t, std::int64_t>>;
  using Squares =
      std::conditional_t<kFloat<T>, double,
                         std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>>;
  // Sums of squares that have more than 64 bits are kept in digits of 2^32.
  static constexpr std::size_t kDigits = kFloat<T> || kSmall<T> ? 1 : sizeof(T) / 2;
};

constexpr std::uint64_t kDigit = 0xffffffff;

/// Values are compared as `As`, which holds them all, and counted as `Count`: where lanes stay in
/// registers, both are as wide as a value, so that masks need not be widened.
template <class T, std::size_t kLanes, class As, class Count>
struct Lanes {
  using Sum = typename Narrow<T>::Sum;
  using Squares = typename Narrow<T>::Squares;
  // Of floats: their distances from `origin`, and the squares of those.
  std::array<double, kFloat<T> ? kLanes : 0> origin{};
  std::array<Sum, kLanes> sum{}, sum_high{};  // of 64-bit integers, in two halves
  std::array<std::array<Squares, kLanes>, Narrow<T>::kDigits> squares;
  std::array<Count, kLanes> nonzero{}, nans{};
  std::array<As, kLanes> min, max;

  Lanes() noexcept { reset(); }
  void reset() noexcept {
    sum.fill(0);
    for (auto& digit : squares) digit.fill(0);
    nonzero.fill(0);
    if constexpr (kFloat<T>) {
      nans.fill(0);
      min.fill(std::numeric_limits<As>::infinity());
      max.fill(-std::numeric_limits<As>::infinity());
    } else {
      if constexpr (sizeof(T) == 8) sum_high.fill(0);
      min.fill(std::numeric_limits<T>::max());
      max.fill(std::numeric_limits<T>::lowest());
    }
  }

  /// Without `kNans`, there are none among the values.
  template <bool kNans>
  [[gnu::always_inline]] void add(std::size_t lane, T value) noexcept {
    const As v = value;
    if constexpr (kFloat<T>) {
      const bool nan = kNans && v != v;
      const double distance = nan ? 0.0 : v - origin[lane];
      sum[lane] += distance;
      squares[0][lane] += distance * distance;
      nonzero[lane] += ((v != 0) & !nan) ? 1U : 0U;
      if constexpr (kNans) nans[lane] += nan ? 1U : 0U;
    } else {
      if constexpr (sizeof(T) == 8) {
        sum[lane] += static_cast<std::int64_t>(static_cast<std::uint32_t>(v));
        sum_high[lane] += static_cast<std::int64_t>(v >> 32);
        const auto bits = static_cast<std::uint64_t>(v);
        const std::uint64_t magnitude = v < 0 ? 0 - bits : bits;
        const std::uint64_t low = magnitude & kDigit, high = magnitude >> 32;
        const std::uint64_t first = low * low, second = low * high, third = high * high;
        squares[0][lane] += first & kDigit;
        squares[1][lane] += (first >> 32) + 2 * (second & kDigit);
        squares[2][lane] += 2 * (second >> 32) + (third & kDigit);
        squares[3][lane] += third >> 32;
      } else if constexpr (sizeof(T) == 4) {
        const auto wide = static_cast<std::int64_t>(v);
        const auto bits = static_cast<std::uint64_t>(wide);
        const std::uint64_t square = bits * bits;  // unsigned, where it fits
        sum[lane] += wide;
        squares[0][lane] += square & kDigit;
        squares[1][lane] += square >> 32;
      } else {
        sum[lane] += v;
        const auto magnitude = static_cast<std::uint32_t>(v < 0 ? -v : v);
        squares[0][lane] += static_cast<std::uint32_t>(magnitude * magnitude);
      }
      nonzero[lane] += v != 0 ? 1U : 0U;
    }
    min[lane] = v < min[lane] ? v : min[lane];
    max[lane] = v > max[lane] ? v : max[lane];
  }

  /// Of floats, `n` values were added, for which the tally had made room.
  void flush(std::size_t lane, std::size_t n, TallyOf<T>& tally) const noexcept {
    if constexpr (kFloat<T>) {
      tally.pending += n - nans[lane];
      tally.distances += sum[lane];
      tally.squares += squares[0][lane];
      tally.nonzero += nonzero[lane];
      tally.nans += nans[lane];
      tally.min = std::min(tally.min, static_cast<double>(min[lane]));
      tally.max = std::max(tally.max, static_cast<double>(max[lane]));
    } else {
      TallyOf<T> part;
      part.nonzero = nonzero[lane];
      part.min = min[lane];
      part.max = max[lane];
      part.sum = sum[lane];
      part.squares += squares[0][lane];
      if constexpr (sizeof(T) >= 4) part.squares += Uint128{squares[1][lane]} << 32;
      if constexpr (sizeof(T) == 8) {
        part.sum += Int128{sum_high[lane]} * (Int128{1} << 32);
        part.squares += Uint128{squares[2][lane]} << 64;
        part.squares += Uint128{squares[3][lane] & kDigit} << 96;
        part.squares.high += squares[3][lane] >> 32;
      }
      tally.merge(part);
    }
  }
};

/// Lanes of a run: enough to fill a vector with the narrowest members.
template <class T>
constexpr std::size_t kSideBySide = kSmall<T> ? 32 : 16;
/// With NaNs, whose distances are left out, floats are compared as those: f64.
template <class T, bool kNans>
using Compared = std::conditional_t<kNans, double, T>;
template <class T, bool kNans>
using RunLanes = Lanes<
    T, kSideBySide<T>, Compared<T, kNans>,
    std::conditional_t<std::is_same_v<Compared<T, kNans>, double>, std::uint64_t, std::uint32_t>>;

template <class T>
DAPPLE_VECTORS bool has_nans(const std::byte* values, std::size_t n) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  Bits nans = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T v = load_le<T>(values + i * sizeof(T));
    nans |= v != v ? 1U : 0U;
  }
  return nans != 0;
}

template <class T, bool kNans>
DAPPLE_VECTORS void add_run(RunLanes<T, kNans>& lanes, const std::byte* values,
                            std::size_t n) noexcept {
  constexpr std::size_t kLanes = kSideBySide<T>;
  RunLanes<T, kNans> held = lanes;  // a local copy stays in registers
  std::size_t i = 0;
  const auto add = [&](std::size_t k) {
    held.template add<kNans>(k, load_le<T>(values + (i + k) * sizeof(T)));
  };
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) add(k);
  }
  for (std::size_t k = 0; i + k < n; ++k) add(k);
  lanes = held;
}

/// The first of `n` values, `step` bytes apart, from which others can be measured; 0 if none can.
template <class T>
double first_origin(const std::byte* values, std::size_t step, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const double v = load_le<T>(values + i * step);
    if (FloatTally::is_origin(v)) return v;
  }
  return 0;
}

template <class T, bool kNans>
void put_run(TallyOf<T>& tally, const std::byte* values, std::size_t n) noexcept {
  constexpr std::size_t kLanes = kSideBySide<T>;
  RunLanes<T, kNans> lanes;
  if constexpr (kFloat<T>) lanes.origin.fill(tally.origin);
  add_run<T, kNans>(lanes, values, n);
  for (std::size_t k = 0; k < kLanes; ++k) {
    lanes.flush(k, n / kLanes + (k < n % kLanes ? 1 : 0), tally);
  }
}

constexpr std::size_t kColumnsAtOnce = 128;
template <class T>
using ColumnLanes =
    Lanes<T, kColumnsAtOnce, std::conditional_t<kFloat<T>, double, T>, std::uint32_t>;

template <class T>
DAPPLE_VECTORS void add_rows(ColumnLanes<T>& lanes, const std::byte* values, std::size_t row_step,
                             std::size_t rows, std::size_t cols) noexcept {
  for (std::size_t r = 0; r < rows; ++r, values += row_step) {
    for (std::size_t c = 0; c < cols; ++c)
      lanes.template add<kFloat<T>>(c, load_le<T>(values + c * sizeof(T)));
  }
}

}  // namespace

template <Value T>
void tally_run(TallyOf<T>& tally, const std::byte* values, std::size_t n) noexcept {
  constexpr std::size_t kMost = kFloat<T> ? 1024 : Narrow<T>::kRun * kSideBySide<T>;
  constexpr std::size_t kFew = 8;
  if (n <= kFew) {
    for (std::size_t i = 0; i < n; ++i) tally.add(load_le<T>(values + i * sizeof(T)));
    return;
  }
  for (std::size_t i = 0; i < n;) {
    const std::size_t run = std::min(n - i, kMost);
    const std::byte* const first = values + i * sizeof(T);
    if constexpr (kFloat<T>) {
      tally.expect(run, first_origin<T>(first, sizeof(T), run));
      if (has_nans<T>(first, run)) {
        put_run<T, true>(tally, first, run);
      } else {
        put_run<T, false>(tally, first, run);
      }
      if (tally.pending > FloatTally::kPending) tally.settle();
    } else {
      put_run<T, false>(tally, first, run);
    }
    i += run;
  }
}

template <Value T>
void tally_columns(TallyOf<T>* tallies, const std::byte* values, std::size_t row_step,
                   std::uint64_t rows, std::size_t cols) noexcept {
  ColumnLanes<T> lanes;
  for (std::size_t first = 0; first < cols; first += kColumnsAtOnce) {
    const std::size_t width = std::min(cols - first, kColumnsAtOnce);
    for (std::uint64_t row = 0; row < rows;) {
      const std::size_t height = std::min<std::uint64_t>(rows - row, Narrow<T>::kRun);
      const std::byte* const corner = values + row * row_step + first * sizeof(T);
      lanes.reset();
      if constexpr (kFloat<T>) {
        for (std::size_t c = 0; c < width; ++c) {
          FloatTally& tally = tallies[first + c];
          tally.expect(height, first_origin<T>(corner + c * sizeof(T), row_step, height));
          lanes.origin[c] = tally.origin;
        }
      }
      add_rows<T>(lanes, corner, row_step, height, width);
      for (std::size_t c = 0; c < width; ++c) lanes.flush(c, height, tallies[first + c]);
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
