// Summing up runs of values.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dapple/value_type.h"
#include "raster.h"

namespace dapple::picture {

/// What a run of values of one stored type comes to.
template <Value T>
struct Tally {
  // Values of up to 32 bits are summed without rounding.
  using Sum = std::conditional_t<std::is_integral_v<T> && sizeof(T) < 8, std::int64_t, double>;
  std::uint64_t nonzero = 0, nan = 0;
  Sum sum = 0;
  T least = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                 : std::numeric_limits<T>::max();
  T most = std::numeric_limits<T>::has_infinity
               ? static_cast<T>(-std::numeric_limits<T>::infinity())
               : std::numeric_limits<T>::lowest();

  void add(T value) noexcept {
    nonzero += value != 0;
    if constexpr (std::is_floating_point_v<T>) {
      const bool number = value == value;
      nan += !number;
      sum += number ? value : T{0};
    } else {
      sum += static_cast<Sum>(value);
    }
    least = value < least ? value : least;  // false for NaN
    most = value > most ? value : most;
  }

  void add_to(Pixel& pixel) const noexcept {
    pixel.nonzero += static_cast<double>(nonzero);
    pixel.nan += static_cast<double>(nan);
    pixel.sum += static_cast<double>(sum);
    // Without a number these are infinite, or the ends of T's range the wrong way round.
    if (least <= most) {
      pixel.least = std::min(pixel.least, static_cast<double>(least));
      pixel.most = std::max(pixel.most, static_cast<double>(most));
    }
  }
};

/// Sums up many runs of values, each of which follow each other from any address.
template <Value T>
class RunTally {
 public:
  void add(const std::byte* bytes, std::uint64_t n) noexcept {
    std::uint64_t i = 0;
    if constexpr (std::is_floating_point_v<T>) {
      while (n - i >= kStep) {
        const std::uint64_t steps = std::min((n - i) / kStep, kMostSteps - lanes_.steps);
        add_steps(bytes + i * sizeof(T), steps);
        i += steps * kStep;
        if (lanes_.steps == kMostSteps) fold();
      }
    }
    for (; i < n; ++i) {
      T value;
      std::memcpy(&value, bytes + i * sizeof(T), sizeof value);
      tally_.add(value);
    }
  }
  /// Puts the sums of all runs into a pixel, and starts anew.
  void move_to(Pixel& pixel) noexcept {
    if constexpr (std::is_floating_point_v<T>) fold();
    tally_.add_to(pixel);
    *this = {};
  }

 private:
  // One running sum would wait for each addition, and the compiler may not reorder them by itself.
  static constexpr std::uint64_t kLanes = 16 / sizeof(T), kAtOnce = 2, kStep = kLanes * kAtOnce;
  // f32 is summed in pieces, so that the rounding of a sum does not grow with the run.
  static constexpr std::uint64_t kMostSteps = 256;
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();

  template <class Float>
  struct LanesOf {
    using Lanes [[gnu::vector_size(16)]] = Float;
    using Counts = decltype(Lanes{} == Lanes{});
    struct Part {
      Lanes least = Lanes{} + kInfinity, most = Lanes{} - kInfinity, sum{};
      Counts nonzero{}, numbers{};  // negative, because a true comparison is -1
    };
    Part parts[kAtOnce];
    std::uint64_t steps = 0;
  };
  struct NoLanes {};

  void add_steps(const std::byte* bytes, std::uint64_t steps) noexcept {
    using Lanes = typename LanesOf<T>::Lanes;
    using Counts = typename LanesOf<T>::Counts;
    typename LanesOf<T>::Part parts[kAtOnce] = {lanes_.parts[0], lanes_.parts[1]};
    for (std::uint64_t s = 0; s < steps; ++s) {
      for (auto& part : parts) {
        Lanes v;
        std::memcpy(&v, bytes, sizeof v);
        bytes += sizeof v;
        const Counts number = v == v;
        part.nonzero += v != 0;
        part.numbers += number;
        part.sum += reinterpret_cast<Lanes>(reinterpret_cast<Counts>(v) & number);
        part.least = v < part.least ? v : part.least;
        part.most = v > part.most ? v : part.most;
      }
    }
    for (std::uint64_t k = 0; k < kAtOnce; ++k) lanes_.parts[k] = parts[k];
    lanes_.steps += steps;
  }
  void fold() noexcept {
    tally_.nan += lanes_.steps * kStep;
    for (const auto& part : lanes_.parts) {
      for (std::uint64_t l = 0; l < kLanes; ++l) {
        tally_.nonzero += static_cast<std::uint64_t>(-std::int64_t{part.nonzero[l]});
        tally_.nan -= static_cast<std::uint64_t>(-std::int64_t{part.numbers[l]});
        tally_.sum += part.sum[l];
        tally_.least = part.least[l] < tally_.least ? part.least[l] : tally_.least;
        tally_.most = part.most[l] > tally_.most ? part.most[l] : tally_.most;
      }
    }
    lanes_ = {};
  }

  Tally<T> tally_;
  [[no_unique_address]] std::conditional_t<std::is_floating_point_v<T>, LanesOf<T>, NoLanes> lanes_;
};

}  // namespace dapple::picture
