// Products of a matrix with vectors, or with matrices of few columns, without decoding it.
//
// Cells are read in their stored type, converted to f64 and summed in f64, so a narrow or sparse
// file moves fewer bytes than its decoded cells would. Zeros contribute nothing, even where `x` is
// infinite or NaN, so results do not depend on which zeros a block stores. The order of additions
// depends only on the file and the number of threads.
//
// In all functions `x` and `y` are contiguous row-major arrays of k columns. `y` is overwritten;
// after an error its contents are unspecified. All throw invalid_argument when an array is too
// short or the two overlap, absent (R7), corrupt, type_mismatch, io. ReadOptions::threads share the
// work.
#pragma once

#include <cstddef>
#include <span>

#include "dapple/matrix.h"

namespace dapple {

/// y = A x: x holds A.cols() x k values, y A.rows() x k. O(stored values x k).
void multiply(const Matrix& matrix, std::span<const double> x, std::span<double> y,
              std::size_t k = 1, const ReadOptions& options = {});

/// y = A^T x: x holds A.rows() x k values, y A.cols() x k. With more threads than columns of tiles,
/// each thread but one allocates a y of its own.
void multiply_transposed(const Matrix& matrix, std::span<const double> x, std::span<double> y,
                         std::size_t k = 1, const ReadOptions& options = {});

}  // namespace dapple
