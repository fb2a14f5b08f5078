// One pass over the cells of a block finds how many are not zero and which value types give back
// every bit. The loops carry no branch, so that they vectorise: 1.3 ns a cell of f64
// (6 GB/s), 0.6 of i64, on one core. Once floats turn out to be nothing smaller, the rest is only
// counted.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "lib/dbdf/encode.h"
#include "lib/object/convert_cells.h"

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

// Integers: how far they reach. A negative number counts as its complement, so that -128 needs
// as many bits as 127.
template <class T>
class IntegerSurvey {
 public:
  void add(const std::byte* p, std::size_t n) {
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
    reach_ |= reach;
    negative_ |= sign != 0;
    nonzero_ += nonzero;
  }
  Survey result() const { return {nonzero_, integer_types(negative_, reach_)}; }

 private:
  std::uint64_t reach_ = 0, nonzero_ = 0;
  bool negative_ = false;
};

// Floats: adding and taking away 1.5 * 2^(mantissa bits) rounds to an integer; what comes back
// with the same bits was one. That holds up to 2^(mantissa bits - 1), far beyond every integer
// type that would be narrower.
template <class T>
class FloatSurvey {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  static constexpr T kRounder = static_cast<T>(Bits{3} << (kMantissa - 1));
  static constexpr std::size_t kLanes = 8;

  // One accumulator per lane, so that the compiler need not reorder any float operation.
  struct Lanes {
    std::array<Bits, kLanes> not_integer{}, not_f32{}, nonzero{};
    std::array<T, kLanes> low{}, high{};

    void add(const std::byte* p) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        const T x = load_le<T>(p + l * sizeof(T));
        const Bits bits = std::bit_cast<Bits>(x);
        const T rounded = (x + kRounder) - kRounder;
        not_integer[l] |= (std::bit_cast<Bits>(rounded) ^ bits) | static_cast<Bits>(x != x);
        if constexpr (sizeof(T) == 8) {
          not_f32[l] |= std::bit_cast<Bits>(static_cast<T>(static_cast<float>(x))) ^ bits;
        }
        low[l] = x < low[l] ? x : low[l];
        high[l] = x > high[l] ? x : high[l];
        nonzero[l] += bits != 0;
      }
    }
  };

 public:
  void add(const std::byte* p, std::size_t n) {
    // A lane's count has the width of the float: runs keep it from overflowing. They are short
    // because most floats soon turn out to be nothing smaller; the rest is only counted then.
    constexpr std::size_t kRun = 4096;
    while (n > 0) {
      const std::size_t run = std::min(n, kRun);
      settled() ? count_run(p, run) : add_run(p, run);
      p += run * sizeof(T);
      n -= run;
    }
  }

  Survey result() const {
    Survey s{nonzero_, 0};
    constexpr T kReach = T{4294967296.0};
    if (not_integer_ == 0 && high_ < kReach && low_ >= -kReach) {
      const auto top = static_cast<std::uint64_t>(high_);
      const auto bottom = low_ < 0 ? ~static_cast<std::int64_t>(low_) : 0;
      s.fits = integer_types(low_ < 0, std::max(top, static_cast<std::uint64_t>(bottom)));
    }
    if (not_f32_ == 0) s.fits |= bit(ValueType::f32);
    if (sizeof(T) == 8) s.fits |= bit(ValueType::f64);
    return s;
  }

 private:
  /// No further cell can change which types give back every bit.
  bool settled() const { return not_integer_ != 0 && (sizeof(T) == 4 || not_f32_ != 0); }

  void count_run(const std::byte* p, std::size_t n) {
    Bits nonzero = 0;
    for (std::size_t i = 0; i < n; ++i) nonzero += load_le<Bits>(p + i * sizeof(T)) != 0;
    nonzero_ += nonzero;
  }

  void add_run(const std::byte* p, std::size_t n) {
    Lanes lanes;
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) lanes.add(p + i * sizeof(T));
    if (i < n) {
      // The rest, filled up with zeros, which change nothing.
      std::array<std::byte, kLanes * sizeof(T)> rest{};
      std::copy(p + i * sizeof(T), p + n * sizeof(T), rest.begin());
      lanes.add(rest.data());
    }
    for (std::size_t l = 0; l < kLanes; ++l) {
      not_integer_ |= lanes.not_integer[l];
      not_f32_ |= lanes.not_f32[l];
      low_ = std::min(low_, lanes.low[l]);
      high_ = std::max(high_, lanes.high[l]);
      nonzero_ += lanes.nonzero[l];
    }
  }

  Bits not_integer_ = 0, not_f32_ = 0;
  T low_ = 0, high_ = 0;
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

Survey survey(const SparseCells& cells) {
  return visit_type(cells.type, [&](auto tag) {
    using T = decltype(tag);
    constexpr std::size_t kBatch = 512;
    std::array<std::byte, kBatch * sizeof(T)> values;
    SurveyOf<T> found;
    for (std::size_t i = 0; i < cells.cells.size(); i += kBatch) {
      const auto batch = cells.cells.subspan(i, std::min(kBatch, cells.cells.size() - i));
      for (std::size_t k = 0; k < batch.size(); ++k) {
        std::memcpy(values.data() + k * sizeof(T), &batch[k].bits, sizeof(T));
      }
      found.add(values.data(), batch.size());
    }
    return found.result();
  });
}

}  // namespace dapple::detail::dbdf
