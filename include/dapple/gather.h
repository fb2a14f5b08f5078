// Gathering lists of rows, columns or cells into buffers that the caller reuses from batch to
// batch:
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
// Cost: in a regular tiling of dense and CSR blocks, O(tiles that it crosses + its cells or
// entries) for a row, and one walk over each CSR block of a file without a row directory
// (lib/dbdf/FORMAT.md); what the walk finds is kept with the matrix, in at most 64 MiB. Elsewhere
// each block is decoded at most once for a call.
//
// Any number of threads may gather from one matrix. All functions throw out_of_range, before
// anything is read, when a number in the list is outside the matrix; invalid_argument when the
// output is too small or overlaps the list; and what Matrix::read throws. After an exception while
// reading, what the output holds is unspecified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dapple/blocked_object.h"
#include "dapple/frame.h"
#include "dapple/open.h"
#include "dapple/view.h"

namespace dapple {

struct GatherOptions {
  std::optional<Range> cols = {};  // which columns of the rows; unset: all
  Absent absent = Absent::error;
  unsigned threads = 1;     // 0: one per processor
  TakeProgress progress{};  // in items of the list; what it throws ends the gathering
};

/// Row and column of a cell of the matrix.
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

/// Copies row rows[k] to out[k * row_stride] and the values after it; a `row_stride` of 0 means no
/// gap between rows.
template <Value T>
void gather_rows(const BlockedObject& object, std::span<const std::uint64_t> rows, std::span<T> out,
                 std::size_t row_stride = 0, const GatherOptions& options = {}) {
  detail::gather_rows_to(object, rows, out.data(), out.size(), row_stride, value_type_of<T>(),
                         options);
}

/// Replaces `out`: its row k holds the cells of row rows[k] except +0.0, in ascending order of
/// columns, which count from the first of `options.cols`. Reuses the memory of `out`. Col is u32 or
/// u64; throws invalid_argument where it does not hold the columns.
template <Value T, class Col>
void gather_csr(const BlockedObject& object, std::span<const std::uint64_t> rows, Csr<T, Col>& out,
                const GatherOptions& options = {});

/// Replaces `out`: its row k holds the cells of column cols[k] except +0.0, in ascending order of
/// rows, so that `out` is the selection in compressed sparse columns. `options.cols` is not used.
/// Of a matrix with a copy by column (sidecar.h), this costs what `gather_csr` does of its rows.
/// Otherwise each strip of tiles that holds a wanted column is read once: O(entries of these
/// strips), and memory for what is found. Absent cells that are to be NaN are unsupported. A copy
/// that is damaged is passed over. Col must hold the rows.
template <Value T, class Col>
void gather_columns(const BlockedObject& object, std::span<const std::uint64_t> cols,
                    Csr<T, Col>& out, const GatherOptions& options = {});

/// Copies the value of cells[k] to out[k]. `options.cols` is not used.
template <Value T>
void gather_cells(const BlockedObject& object, std::span<const CellPos> cells, std::span<T> out,
                  const GatherOptions& options = {}) {
  detail::gather_cells_to(object, cells, out.data(), out.size(), value_type_of<T>(), options);
}

/// True when blocks cover all cells of these rows in these columns, which ascend. For who reads
/// what is between wanted cells, too: with Absent::zero, where this is true. Throws out_of_range,
/// invalid_argument for columns that do not ascend, corrupt. O(1) in a regular tiling, otherwise
/// O(log n + blocks between them); no block is read.
bool covers(const BlockedObject& object, Range rows, std::span<const std::uint64_t> cols);

/// Copies values as those of another type, which they must fit exactly (R6), and returns how many:
/// fewer than all when the next does not. Throws invalid_argument when `out` has no room for them,
/// and for what is no value type.
std::size_t convert_values(ValueType from, std::span<const std::byte> values, ValueType to,
                           std::span<std::byte> out);

/// Copies rows of columns of a frame in the order of the list; `columns` have room for as many
/// rows. Rows that are near each other are read at once. Throws what Frame::read_rows throws.
void gather_rows(const Frame& frame, std::span<const std::uint64_t> rows,
                 std::span<const ColumnBuffer> columns, const ReadOptions& options = {});

}  // namespace dapple
