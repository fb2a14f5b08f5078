#include "lib/cells/row_columns.h"

#include "lib/base/vectors.h"

namespace dapple::detail {

DAPPLE_VECTORS bool long_row_ascends(const std::uint32_t* col, std::uint64_t count) noexcept {
  return ascends(col, count);
}

}  // namespace dapple::detail
