#include "lib/cells/convert_cells.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lib/base/bytes.h"
#include "lib/base/vectors.h"

namespace dapple::detail {

namespace {

/// True when the float is in the range of the integer type To, so that the cast is defined.
template <class To, class From>
constexpr bool in_range(From value) noexcept {
  constexpr From lowest = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From behind = static_cast<From>(To{1} << (std::numeric_limits<To>::digits - 1)) * 2;
  return value >= lowest && value < behind;
}

/// True for a NaN that the hardware's conversion would change by making it quiet.
constexpr bool is_signalling(float value) noexcept {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
  return magnitude - 0x7f800001U < 0x003fffffU;
}

/// Converts without a branch, so that loops over it vectorise. True: `result` is exact. False: it
/// may not be, and `convert_careful` decides.
template <class To, class From>
inline bool convert_quick(From value, To& result) noexcept {
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, double>) {
    result = static_cast<double>(value);
    return !is_signalling(value);
  } else if constexpr (holds_all(value_type_of<To>(), value_type_of<From>())) {
    result = static_cast<To>(value);
    return true;
  } else if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
    result = static_cast<To>(value);
    return std::bit_cast<BitsOf<From>>(static_cast<From>(result)) ==
           std::bit_cast<BitsOf<From>>(value);
  } else if constexpr (std::is_floating_point_v<From> && sizeof(To) < sizeof(From)) {
    // Adding 1.5 * 2^(mantissa bits) rounds to an integer and leaves it in the low bits of the sum;
    // numbers out of range change the high bits. Before AVX-512 there is no vector cast from double
    // to a 64-bit integer, so this is five times as fast as a cast.
    using Bits = BitsOf<From>;
    constexpr From rounder = static_cast<From>(Bits{3} << (std::numeric_limits<From>::digits - 2));
    const From sum = value + rounder;
    const Bits integer = std::bit_cast<Bits>(sum) - std::bit_cast<Bits>(rounder);
    result = static_cast<To>(integer);
    // Compares bits, not values, because minus zero must not become zero.
    return (std::bit_cast<Bits>(sum - rounder) == std::bit_cast<Bits>(value)) &
           (static_cast<Bits>(result) == integer);
  } else if constexpr (std::is_floating_point_v<From>) {
    // Compares bits, not values, because minus zero must not become zero.
    const bool inside = in_range<To>(value);
    result = static_cast<To>(inside ? value : From{0});
    return inside & (std::bit_cast<BitsOf<From>>(static_cast<From>(result)) ==
                     std::bit_cast<BitsOf<From>>(value));
  } else if constexpr (std::is_floating_point_v<To>) {
    result = static_cast<To>(value);
    const bool inside = in_range<From>(result);  // rounding up may leave From's range
    return inside & (static_cast<From>(inside ? result : To{0}) == value);
  } else {
    result = static_cast<To>(value);
    return (static_cast<From>(result) == value) & ((result < To{0}) == (value < From{0}));
  }
}

/// Converts when the value fits exactly. Handles what `convert_quick` cannot: signalling NaNs.
template <class To, class From>
bool convert_careful(From value, To& result) noexcept {
  if (convert_quick(value, result)) return true;
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, double>) {
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(value);
    result = std::bit_cast<double>((bits >> 31 << 63) | std::uint64_t{0x7ff} << 52 |
                                   (bits & 0x007fffff) << 29);
    return true;
  } else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    constexpr std::uint64_t lost = (std::uint64_t{1} << 29) - 1;
    if (!std::isnan(value) || (bits & lost) != 0) return false;
    result = std::bit_cast<float>(static_cast<std::uint32_t>(
        (bits >> 63 << 31) | std::uint64_t{0xff} << 23 | (bits >> 29 & 0x007fffff)));
    return true;
  } else {
    return false;
  }
}

/// Converts to the nearest value. False when that is out of range (a finite value never becomes
/// infinite), or when a NaN has to become an integer.
template <class To, class From>
bool convert_nearest(From value, To& result) noexcept {
  if (convert_careful(value, result)) return true;
  if constexpr (std::is_floating_point_v<To>) {
    // The careful conversion left the nearest float in `result`.
    if constexpr (std::is_floating_point_v<From>) return !std::isinf(result) || std::isinf(value);
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    const From rounded = std::nearbyint(value);
    if (!in_range<To>(rounded)) return false;
    result = static_cast<To>(rounded);
    return true;
  } else {
    return false;
  }
}

