// Finds columns by their labels.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "dapple/column.h"

namespace dapple::detail {

/// Goes through the columns for the first labels that are asked for; then it sorts them, which
/// takes as long as many such looks. Any thread.
class LabelSearch {
 public:
  static constexpr std::uint64_t kFew = 64;  // columns, or looks

  /// The first column with this label. REQUIRES the same columns each time.
  std::optional<std::uint64_t> find(const std::vector<Column>& columns,
                                    std::string_view label) const noexcept;
  bool is_sorted() const noexcept { return is_sorted_; }

 private:
  mutable std::atomic<std::uint64_t> looks_{0};
  mutable std::atomic<bool> is_sorted_{false};
  mutable std::once_flag sort_;
  mutable std::vector<std::uint64_t> order_;  // columns by label, those of one in their order
};

}  // namespace dapple::detail
