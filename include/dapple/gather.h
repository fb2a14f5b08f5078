// Gathering lists of rows or cells into buffers that the caller reuses from batch to batch:
//
//   dapple::Csr<float> batch;
//   for (const auto& rows : batches) {
//     dapple::gather_csr(matrix, rows, batch);
//     step(batch);
//   }
//
// Lists may be in any order, with repetitions; results are in the order of the list. Values are
// read as T whatever they are stored as, and must fit it exactly (R6).
//
// In regular tilings of dense and CSR blocks, a row costs O(tiles that it crosses + its cells or
// entries), and the memory accesses of several rows overlap. Where rows of a CSR block start is
// taken from the file's row directory (lib/dbdf/FORMAT.md), or found by a walk over the block when
// its first row is asked for, and kept with the matrix, in at most 64 MiB. Rows that are not in
// memory are read from storage many at a time, and little more than their pages is read. Long lists
// are gathered tile by tile. In other files the rows of a call are read in ascending order,
// decoding each block at most once.
//
// Any number of threads may gather from one matrix. All functions throw out_of_range, before
// anything is read, when a number in the list is outside the matrix; invalid_argument when the
// output is too small or overlaps the list; and what Matrix::read throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dapple/blocked_object.h"
#include "dapple/view.h"

namespace dapple {

struct GatherOptions {
  std::optional<Range> cols = {};  // which columns of the rows; unset: all
  Absent absent = Absent::error;
  unsigned threads = 1;  // 0: one per processor
};

/// A cell of the whole matrix.
struct CellPos {
  std::uint64_t row = 0, col = 0;
  friend constexpr bool operator==(const CellPos&, const CellPos&) = default;
};

namespace detail {

void gather_rows_to(const BlockedObject& object, std::span<const std::uint64_t> rows, void* out,
                    std::size_t size, std::size_t row_stride, ValueType type,
                    const GatherOptions& options);
void gather_cells_to(const BlockedObject& object, std::span<const CellPos> cells, void* out,
                     std::size_t size, ValueType type, const GatherOptions& options);

}  // namespace detail

/// Copies row rows[k] to the values from out[k * row_stride] on (0: no gap between rows).
template <Value T>
void gather_rows(const BlockedObject& object, std::span<const std::uint64_t> rows, std::span<T> out,
                 std::size_t row_stride = 0, const GatherOptions& options = {}) {
  detail::gather_rows_to(object, rows, out.data(), out.size(), row_stride, value_type_of<T>(),
                         options);
}

/// Replaces `out`: its row k holds the cells of row rows[k] that are not positive zero, in
/// ascending order of columns, which count from the first of `options.cols`. Reuses the memory of
/// `out`.
template <Value T>
void gather_csr(const BlockedObject& object, std::span<const std::uint64_t> rows, Csr<T>& out,
                const GatherOptions& options = {});

/// Copies the value of cells[k] to out[k]. `options.cols` is not used.
template <Value T>
void gather_cells(const BlockedObject& object, std::span<const CellPos> cells, std::span<T> out,
                  const GatherOptions& options = {}) {
  detail::gather_cells_to(object, cells, out.data(), out.size(), value_type_of<T>(), options);
}

}  // namespace dapple
