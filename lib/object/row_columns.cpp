#include "lib/object/row_columns.h"

#include "lib/vectors.h"

namespace dapple::detail {

DAPPLE_VECTORS bool long_row_ascends(const std::uint32_t* col, std::uint64_t count) noexcept {
  return ascends(col, count);
}

}  // namespace dapple::detail
