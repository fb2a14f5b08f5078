// Which parts of something are there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "dapple/region.h"

namespace dapple::detail {

/// The same ranges in ascending order, those that overlap or are less than `gap` apart as one.
inline std::vector<Range> merged(std::vector<Range> ranges, std::uint64_t gap) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() &&
        (range.begin < result.back().end || range.begin - result.back().end < gap)) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

/// Numbers in ranges; ranges that touch are one. One thread.
class RangeSet {
 public:
  /// What of a range is not in this, ascending.
  std::vector<Range> missing(const Range& range) const {
    std::vector<Range> gaps;
    std::uint64_t at = range.begin;
    auto next = ends_.upper_bound(at);
    if (next != ends_.begin()) at = std::max(at, std::prev(next)->second);
    while (at < range.end) {
      const std::uint64_t end = next == ends_.end() ? range.end : std::min(range.end, next->first);
      if (at < end) gaps.push_back({at, end});
      if (next == ends_.end()) break;
      at = std::max(at, next->second);
      ++next;
    }
    return gaps;
  }

  /// REQUIRES a range that is not empty.
  void add(const Range& range) {
    std::uint64_t begin = range.begin, end = range.end;
    auto place = ends_.upper_bound(begin);
    if (place != ends_.begin() && std::prev(place)->second >= begin) --place;
    while (place != ends_.end() && place->first <= end) {
      begin = std::min(begin, place->first);
      end = std::max(end, place->second);
      place = ends_.erase(place);
    }
    ends_.emplace(begin, end);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by begin; disjoint
};

}  // namespace dapple::detail
