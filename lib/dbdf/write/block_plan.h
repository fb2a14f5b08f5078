// The cells that a writer receives, and the choice of the smallest representation of a block
// (FORMAT.md, "What the writer chooses").
#pragma once

#include <cstddef>
#include <cstdint>

#include "dapple/block.h"
#include "dapple/writer.h"
#include "lib/index/block_index.h"

namespace dapple::detail::dbdf {

/// Dense cells in memory, of one value type; rows `row_step` bytes apart.
struct DenseCells {
  const std::byte* data = nullptr;
  ValueType type = ValueType::f64;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::size_t row_step = 0;

  const std::byte* row(std::uint64_t r) const noexcept { return data + r * row_step; }
  std::size_t row_bytes() const noexcept { return cols * size_of(type); }
};

/// Rows in three arrays: the columns of a row are strictly ascending, and no value is positive
/// zero. Holds all rows of the block, or only those that are listed, because a block may have far
/// more rows than entries.
struct CsrCells {
  const std::uint64_t* row_ptr = nullptr;  // row_count() + 1, from 0
  const std::uint32_t* col_idx = nullptr;
  const std::byte* values = nullptr;
  ValueType type = ValueType::f64;
  std::uint32_t rows = 0;  // of the block
  std::uint32_t cols = 0;
  const std::uint32_t* row_idx = nullptr;  // the listed rows, ascending; null: all rows
  std::uint32_t listed = 0;                // the number of listed rows

  /// The number of rows held, and the number in the block of the i-th of them.
  std::uint32_t row_count() const noexcept { return row_idx == nullptr ? rows : listed; }
  std::uint32_t row(std::uint32_t i) const noexcept { return row_idx == nullptr ? i : row_idx[i]; }
  std::uint64_t stored() const noexcept { return row_ptr[row_count()]; }
  const std::byte* value(std::uint64_t k) const noexcept { return values + k * size_of(type); }
};

/// The result of one pass over the cells of a block.
struct Survey {
  std::uint64_t nonzero = 0;  // cells that are not positive zero (minus zero is not zero)
  std::uint32_t fits = 0;     // bit c: the value type with code c holds all values exactly
  bool holds(ValueType type) const noexcept { return (fits >> static_cast<unsigned>(type)) & 1; }
};

Survey survey(const DenseCells& cells);
Survey survey(const CsrCells& cells);

/// True when the rows meet the conditions of CsrCells, and are inside the block.
bool are_clean(const CsrCells& cells);

/// How a block is to be stored.
struct Plan {
  BlockKind kind = BlockKind::empty;
  ValueType type = ValueType::u8;
};

/// The plan with the fewest bytes that the options permit. Ties go to dense, then CSR, then COO;
/// among value types of the same size to `declared`, then to the lowest code. A kind in the options
/// is used even if all cells are zero. Throws invalid_argument when it cannot hold the block.
Plan make_plan(const Survey& survey, std::uint32_t rows, std::uint32_t cols, ValueType declared,
               const WriteOptions& options);

}  // namespace dapple::detail::dbdf
