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

/// Where the values of a block that was touched before lie: 0 as long as it was not, otherwise a
/// tag in the lower 16 bits, and above it the address of the values of a dense block that has the
/// grid's full tile shape. Any other block has the tag `kTouched` and nothing above it.
namespace place {
inline constexpr unsigned kTagBits = 16;
inline constexpr std::uint16_t kTouched = 0x8000;
constexpr std::uint16_t dense_tag(ValueType type) noexcept {
  return static_cast<std::uint16_t>(kTouched | 0x100 | static_cast<unsigned>(type));
}
}  // namespace place

/// A word that another thread may be writing. What the words below lead to is written before them
/// and constant, and is reached through their value, so no order is asked for; and a volatile
/// access, unlike an atomic one, lets the compiler keep everything else in registers.
template <class T>
T load_once(const T& word) noexcept {
#if defined(__SANITIZE_THREAD__)
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
#else
  return const_cast<const volatile T&>(word);
#endif
}

/// What fetching a tile that was touched before needs, and nothing else. It compiles into the
/// caller's loop, where most of it can stay in registers: what limits how many cache misses of
/// neighbouring fetches overlap is the number of loads in a fetch (measured, 256 x 256 tiles, one
/// cell each: a raw pointer 22 ns, one more load 25 ns, nine more 65 ns). For the same reason there
/// are eight bytes per tile instead of the 64 of an index entry.
struct HotStore {
  const std::uint64_t* places =
      nullptr;                  // one per block, zero until it is confirmed; made when the
                                //   file is mapped, the rest at the start
  std::uint64_t grid_rows = 0;  // 0: every tile takes the complete path
  std::uint64_t grid_cols = 0;  // 0 without a grid
  TileShape tile;
};

// To the caller's compiler, the complete paths change nothing: what they do change, it never keeps
// in a register. (Clang takes `pure` for a promise not to throw as well.)
#if defined(__clang__)
#define DAPPLE_PURE
#else
#define DAPPLE_PURE [[gnu::pure]]
#endif

/// The result of a pure call counts as used, so that one which throws is made even where nobody
/// looks at what it returns.
template <class T>
void keep(T value) noexcept {
  asm volatile("" : : "r"(value));
}

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
  /// What the index says of it. Throws corrupt when somebody wrote to the file since the block was
  /// fetched, io when it shrank.
  BlockInfo info() const;

  /// The block's bytes behind its header: values, or the sparse entries. Throws as `info`.
  std::span<const std::byte> payload() const;

  /// The values in place. Throws type_mismatch unless the block is dense and of type T exactly,
  /// or when its format cannot be viewed in place (compressed, byte-swapped or text); `decode`
  /// copies. O(1).
  template <Value T>
  DenseView<T> dense() const {
    if (static_cast<std::uint16_t>(place_) == detail::place::dense_tag(value_type_of<T>()))
        [[likely]] {
      return {reinterpret_cast<const std::byte*>(place_ >> detail::place::kTagBits), tile_.rows,
              tile_.cols, tile_.cols * sizeof(T)};
    }
    const DenseBytes d = dense_bytes(*hot_, number_, value_type_of<T>());
    detail::keep(d.data);
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

  /// The stored entries as three arrays, sorted, explicit zeros included; of a dense block the
  /// cells that are not positive zero. Formats whose sparse blocks have no view may leave zeros
  /// out. The second form uses the memory that `out` has. Errors as `decode`. O(bytes).
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
  Block(const detail::HotStore& hot, std::uint64_t number, std::uint64_t place,
        TileShape tile) noexcept
      : hot_(&hot), number_(number), place_(place), tile_(tile) {}
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
  DAPPLE_PURE static DenseBytes dense_bytes(const detail::HotStore& hot, std::uint64_t number,
                                            ValueType wanted);
  SparseBytes sparse_bytes(BlockKind wanted_kind, ValueType wanted) const;
  void decode_to(void* out, std::size_t size, std::size_t row_stride, ValueType type) const;

  const detail::HotStore* hot_;  // its Store
  std::uint64_t number_;         // in the block index
  std::uint64_t place_;          // of its values
  TileShape tile_;               // the grid's
};

}  // namespace dapple
