// SciPy's DIA matrices: values of whole diagonals, one line of an array for each.
#pragma once

#include <memory>

#include "lib/foreign/npz/numbers.h"
#include "lib/object/store.h"

namespace dapple::detail::npz {

/// `values` has a line for each of `offsets`, with a value for each column of the matrix: that of
/// the cell which is `offset` columns right of the main diagonal. Cells outside the matrix are left
/// alone, columns without values are zero. Blocks are strips of rows. Throws corrupt when the two
/// do not fit each other, or an offset is there twice; unsupported for too many rows or columns.
/// O(diagonals log diagonals); values are read when rows are.
std::shared_ptr<const Store> open_diagonals(std::shared_ptr<ByteSource> file, Schema schema,
                                            arrays::Items offsets, Numbers values);

}  // namespace dapple::detail::npz
