#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/foreign/arrays/lines.h"
#include "lib/foreign/npy/npy_values.h"
#include "lib/foreign/npz/scipy_matrix.h"

namespace dapple::detail::npz {

namespace {

/// The cells of blocks, counted row by row.
struct Blocks {
  std::uint64_t down, across;  // cells of a block
  std::uint64_t limit;         // blocks of a row of the matrix
  arrays::Items indices;       // of columns of blocks, loaded
  Numbers values;              // of one block after the other
  std::vector<std::uint64_t> pointers{};
  std::shared_ptr<const void> owner{};

  /// Calls f(block, row, column, count) for runs of the cells with these numbers; row and column
  /// are in the block.
  template <class F>
  void each(Range which, const F& f) const {
    const auto after = std::upper_bound(pointers.begin(), pointers.end(), which.begin);
    auto row = static_cast<std::uint64_t>(after - pointers.begin() - 1);
    for (std::uint64_t k = which.begin; k < which.end; ++row) {
      const std::uint64_t first = pointers[row - row % down] / (down * across);
      while (k < std::min(pointers[row + 1], which.end)) {
        const std::uint64_t at = k - pointers[row], col = at % across;
        const std::uint64_t n = std::min(across - col, which.end - k);
        f(first + at / across, row % down, col, n);
        k += n;
      }
    }
  }
  void load_columns(Range which, std::byte* out) const {
    each(which, [&](std::uint64_t block, std::uint64_t, std::uint64_t col, std::uint64_t n) {
      const std::uint64_t index = arrays::pointer(indices, block);
      if (index >= limit) {
        throw Error(Errc::corrupt, values.file->name(), indices.byte_of(block),
                    "column " + std::to_string(index) + " is outside a matrix of " +
                        std::to_string(limit) + " columns, counted in blocks");
      }
      for (std::uint64_t i = 0; i < n; ++i, out += sizeof i) {
        store_le(out, index * across + col + i);
      }
    });
  }
  void load_values(Range which, std::byte* out) const {
    const npy::Field& field = values.field;
    const std::uint64_t blocks = values.shape[0], size = size_of(field.type);
    each(which, [&](std::uint64_t block, std::uint64_t row, std::uint64_t col, std::uint64_t n) {
      const std::uint64_t at = values.fortran ? block + (row + col * down) * blocks
                                              : (block * down + row) * across + col;
      const std::uint64_t step = values.fortran ? down * blocks : 1;
      npy::copy_values(field, values.data + at * field.size, step * field.size, field.type, out,
                       size, n);
      out += n * size;
    });
  }
};

}  // namespace

std::unique_ptr<arrays::SparseArrays> rows_of_blocks(const ByteSource& file, const Schema& schema,
                                                     arrays::Items pointers, arrays::Items indices,
                                                     Numbers values) {
  const std::uint64_t n = values.shape[0], down = values.shape[1], across = values.shape[2];
  const auto fail = [&](const std::string& wrong) {
    throw Error(Errc::corrupt, file.name(), values.offset, wrong);
  };
  if (down == 0 || across == 0 || schema.rows % down != 0 || schema.cols % across != 0) {
    fail("a matrix of " + extents_text(schema.rows, schema.cols) +
         " cells cannot be made of blocks of " + extents_text(down, across));
  }
  const std::uint64_t lines = schema.rows / down, cells = n * down * across;
  if (pointers.size != lines + 1 || indices.size != n) {
    fail(counted(n, "block") + " in " + counted(lines, "row") + " of them do not fit " +
         counted(pointers.size, "pointer") + " and " + std::to_string(indices.size) + " indices");
  }
  arrays::require_few_rows(schema.rows, cells, file, pointers.offset);
  auto from = std::make_shared<Blocks>(
      Blocks{down, across, schema.cols / across, std::move(indices), std::move(values)});
  from->owner = arrays::load_all(from->indices);
  arrays::SparseArrays of_blocks;
  of_blocks.values.size = n;
  of_blocks.pointers = std::move(pointers);
  const auto owner = arrays::load_all(of_blocks.pointers);
  from->pointers.reserve(schema.rows + 1);
  for (std::uint64_t line = 0; line < lines; ++line) {
    const Range blocks = of_blocks.entries_of(file, {line, line + 1});
    for (std::uint64_t row = 0; row < down; ++row) {
      from->pointers.push_back((blocks.begin * down + row * blocks.size()) * across);
    }
  }
  from->pointers.push_back(of_blocks.entries_of(file, {lines, lines}).end * down * across);
  return made_rows<Blocks>(from, cells, of_blocks.pointers.offset, from->indices.offset);
}

}  // namespace dapple::detail::npz
