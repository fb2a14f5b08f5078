// Products of a matrix in a file with vectors and with few columns, computed where the cells are.
//
// Cells are read in the type in which they are stored, converted to f64 and added up in f64, so a
// narrow or sparse file moves fewer bytes than its decoded cells in memory would. A cell that is
// zero adds nothing, even where `x` is infinite or NaN: results do not depend on which zeros a
// block stores. The order of additions depends on the file and on the number of threads alone.
//
// All functions: `x` and `y` are row-major arrays of k columns without gaps. `y` is overwritten; on
// an error its contents are unspecified. Throws invalid_argument when an array is too short or the
// two overlap, absent (R7), corrupt, type_mismatch, io. Any thread; with ReadOptions::threads the
// work is shared out.
#pragma once

#include <cstddef>
#include <span>

#include "dapple/matrix.h"

namespace dapple {

/// y = A x: x holds A.cols() x k values, y A.rows() x k. O(stored values x k).
void multiply(const Matrix& matrix, std::span<const double> x, std::span<double> y,
              std::size_t k = 1, const ReadOptions& options = {});

/// y = A^T x: x holds A.rows() x k values, y A.cols() x k. With several threads, and fewer tiles
/// side by side than threads, each but one takes the memory of another y.
void multiply_transposed(const Matrix& matrix, std::span<const double> x, std::span<double> y,
                         std::size_t k = 1, const ReadOptions& options = {});

}  // namespace dapple
