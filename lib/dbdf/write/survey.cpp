// One pass over the cells of a block counts those that are not zero and finds the value types that
// hold all of them exactly. The loops have no branches, so that they vectorise. Once floats are
// known to fit nothing smaller, the rest is only counted.

#include <algorithm>
#include <bit>
#include <limits>

#include "lib/base/bytes.h"
#include "lib/base/vectors.h"
#include "lib/cells/convert_cells.h"
#include "lib/cells/row_columns.h"
#include "lib/dbdf/write/block_plan.h"

namespace dapple::detail::dbdf {

namespace {

constexpr std::uint32_t bit(ValueType type) { return 1u << static_cast<unsigned>(type); }

// Value types that hold every integer from -(magnitude + 1) to magnitude, or from 0.
std::uint32_t integer_types(bool negative, std::uint64_t magnitude) {
  std::uint32_t fits = 0;
  for (const ValueType type : kValueTypes) {
    if (is_float(type)) continue;
    const unsigned bits = 8 * static_cast<unsigned>(size_of(type)) - (is_signed(type) ? 1 : 0);
    const bool small = bits == 64 || magnitude >> bits == 0;
    if (small && (is_signed(type) || !negative)) fits |= bit(type);
  }
  return fits;
}

// The bits that integers need. A negative number counts as its complement, so that -128 needs as
// many bits as 127.
template <class T>
struct Reach {
  using U = std::make_unsigned_t<T>;
  U reach = 0, sign = 0;
  std::size_t nonzero = 0;
};

template <class T>
DAPPLE_VECTORS Reach<T> reach_of(const std::byte* p, std::size_t n) {
  using U = std::make_unsigned_t<T>;
  U reach = 0, sign = 0;
  std::size_t nonzero = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T x = load_le<T>(p + i * sizeof(T));
    const U mask = static_cast<U>(std::is_signed_v<T> && x < 0 ? ~U{0} : U{0});
    reach = static_cast<U>(reach | (static_cast<U>(x) ^ mask));
    sign = static_cast<U>(sign | mask);
    nonzero += x != 0;
  }
  return {reach, sign, nonzero};
}

template <class T>
class IntegerSurvey {
 public:
  void add(const std::byte* p, std::size_t n) {
    const Reach<T> found = reach_of<T>(p, n);
    reach_ |= found.reach;
    negative_ |= found.sign != 0;
    nonzero_ += found.nonzero;
  }
  Survey result() const { return {nonzero_, integer_types(negative_, reach_)}; }

 private:
  std::uint64_t reach_ = 0, nonzero_ = 0;
  bool negative_ = false;
};

// Adding 1.5 * 2^(mantissa bits) to a float rounds it to an integer, which is in the low bits of
// the sum; subtracting it again gives that integer as a float. If the bits are the same, the value
// was an integer. That works up to 2^(mantissa bits - 1), far beyond every narrower integer type;
// larger values, infinities and NaNs give sums with other high bits, which exceed those types too.
template <class T>
struct FloatBits {
  using Bits = BitsOf<T>;
  Bits not_integer = 0, not_f32 = 0, reach = 0, sign = 0;
};

template <class T>
DAPPLE_VECTORS FloatBits<T> float_bits_of(const std::byte* p, std::size_t n) {
  using Bits = typename FloatBits<T>::Bits;
  constexpr T rounder = static_cast<T>(Bits{3} << (std::numeric_limits<T>::digits - 2));
  Bits not_integer = 0, not_f32 = 0, reach = 0, sign = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T x = load_le<T>(p + i * sizeof(T));
    const Bits bits = std::bit_cast<Bits>(x);
    const T sum = x + rounder;
    not_integer |= std::bit_cast<Bits>(sum - rounder) ^ bits;
    if constexpr (sizeof(T) == 8) {
      not_f32 |= std::bit_cast<Bits>(static_cast<T>(static_cast<float>(x))) ^ bits;
    }
    const Bits integer = std::bit_cast<Bits>(sum) - std::bit_cast<Bits>(rounder);
    const Bits mask = Bits{0} - (integer >> (8 * sizeof(Bits) - 1));
    reach |= integer ^ mask;
    sign |= mask;
  }
  return {not_integer, not_f32, reach, sign};
}

template <class Bits>
DAPPLE_VECTORS std::uint64_t count_nonzero(const std::byte* p, std::size_t n) {
  std::uint64_t nonzero = 0;
  for (std::size_t i = 0; i < n; ++i) nonzero += load_le<Bits>(p + i * sizeof(Bits)) != 0;
  return nonzero;
}

template <class T>
class FloatSurvey {
  using Bits = typename FloatBits<T>::Bits;

 public:
  void add(const std::byte* p, std::size_t n) {
    // Runs that stay in the L1 cache while they are read twice.
    constexpr std::size_t kRun = 16384 / sizeof(T);
    while (n > 0) {
      const std::size_t run = std::min(n, kRun);
      if (!settled()) add_run(p, run);
      nonzero_ += count_nonzero<Bits>(p, run);
      p += run * sizeof(T);
      n -= run;
    }
  }

  Survey result() const {
    Survey s{nonzero_, 0};
    if (found_.not_integer == 0 && found_.reach <= std::numeric_limits<std::uint32_t>::max()) {
      s.fits = integer_types(found_.sign != 0, found_.reach);
    }
    if (found_.not_f32 == 0) s.fits |= bit(ValueType::f32);
    if (sizeof(T) == 8) s.fits |= bit(ValueType::f64);
    return s;
  }

 private:
  /// True when further cells cannot change which types hold all values.
  bool settled() const {
    return found_.not_integer != 0 && (sizeof(T) == 4 || found_.not_f32 != 0);
  }

  void add_run(const std::byte* p, std::size_t n) {
    const FloatBits<T> run = float_bits_of<T>(p, n);
    found_.not_integer |= run.not_integer;
    found_.not_f32 |= run.not_f32;
    found_.reach |= run.reach;
    found_.sign |= run.sign;
  }

  FloatBits<T> found_;
  std::uint64_t nonzero_ = 0;
};

template <class T>
using SurveyOf = std::conditional_t<std::is_floating_point_v<T>, FloatSurvey<T>, IntegerSurvey<T>>;

}  // namespace

Survey survey(const DenseCells& cells) {
  return visit_type(cells.type, [&](auto tag) {
    SurveyOf<decltype(tag)> found;
    if (cells.row_step == cells.row_bytes()) {
      found.add(cells.data, std::size_t{cells.rows} * cells.cols);
    } else {
      for (std::uint32_t r = 0; r < cells.rows; ++r) found.add(cells.row(r), cells.cols);
    }
    return found.result();
  });
}

Survey survey(const CsrCells& cells) {
  return visit_type(cells.type, [&](auto tag) {
    SurveyOf<decltype(tag)> found;
    found.add(cells.values, cells.stored());
    return found.result();
  });
}

bool are_clean(const CsrCells& cells) {
  for (std::uint32_t i = 0; i < cells.row_count(); ++i) {
    const std::uint64_t first = cells.row_ptr[i];
    const RowColumns columns(cells.col_idx + first, cells.row_ptr[i + 1] - first, cells.cols);
    if (!columns.ascending || !columns.inside) return false;
  }
  const std::uint64_t count = cells.stored();
  return visit_bits(cells.type, [&](auto bits) {
    return count_nonzero<decltype(bits)>(cells.values, count) == count;
  });
}

}  // namespace dapple::detail::dbdf
