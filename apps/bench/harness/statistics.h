// Median, least and most of a handful of figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dapple::bench {

struct Spread {
  double median = 0, min = 0, max = 0;
};

/// The middle value; of an even number, the mean of the two in the middle. REQUIRES one at least.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

inline Spread spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {median(values), *least, *most};
}

}  // namespace dapple::bench
