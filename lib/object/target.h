// The caller's memory as the target of a read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/object/store.h"

namespace dapple::detail {

/// The caller's `size` values at `out` as the target for rows x cols cells, `row_stride` values
/// from row to row (0: no gap). Throws invalid_argument when they do not fit.
Target target_for(void* out, std::size_t size, std::size_t row_stride, ValueType type,
                  std::uint64_t rows, std::uint64_t cols);

}  // namespace dapple::detail
