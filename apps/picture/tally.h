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

/// Adds `n` values that follow each other from any address.
template <Value T>
void add_run(Tally<T>& tally, const std::byte* bytes, std::uint64_t n) noexcept {
  const auto value_at = [&](std::uint64_t i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof value);
    return value;
  };
  std::uint64_t i = 0;
  if constexpr (std::is_floating_point_v<T>) {
    // One running sum would wait for each addition, and the compiler may not reorder them by
    // itself.
    using Lanes [[gnu::vector_size(16)]] = T;
    using Counts = decltype(Lanes{} == Lanes{});
    constexpr std::uint64_t kLanes = 16 / sizeof(T), kAtOnce = 2;
    constexpr std::uint64_t kStep = kLanes * kAtOnce;
    if (n >= 2 * kStep) {
      Lanes least[kAtOnce], most[kAtOnce];
      for (std::uint64_t k = 0; k < kAtOnce; ++k) {
        least[k] = Lanes{} + tally.least;
        most[k] = Lanes{} + tally.most;
      }
      while (n - i >= kStep) {
        // f32 is summed in pieces, so that the rounding of a sum does not grow with the run.
        const std::uint64_t steps = std::min<std::uint64_t>((n - i) / kStep, 256);
        Lanes sum[kAtOnce] = {};
        Counts nonzero[kAtOnce] = {}, numbers[kAtOnce] = {};
        for (std::uint64_t s = 0; s < steps; ++s) {
          for (std::uint64_t k = 0; k < kAtOnce; ++k, i += kLanes) {
            Lanes v;
            std::memcpy(&v, bytes + i * sizeof(T), sizeof v);
            const Counts number = v == v;
            nonzero[k] += v != 0;  // a true comparison is -1
            numbers[k] += number;
            sum[k] += reinterpret_cast<Lanes>(reinterpret_cast<Counts>(v) & number);
            least[k] = v < least[k] ? v : least[k];
            most[k] = v > most[k] ? v : most[k];
          }
        }
        std::int64_t found = 0;
        for (std::uint64_t k = 0; k < kAtOnce; ++k) {
          for (std::uint64_t l = 0; l < kLanes; ++l) {
            tally.nonzero += static_cast<std::uint64_t>(-std::int64_t{nonzero[k][l]});
            found -= numbers[k][l];
            tally.sum += sum[k][l];
          }
        }
        tally.nan += steps * kStep - static_cast<std::uint64_t>(found);
      }
      for (std::uint64_t k = 0; k < kAtOnce; ++k) {
        for (std::uint64_t l = 0; l < kLanes; ++l) {
          tally.least = least[k][l] < tally.least ? least[k][l] : tally.least;
          tally.most = most[k][l] > tally.most ? most[k][l] : tally.most;
        }
      }
    }
  }
  for (; i < n; ++i) tally.add(value_at(i));
}

}  // namespace dapple::picture
