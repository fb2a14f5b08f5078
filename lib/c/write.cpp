// Writing matrices, in rectangles of any size that are cut into tiles.
#include <algorithm>
#include <cstring>
#include <limits>

#include "lib/c/handles.h"
#include "lib/c/options.h"

namespace dapple::detail::c {

namespace {

/// The rectangle that a caller puts.
struct Put {
  dapple_writer& to;
  Region cells;  // of the matrix
  ValueType type;
};

Put put_of(dapple_writer* writer, std::uint64_t row, std::uint64_t col, std::uint64_t rows,
           std::uint64_t cols, std::int32_t type) {
  dapple_writer& to = checked(writer);
  if (row > to.rows || rows > to.rows - row || col > to.cols || cols > to.cols - col) {
    throw Error(Errc::out_of_range, "rows " + std::to_string(row) + " to " +
                                        std::to_string(row + rows) + ", columns " +
                                        std::to_string(col) + " to " + std::to_string(col + cols) +
                                        " are not all in a matrix of " + std::to_string(to.rows) +
                                        " x " + std::to_string(to.cols));
  }
  if (rows == 0 || cols == 0) fail_argument("there are no cells to put");
  return {to, {{row, row + rows}, {col, col + cols}}, value_type(type)};
}

/// Calls `f` with each part of `range` that is between multiples of `side`.
template <class F>
void for_each_part(const Range& range, std::uint64_t side, const F& f) {
  for (std::uint64_t begin = range.begin; begin < range.end;) {
    const std::uint64_t room = side - begin % side;
    const std::uint64_t end = begin + std::min(room, range.end - begin);
    f(Range{begin, end});
    begin = end;
  }
}

/// Calls `f` with each part of the rectangle that is in one tile.
template <class F>
void for_each_tile(const Put& put, const F& f) {
  const TileShape tile = put.to.writer.tile();
  for_each_part(put.cells.rows, tile.rows, [&](const Range& rows) {
    for_each_part(put.cells.cols, tile.cols, [&](const Range& cols) { f(Region{rows, cols}); });
  });
}

/// The cells of one tile at `first`, as rows without gaps unless they are fit to be used in place.
template <Value T>
void put_tile(dapple_writer& to, const Region& tile, const std::byte* first, const Strides& strides,
              std::vector<T>& copy) {
  const BlockPos pos{tile.rows.begin, tile.cols.begin};
  const auto rows = static_cast<std::uint32_t>(tile.rows.size());
  const auto cols = static_cast<std::uint32_t>(tile.cols.size());
  const bool in_place = strides.col == sizeof(T) && strides.row % sizeof(T) == 0 &&
                        reinterpret_cast<std::uintptr_t>(first) % alignof(T) == 0;
  if (in_place) {
    to.writer.put<T>(pos, {reinterpret_cast<const T*>(first), rows, cols, strides.row / sizeof(T)});
    return;
  }
  copy.resize(std::size_t{rows} * cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      std::memcpy(&copy[r * cols + c], first + r * strides.row + c * strides.col, sizeof(T));
    }
  }
  to.writer.put<T>(pos, {copy.data(), rows, cols});
}

template <Value T>
void put_dense(const Put& put, const std::byte* cells, const Strides& strides) {
  std::vector<T> copy;
  for_each_tile(put, [&](const Region& tile) {
    const std::byte* const first = cells + (tile.rows.begin - put.cells.rows.begin) * strides.row +
                                   (tile.cols.begin - put.cells.cols.begin) * strides.col;
    put_tile<T>(put.to, tile, first, strides, copy);
  });
}

/// Sparse rows of the caller's.
template <Value T>
struct SparseRows {
  const std::uint64_t* ptr;
  const std::uint64_t* idx;
  const T* values;
};

/// The entries of one tile of sparse rows, as the writer wants them.
template <Value T>
struct SparseTile {
  std::vector<std::uint64_t> row_ptr{0};
  std::vector<std::uint32_t> col_idx{};
  std::vector<T> values{};
};

/// Throws unless the arrays are sparse rows of the rectangle.
void require_sparse(const Put& put, const std::uint64_t* ptr, const std::uint64_t* idx,
                    const void* values) {
  const std::uint64_t rows = put.cells.rows.size(), cols = put.cells.cols.size();
  array(ptr, rows + 1, "ptr");
  for (std::uint64_t r = 0; r < rows; ++r) {
    if (ptr[r] > ptr[r + 1])
      fail_argument("ptr of row " + std::to_string(r) + " ends before it begins");
  }
  const std::uint64_t entries = ptr[rows] - ptr[0];
  array(idx, entries, "idx");
  array(values, entries, "values");
  for (std::uint64_t k = ptr[0]; k < ptr[rows]; ++k) {
    if (idx[k] < cols) continue;
    throw Error(Errc::out_of_range, "entry " + std::to_string(k) + " is in column " +
                                        std::to_string(idx[k]) + " of " + std::to_string(cols));
  }
}

/// Puts one band of rows, whose entries go to the tiles of the band.
template <Value T>
void put_band(const Put& put, const Range& band, const SparseRows<T>& rows) {
  const std::uint64_t width = put.to.writer.tile().cols, first = put.cells.cols.begin;
  const std::uint64_t first_tile = first / width;
  std::vector<SparseTile<T>> tiles((put.cells.cols.end - 1) / width - first_tile + 1);
  for (std::uint64_t row = band.begin; row < band.end; ++row) {
    const std::uint64_t r = row - put.cells.rows.begin;
    for (std::uint64_t k = rows.ptr[r]; k < rows.ptr[r + 1]; ++k) {
      const std::uint64_t col = first + rows.idx[k], tile = col / width;
      const std::uint64_t begin = std::max(first, tile * width);
      tiles[tile - first_tile].col_idx.push_back(static_cast<std::uint32_t>(col - begin));
      tiles[tile - first_tile].values.push_back(rows.values[k]);
    }
    for (SparseTile<T>& tile : tiles) tile.row_ptr.push_back(tile.col_idx.size());
  }
  std::size_t number = 0;
  for_each_part(put.cells.cols, width, [&](const Range& cols) {
    const SparseTile<T>& tile = tiles[number++];
    put.to.writer.put<T>(
        {band.begin, cols.begin},
        CsrRef<T>{static_cast<std::uint32_t>(band.size()), static_cast<std::uint32_t>(cols.size()),
                  tile.row_ptr, tile.col_idx, tile.values});
  });
}

}  // namespace

