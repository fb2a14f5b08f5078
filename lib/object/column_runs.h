// Columns that can be read as one rectangle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dapple/frame.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// Calls `f(cols, target)` for each run of `columns` that are adjacent in the object, have the same
/// value type and step, and are evenly spaced in memory. Columns `cols` of the object go to
/// `target` in one read, so that a sparse block is decoded once instead of once per column.
template <class F>
void for_each_column_run(std::span<const ColumnBuffer> columns, const F& f) {
  for (std::size_t first = 0; first < columns.size();) {
    const ColumnBuffer& c = columns[first];
    std::size_t end = first + 1;
    std::uintptr_t apart = 0;
    for (; end < columns.size(); ++end) {
      const ColumnBuffer &before = columns[end - 1], &next = columns[end];
      if (next.col != before.col + 1 || next.value_type != c.value_type || next.step != c.step) {
        break;
      }
      const auto from = reinterpret_cast<std::uintptr_t>(before.data);
      const auto to = reinterpret_cast<std::uintptr_t>(next.data);
      if (to < from) break;
      const std::uintptr_t distance = to - from;
      if (end > first + 1 && distance != apart) break;
      apart = distance;
    }
    const std::size_t col_step = end == first + 1 ? c.step : apart;
    f(Range{c.col, columns[end - 1].col + 1}, Target{c.data, c.value_type, c.step, col_step});
    first = end;
  }
}

}  // namespace dapple::detail
