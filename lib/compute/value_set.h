// The values of a list, by their bits, to look up once for each cell.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dapple::detail {

/// A set of numbers in one array: each is in the first place from its own on that was free.
class ValueSet {
 public:
  ValueSet() = default;
  explicit ValueSet(std::span<const std::uint64_t> values) {
    if (values.empty()) return;
    free_ = values.front();  // the one that needs no place marks those that are free
    places_.assign(std::bit_ceil(2 * values.size()), free_);
    for (const std::uint64_t value : values) {
      if (value != free_) places_[place_of(value)] = value;
    }
  }

  bool empty() const noexcept { return places_.empty(); }
  /// O(1), whatever the size. REQUIRES that it is not empty.
  bool contains(std::uint64_t value) const noexcept {
    return value == free_ || places_[place_of(value)] == value;
  }

 private:
  /// Where a value is or, if it is nowhere, the place for it. Half of the places are free.
  std::size_t place_of(std::uint64_t value) const noexcept {
    const std::size_t last = places_.size() - 1;
    // Multiplied by the golden ratio, the high bits depend on all.
    std::size_t at = (value * 0x9e3779b97f4a7c15U) >> std::countl_zero(std::uint64_t{last});
    while (places_[at] != value && places_[at] != free_) at = (at + 1) & last;
    return at;
  }

  std::uint64_t free_ = 0;
  std::vector<std::uint64_t> places_{};
};

}  // namespace dapple::detail