extern "C" {

int32_t dapple_create(const char* path, uint64_t rows, uint64_t cols, int32_t type,
                      const char* const* options, dapple_writer** writer, dapple_error* error) {
  return guarded(error, [&] {
    needed(writer, "writer");
    const CreateOptions how = create_options(options);
    auto created = MatrixWriter::create(&needed(path, "path"), rows, cols, value_type(type),
                                        how.write, how.storage);
    *writer = new dapple_writer{.rows = rows, .cols = cols, .writer = std::move(created)};
  });
}

int32_t dapple_put(dapple_writer* writer, uint64_t row, uint64_t col, uint64_t rows, uint64_t cols,
                   int32_t type, const void* cells, size_t row_stride, size_t col_stride,
                   dapple_error* error) {
  return guarded(error, [&] {
    const Put put = put_of(writer, row, col, rows, cols, type);
    const auto* const first = static_cast<const std::byte*>(array(cells, rows, "cells"));
    const std::size_t size = size_of(put.type);
    const Strides strides{row_stride != 0 ? row_stride : size * cols,
                          col_stride != 0 ? col_stride : size};
    visit_type(put.type, [&]<Value T>(T) { put_dense<T>(put, first, strides); });
  });
}

int32_t dapple_put_sparse(dapple_writer* writer, uint64_t row, uint64_t col, uint64_t rows,
                          uint64_t cols, int32_t type, const uint64_t* ptr, const uint64_t* idx,
                          const void* values, dapple_error* error) {
  return guarded(error, [&] {
    const Put put = put_of(writer, row, col, rows, cols, type);
    require_sparse(put, ptr, idx, values);
    visit_type(put.type, [&]<Value T>(T) {
      const SparseRows<T> from{ptr, idx, static_cast<const T*>(values)};
      for_each_part(put.cells.rows, put.to.writer.tile().rows,
                    [&](const Range& band) { put_band<T>(put, band, from); });
    });
  });
}

int32_t dapple_finish(dapple_writer* writer, dapple_error* error) {
  return guarded(error, [&] { checked(writer).writer.finish(); });
}

void dapple_abandon(dapple_writer** writer) {
  if (writer == nullptr || *writer == nullptr || (*writer)->tag != dapple_writer::kTag) return;
  (*writer)->tag = 0;
  delete std::exchange(*writer, nullptr);
}

}  // extern "C"

}  // namespace dapple::detail::c
