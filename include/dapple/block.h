// A block: one stored rectangle of cells, borrowed from the Matrix or Frame it came from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dapple/region.h"
#include "dapple/value_type.h"
#include "dapple/view.h"

namespace dapple {

namespace detail {

class Store;

/// Byte positions of the fields inside a 64-byte index entry (FORMAT.md, "Entry").
namespace entry_at {
inline constexpr std::size_t rx = 0, cx = 8, offset = 16, bytes = 24, stored = 32, hash = 40,
                             rows = 48, cols = 52, kind = 56, value_type = 57, reserved = 58;
}
inline constexpr std::size_t kEntryBytes = 64;

/// Where the values of a block that was touched before lie: 0 as long as it was not, otherwise a
/// tag in the lower 16 bits, and above it the byte of the map where the values of a dense block
/// start. A block of any other kind, or one that can't be viewed in place, has the tag `kTouched`.
namespace place {
inline constexpr unsigned kTagBits = 16;
inline constexpr std::uint16_t kTouched = 0x8000;
constexpr std::uint16_t dense_tag(ValueType type) noexcept {
  return static_cast<std::uint16_t>(kTouched | 0x100 | static_cast<unsigned>(type));
}
}  // namespace place

/// What fetching a tile that was touched before needs, and nothing else, so that it compiles into
/// the caller's loop: few instructions let the processor overlap the cache misses of many fetches,
/// and eight bytes per tile stay in the cache where the 64 of an index entry are a miss of their
/// own. A null pointer sends the caller to the complete path.
struct HotStore {
  std::atomic<const std::uint64_t*> places{nullptr};  // one per block, written when it is confirmed
  const std::byte* entries = nullptr;                 // written before `places`, then constant,
  const std::byte* map = nullptr;                     //   and so is this
  std::uint64_t grid_rows = 0, grid_cols = 0;         // 0 without a grid
  TileShape tile, last;                               // `last`: in the last row, in the last column
};

/// A block's index entry and place.
struct Touched {
  const std::byte* entry;
  std::uint64_t place;
};

}  // namespace detail

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
  ValueType value_type = ValueType::u8;  // of the stored values; of no meaning for empty blocks
  std::uint64_t stored = 0;              // values stored, explicit zeros included
  std::uint64_t offset =
      0;                    // byte of the file where the block's own header starts, behind (rx, cx)
  std::uint64_t bytes = 0;  // length from `offset` to the block's end

  constexpr Region cells() const noexcept {
    return {{pos.rx, pos.rx + rows}, {pos.cx, pos.cx + cols}};
  }
  friend constexpr bool operator==(const BlockInfo&, const BlockInfo&) = default;
};

/// Four words, no reference count: valid while any copy of its Matrix or Frame lives. Any thread.
class Block {
 public:
  BlockInfo info() const noexcept;

  /// The block's bytes behind its header: values, or the sparse entries.
  /// Throws io when the file shrank.
  std::span<const std::byte> payload() const;

  /// The values in place. Throws type_mismatch unless the block is dense and of type T exactly,
  /// or when its format cannot be viewed in place (compressed, byte-swapped or text); `decode`
  /// copies. O(1).
  template <Value T>
  DenseView<T> dense() const {
    if (static_cast<std::uint16_t>(place_) == detail::place::dense_tag(value_type_of<T>())) {
      return {hot_->map + (place_ >> detail::place::kTagBits), rows_, cols_, cols_ * sizeof(T)};
    }
    const DenseBytes d = dense_bytes(*hot_, entry_, value_type_of<T>());
    return {d.data, d.rows, d.cols, d.row_bytes};
  }

  /// The entries in place. Throws type_mismatch unless the block is CSR and of type T exactly.
  /// O(1).
  template <Value T>
  CsrView<T> csr() const {
    const SparseBytes s = sparse_bytes(BlockKind::csr, value_type_of<T>());
    return {s.data, s.size, s.rows, s.cols, s.nnz};
  }

  /// The entries in place. Throws type_mismatch unless the block is COO and of type T exactly.
  /// O(1).
  template <Value T>
  CooView<T> coo() const {
    const SparseBytes s = sparse_bytes(BlockKind::coo, value_type_of<T>());
    return {s.data, static_cast<std::uint32_t>(s.nnz), s.rows, s.cols};
  }

  /// Copies all cells to `out`, row after row, `row_stride` values apart (0: no gap), whatever
  /// the block's kind and stored type. Throws type_mismatch when a value does not fit T exactly
  /// (rule R6), corrupt (R5), invalid_argument when `out` is too small. O(cells + bytes).
  template <Value T>
  void decode(std::span<T> out, std::size_t row_stride = 0) const {
    decode_to(out.data(), out.size(), row_stride, value_type_of<T>());
  }

  /// The stored entries as three arrays, sorted; a dense block gives its cells that are not
  /// positive zero. Errors as `decode`. O(bytes).
  template <Value T>
  Csr<T> to_csr() const;

 private:
  friend class BlockedObject;
  friend class detail::Store;
  Block(const detail::HotStore& hot, detail::Touched block, TileShape shape) noexcept
      : hot_(&hot),
        entry_(block.entry),
        place_(block.place),
        rows_(shape.rows),
        cols_(shape.cols) {}
  const detail::Store& store() const noexcept;

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
  // Static, so that a block which is used at once never has to lie in memory.
  static DenseBytes dense_bytes(const detail::HotStore& hot, const std::byte* entry,
                                ValueType wanted);
  SparseBytes sparse_bytes(BlockKind wanted_kind, ValueType wanted) const;
  void decode_to(void* out, std::size_t size, std::size_t row_stride, ValueType type) const;

  const detail::HotStore* hot_;  // its Store
  const std::byte* entry_;       // its entry of the block index
  std::uint64_t place_;          // of its values
  std::uint32_t rows_, cols_;
};

}  // namespace dapple
