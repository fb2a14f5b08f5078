// A test of all cells of a column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/cells/convert_cells.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// True when `holds` is true of the bits of every cell of the column; absent ones are zeros.
template <class Test>
bool every_cell(const Store& store, std::size_t col, const Test& holds) {
  constexpr std::uint64_t kRowsAtOnce = std::uint64_t{64} << 10;
  const Schema& schema = store.schema();
  const ValueType type = schema.columns[col].value_type;
  const std::size_t size = size_of(type);
  std::vector<std::byte> cells;
  for (std::uint64_t row = 0; row < schema.rows; row += kRowsAtOnce) {
    const Range rows{row, row + std::min(kRowsAtOnce, schema.rows - row)};
    cells.resize(rows.size() * size);
    const ColumnBuffer buffer{col, type, cells.data(), size};
    store.read_rows(rows, {&buffer, 1}, {Absent::zero, 1});
    for (std::size_t at = 0; at < cells.size(); at += size) {
      if (!holds(load_bits(type, cells.data() + at))) return false;
    }
  }
  return true;
}

}  // namespace dapple::detail
