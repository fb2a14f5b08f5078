// Finding the name that a misspelled one was probably meant for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/letters.h"

namespace dapple::detail {

/// How many letters are changed, left out or added, or neighbours swapped, ignoring the case of
/// ASCII letters. O(a x b).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return to_lower(x) == to_lower(y); };
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = last[j] + (same(a[i], b[j]) ? 0 : 1);
      row[j + 1] = std::min({changed, row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && same(a[i], b[j - 1]) && same(a[i - 1], b[j]);
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

/// The index of the name among name(0) ... name(n - 1) that is closest to `wanted`; nothing when
/// none is close: every other letter is one change away from "x". Names of more than 64 characters
/// are not compared.
template <class Name>
std::optional<std::uint64_t> closest(std::string_view wanted, std::uint64_t n, const Name& name) {
  constexpr std::size_t kLongest = 64;
  std::size_t best = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  std::optional<std::uint64_t> found;
  if (wanted.size() > kLongest) return found;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::string_view other = name(i);
    if (other.empty() || other.size() > kLongest) continue;
    const std::size_t distance = edit_distance(wanted, other);
    if (distance < best && distance < std::max(wanted.size(), other.size())) {
      best = distance;
      found = i;
    }
  }
  return found;
}

}  // namespace dapple::detail
