// Words of several categories as one, in an order that agrees with all of theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dapple::detail {

/// The words of one part, as numbers in all of them together.
struct PartWords {
  std::vector<std::uint32_t> words{};
  bool ordered = false;  // they are in a meaningful order
};

/// All words, in the only order that agrees with that of every ordered part. Nothing when two parts
/// contradict each other, or when two words may come in either order. O(words).
std::optional<std::vector<std::uint32_t>> merged_order(std::span<const PartWords> parts,
                                                       std::size_t words);

}  // namespace dapple::detail
