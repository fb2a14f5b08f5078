// Sparse matrices as a row, a column and a value for each entry, in any order.
#pragma once

#include "lib/foreign/arrays/sparse_arrays.h"

namespace dapple::detail::arrays {

/// All three in place and of one size.
struct Coordinates {
  Items rows, cols, values;
};

/// The same matrix as rows: in place where entries are in ascending order of rows, otherwise a copy
/// in memory. Throws corrupt for a row outside the matrix, or arrays of different sizes;
/// unsupported when there are so many more rows than entries that their pointers do not pay.
/// O(rows + entries).
SparseArrays rows_of_coordinates(const Coordinates& from, const Schema& schema,
                                 const ByteSource& file);

}  // namespace dapple::detail::arrays
