// Numbers that are the same in every run, and the cells that most workloads store.
#pragma once

#include <cstdint>

namespace dapple::bench {

/// SplitMix64's finaliser: any number to one that looks like chance.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(mix(seed)) {}
  constexpr std::uint64_t next() noexcept { return mix(state_++); }
  /// A number below `n`, which is far below 2^64.
  constexpr std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }

 private:
  std::uint64_t state_;
};

/// The cell at (row, col): an integer of 0 to 255, so that sums of cells are exact in any order.
constexpr std::uint8_t cell(std::uint64_t row, std::uint64_t col) noexcept {
  return static_cast<std::uint8_t>(mix((row << 32) ^ col) >> 56);
}

}  // namespace dapple::bench