/// Converts `n` contiguous values. True when the quick conversion was exact for all of them.
template <class From, class To>
DAPPLE_VECTORS bool convert_packed(const std::byte* __restrict source, std::byte* __restrict target,
                                   std::size_t n) noexcept {
  unsigned doubts = 0;  // not bool: g++ 12 does not vectorise a bool reduction
  for (std::size_t i = 0; i < n; ++i) {
    To result;
    doubts |= convert_quick(load_le<From>(source + i * sizeof(From)), result) ? 0U : 1U;
    store_le(target + i * sizeof(To), result);
  }
  return doubts == 0;
}

/// Converts strided values, each to the nearest; stops at one that has no nearest value.
template <class From, class To>
std::size_t convert_run_nearest(const std::byte* source, std::size_t from_step, std::byte* target,
                                std::size_t to_step, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    To result;
    if (!convert_nearest(load_le<From>(source + i * from_step), result)) return i;
    store_le(target + i * to_step, result);
  }
  return n;
}

template <class T>
T from_bits(std::uint64_t bits) noexcept {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

template <class From, class To, bool (*convert)(From, To&) noexcept>
bool convert_bits(std::uint64_t bits, std::uint64_t& result) noexcept {
  To value;
  if (!convert(from_bits<From>(bits), value)) return false;
  result = std::bit_cast<BitsOf<To>>(value);
  return true;
}

/// The functions for one pair of different types. There are ninety pairs, so whatever does not
/// depend on the pair is kept out of here.
struct Pair {
  bool (*packed)(const std::byte*, std::byte*, std::size_t) noexcept;
  std::size_t (*run_nearest)(const std::byte*, std::size_t, std::byte*, std::size_t,
                             std::size_t) noexcept;
  bool (*cell)(std::uint64_t, std::uint64_t&) noexcept;
  bool (*cell_nearest)(std::uint64_t, std::uint64_t&) noexcept;
};

using PairTable = std::array<std::array<Pair, 11>, 11>;

template <class From, class To>
constexpr Pair kPair = {convert_packed<From, To>, convert_run_nearest<From, To>,
                        convert_bits<From, To, convert_careful<To, From>>,
                        convert_bits<From, To, convert_nearest<To, From>>};

/// Some pairs of integers fit the same values, with the same bits: they share their functions.
template <class From, class To>
constexpr Pair shared_pair() {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    using UnsignedFrom = std::make_unsigned_t<From>;
    if constexpr (sizeof(From) == sizeof(To)) {  // all but those with the highest bit
      return kPair<UnsignedFrom, std::make_signed_t<To>>;
    } else if constexpr (sizeof(To) < sizeof(From) && std::is_unsigned_v<To>) {
      return kPair<UnsignedFrom, To>;
    } else if constexpr (sizeof(To) > sizeof(From) && std::is_unsigned_v<From>) {
      return kPair<From, std::make_unsigned_t<To>>;
    } else {
      return kPair<From, To>;
    }
  } else {
    return kPair<From, To>;
  }
}

template <class From, class To>
constexpr void fill_pair(PairTable& table) {
  if constexpr (!std::is_same_v<From, To>) {
    table[static_cast<std::size_t>(value_type_of<From>())]
         [static_cast<std::size_t>(value_type_of<To>())] = shared_pair<From, To>();
  }
}

template <class From, class... To>
constexpr void fill_row(PairTable& table) {
  (fill_pair<From, To>(table), ...);
}

template <class... T>
constexpr PairTable all_pairs() {
  PairTable table{};
  (fill_row<T, T...>(table), ...);
  return table;
}

constexpr PairTable kPairs =
    all_pairs<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
              std::int32_t, std::int64_t, float, double>();

