// A block: one stored rectangle of cells, borrowed from the Matrix or Frame it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dapple/region.h"
#include "dapple/tiles.h"
#include "dapple/value_type.h"
#include "dapple/view.h"

namespace dapple {

namespace detail {
template <class Col>
class BandReader;
}  // namespace detail

template <Value T, class Col>
class RowRange;

/// How a block stores its cells; codes of the DAPHNE binary format, version 1 ("Block types").
enum class BlockKind : std::uint8_t { empty = 0, dense = 1, csr = 2, coo = 3 };

constexpr std::string_view name(BlockKind kind) noexcept {
  constexpr std::string_view names[] = {"empty", "dense", "csr", "coo"};
  return names[static_cast<std::size_t>(kind)];
}

/// What the index says of one block.
struct BlockInfo {
  BlockPos pos;            // its key: row and column of its first cell
  std::uint32_t rows = 0;  // extent in cells
  std::uint32_t cols = 0;
  BlockKind kind = BlockKind::empty;
  ValueType value_type = ValueType::u8;  // of the stored values; u8 for empty blocks
  std::uint64_t stored = 0;              // values stored, explicit zeros included
  std::uint64_t offset = 0;  // where its header starts, after (rx, cx): `place` has the file
  std::uint64_t bytes = 0;   // from there to the block's end

  constexpr Region cells() const noexcept {
    return {{pos.rx, pos.rx + rows}, {pos.cx, pos.cx + cols}};
  }
  friend constexpr bool operator==(const BlockInfo&, const BlockInfo&) = default;
};

/// A handle of two words without a reference count: valid while any copy of its Matrix or Frame
/// lives. Any thread.
class Block {
 public:
  /// What the index says about the block. Throws corrupt when the file was changed since the block
  /// was fetched, io when it was truncated.
  BlockInfo info() const;

  /// The block's bytes after its header: values, or the sparse entries. Throws what `info` throws.
  std::span<const std::byte> payload() const;

  /// The cells as T, whatever the block's kind and stored type: a view if it is dense and stored as
  /// T, otherwise a decoded copy that the tile owns. Throws what `decode` throws, and type_mismatch
  /// when a copy is needed but forbidden. O(1) for a view, O(cells + bytes) for a copy.
  template <Value T>
  Tile<T> cells(Copy copy = Copy::allowed) const {
    return {detail::fetch_cells(store_, number_, value_type_of<T>(), copy), copy};
  }

  /// The stored values of a dense block, in place. Throws type_mismatch unless they are stored as
  /// exactly T in a format that permits views; `cells<T>()` reads any block as T. O(1).
  template <Value T>
  DenseView<T> dense_view() const {
    const DenseBytes d = dense_bytes(value_type_of<T>());
    return {d.data, d.rows, d.cols, d.row_bytes};
  }

  /// The stored entries of a CSR block, in place. Throws type_mismatch unless they are stored as
  /// exactly T; `rows<T>()` and `to_csr<T>()` read any block as T. O(1).
  template <Value T>
  CsrView<T> csr_view() const {
    const SparseBytes s = sparse_bytes(BlockKind::csr, value_type_of<T>());
    return {s.data, s.size, s.rows, s.cols, s.nnz};
  }

  /// The same for a COO block.
  template <Value T>
  CooView<T> coo_view() const {
    const SparseBytes s = sparse_bytes(BlockKind::coo, value_type_of<T>());
    return {s.data, static_cast<std::uint32_t>(s.nnz), s.rows, s.cols};
  }

  /// The rows of the block as values of T, whatever it is stored as; include "dapple/rows.h".
  /// Throws what `decode` throws.
  template <Value T>
  RowRange<T, std::uint32_t> rows() const;

  /// Copies all cells to `out`, row by row, rows `row_stride` values apart (0: no gap), whatever
  /// the block's kind and stored type. Throws type_mismatch when a value does not fit T exactly
  /// (R6), corrupt (R5), invalid_argument when `out` is too small. O(cells + bytes).
  template <Value T>
  void decode(std::span<T> out, std::size_t row_stride = 0) const {
    decode_to(out.data(), out.size(), row_stride, value_type_of<T>());
  }

  /// The stored entries as three arrays, sorted by row and column; of a dense block, the cells that
  /// are not positive zero. Explicit zeros are kept, except in formats that do not permit views.
  /// The second form reuses the memory of `out`. Throws what `decode` throws. O(bytes).
  template <Value T>
  Csr<T, std::uint32_t> to_csr() const {
    Csr<T, std::uint32_t> out;
    to_csr(out);
    return out;
  }
  template <Value T>
  void to_csr(Csr<T, std::uint32_t>& out) const;

 private:
  friend class BlockedObject;
  friend class detail::Store;
  Block(const detail::Store& store, std::uint64_t number) noexcept
      : store_(&store), number_(number) {}
  const detail::Store& store() const noexcept { return *store_; }

  struct DenseBytes {
    const std::byte* data;
    std::uint64_t rows, cols;
    std::size_t row_bytes;
  };
  struct SparseBytes {
    const std::byte* data;
    std::size_t size;
    std::uint32_t rows, cols;
    std::uint64_t nnz;
  };
  DenseBytes dense_bytes(ValueType wanted) const;
  SparseBytes sparse_bytes(BlockKind wanted_kind, ValueType wanted) const;
  detail::BandReader<std::uint32_t> row_bands(ValueType type) const;
  void decode_to(void* out, std::size_t size, std::size_t row_stride, ValueType type) const;

  const detail::Store* store_;
  std::uint64_t number_;  // in the block index
};

}  // namespace dapple
