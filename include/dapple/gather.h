// Lists of rows and cells at random, into buffers that the caller reuses from batch to batch:
//
//   dapple::Csr<float> batch;
//   for (const auto& rows : batches) {
//     dapple::gather_csr(matrix, rows, batch);
//     step(batch);
//   }
//
// Lists are in any order, and may name a row or cell again; results are in the list's order. Values
// are read as T whatever they are stored as, and must fit it exactly (R6). Where rows of CSR blocks
// begin is remembered with the matrix, in at most 64 MiB: the first rows of a block cost a walk
// over its row counts, further ones O(1). In files whose blocks form a regular tiling of dense and
// CSR blocks, a row costs O(tiles that it crosses + its cells or entries), and its memory accesses
// overlap with those of other rows. In any other file the rows of a call are read in ascending
// order, each block decoded at most once.
//
// Any number of threads may gather from one matrix. All throw out_of_range when a number in the
// list is outside of the matrix, before anything is read; invalid_argument when the output is too
// small or overlaps the list; and what Matrix::read throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dapple/blocked_object.h"
#include "dapple/view.h"

namespace dapple {

struct GatherOptions {
  std::optional<Range> cols = {};  // which columns of the rows; all when not set
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

/// Copies row rows[k] to out[k * row_stride], ... (0: no gap between rows).
template <Value T>
void gather_rows(const BlockedObject& object, std::span<const std::uint64_t> rows, std::span<T> out,
                 std::size_t row_stride = 0, const GatherOptions& options = {}) {
  detail::gather_rows_to(object, rows, out.data(), out.size(), row_stride, value_type_of<T>(),
                         options);
}

/// Makes row k of `out` the cells of row rows[k] that are not positive zero, in ascending order of
/// columns, which count from the first one that is wanted. Uses the memory that `out` has.
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