const Pair& pair_of(ValueType from, ValueType to) noexcept {
  return kPairs[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

struct Run {
  ValueType from;
  const std::byte* source;
  std::size_t from_step;
  ValueType to;
  std::byte* target;
  std::size_t to_step;
  std::size_t n;

  Run piece(std::size_t first, std::size_t most) const noexcept {
    Run piece = *this;
    piece.source += first * from_step;
    piece.target += first * to_step;
    piece.n = std::min(n - first, most);
    return piece;
  }
};

/// Copies strided values without interpreting them.
void copy_run(ValueType type, const std::byte* source, std::size_t from_step, std::byte* target,
              std::size_t to_step, std::size_t n) noexcept {
  if (n == 0) return;
  if (from_step == size_of(type) && to_step == size_of(type)) {
    std::memcpy(target, source, n * size_of(type));
    return;
  }
  visit_bits(type, [&](auto bits) {
    for (std::size_t i = 0; i < n; ++i) {
      std::memcpy(target + i * to_step, source + i * from_step, sizeof bits);
    }
  });
}

/// Runs are converted in pieces of this many values, without a branch per value. Only a piece that
/// holds a value the quick conversion is unsure of is converted again, value by value.
constexpr std::size_t kPiece = 256;

/// Converts one piece; false when it must be converted carefully. Strided values are packed into a
/// buffer first: faster than ninety strided loops, and far less code.
bool convert_quickly(const Pair& pair, const Run& run) noexcept {
  const std::size_t from_size = size_of(run.from), to_size = size_of(run.to);
  alignas(64) std::byte near_source[kPiece * 8], near_target[kPiece * 8];
  const std::byte* source = run.source;
  std::byte* target = run.target;
  if (run.from_step != from_size && run.n > 1) {
    copy_run(run.from, run.source, run.from_step, near_source, from_size, run.n);
    source = near_source;
  }
  if (run.to_step != to_size && run.n > 1) target = near_target;
  const bool exact = pair.packed(source, target, run.n);
  if (exact && target == near_target) {
    copy_run(run.to, near_target, to_size, run.target, run.to_step, run.n);
  }
  return exact;
}

/// Converts value by value; stops at the first that does not fit.
std::size_t convert_carefully(const Pair& pair, const Run& run) noexcept {
  for (std::size_t i = 0; i < run.n; ++i) {
    std::uint64_t result;
    if (!pair.cell(load_bits(run.from, run.source + i * run.from_step), result)) return i;
    store_bits(run.to, run.target + i * run.to_step, result);
  }
  return run.n;
}

}  // namespace

std::size_t convert_cells(ValueType from, const std::byte* source, std::size_t from_step,
                          ValueType to, std::byte* target, std::size_t to_step, std::size_t n) {
  if (from == to) {
    copy_run(from, source, from_step, target, to_step, n);
    return n;
  }
  const Pair& pair = pair_of(from, to);
  const Run run{from, source, from_step, to, target, to_step, n};
  for (std::size_t done = 0; done < n; done += kPiece) {
    const Run piece = run.piece(done, kPiece);
    if (convert_quickly(pair, piece)) continue;
    const std::size_t fitting = convert_carefully(pair, piece);
    if (fitting < piece.n) return done + fitting;
  }
  return n;
}

std::size_t convert_cells_lossy(ValueType from, const std::byte* source, std::size_t from_step,
                                ValueType to, std::byte* target, std::size_t to_step,
                                std::size_t n) {
  if (holds_all(to, from)) return convert_cells(from, source, from_step, to, target, to_step, n);
  return pair_of(from, to).run_nearest(source, from_step, target, to_step, n);
}

bool convert_cell(ValueType from, std::uint64_t bits, ValueType to,
                  std::uint64_t& result) noexcept {
  if (from == to) {
    result = bits;
    return true;
  }
  return pair_of(from, to).cell(bits, result);
}

bool convert_cell_lossy(ValueType from, std::uint64_t bits, ValueType to,
                        std::uint64_t& result) noexcept {
  if (from == to) {
    result = bits;
    return true;
  }
  return pair_of(from, to).cell_nearest(bits, result);
}

namespace {

template <class Bits>
DAPPLE_VECTORS bool any_zero(const std::byte* values, std::size_t n) noexcept {
  Bits zeros = 0;
  for (std::size_t i = 0; i < n; ++i) {
    zeros = static_cast<Bits>(zeros | (load_le<Bits>(values + i * sizeof(Bits)) == 0 ? 1U : 0U));
  }
  return zeros != 0;
}

}  // namespace

bool has_zeros(ValueType type, const std::byte* values, std::size_t n) noexcept {
  return visit_bits(type, [&](auto tag) { return any_zero<decltype(tag)>(values, n); });
}

}  // namespace dapple::detail
