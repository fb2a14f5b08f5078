#include "lib/object/label_search.h"

#include <algorithm>
#include <exception>
#include <numeric>

namespace dapple::detail {

std::optional<std::uint64_t> LabelSearch::find(const std::vector<Column>& columns,
                                               std::string_view label) const noexcept {
  if (columns.size() > kFew && (is_sorted_ || ++looks_ > kFew)) {
    try {
      std::call_once(sort_, [&] {
        order_.resize(columns.size());
        std::iota(order_.begin(), order_.end(), std::uint64_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::uint64_t a, std::uint64_t b) {
          const int order = columns[a].label.compare(columns[b].label);
          return order < 0 || (order == 0 && a < b);
        });
        is_sorted_ = true;
      });
      const auto at = std::lower_bound(
          order_.begin(), order_.end(), label,
          [&](std::uint64_t col, std::string_view wanted) { return columns[col].label < wanted; });
      return at != order_.end() && columns[*at].label == label ? std::optional(*at) : std::nullopt;
    } catch (const std::exception&) {  // no memory
    }
  }
  const auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const Column& column) { return column.label == label; });
  if (at == columns.end()) return std::nullopt;
  return static_cast<std::uint64_t>(at - columns.begin());
}

}  // namespace dapple::detail
