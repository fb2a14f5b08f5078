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

/// Where the values of a block lie that was touched before.
struct Place {
  /// What is known of it: nothing as long as it was not touched; `kTouched` when the complete path
  /// has to be taken again; otherwise a dense block of the grid's full tile shape, by the code of
  /// its value type.
  using Tag = std::uint8_t;
  static constexpr Tag kUnknown = 0, kTouched = 0x80;
  static constexpr Tag dense(ValueType type) noexcept { return static_cast<Tag>(type); }

  const std::byte* values = nullptr;  // of such a dense block
  Tag tag = kUnknown;

  /// In one word, so that it can be written at once: the address above the tag.
  static constexpr unsigned kTagBits = 8;
  static Place of_word(std::uint64_t word) noexcept {
    return {reinterpret_cast<const std::byte*>(word >> kTagBits), static_cast<Tag>(word)};
  }
  std::uint64_t word() const noexcept {
    return reinterpret_cast<std::uintptr_t>(values) << kTagBits | tag;
  }
  bool fits_word() const noexcept {
    return reinterpret_cast<std::uintptr_t>(values) >> (64 - kTagBits) == 0;
  }
};

/// A word that another thread may be writing; what is written before it is seen by who sees it.
/// Loads of x86-64 keep their order by themselves, and a volatile access, unlike an atomic one,
/// lets the compiler keep everything else in registers.
template <class T>
T load_once(const T& word) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  return const_cast<const volatile T&>(word);
#else
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
#endif
}

/// Where the blocks of an object lie that were touched before. The tables are filled in by any
/// thread; what else stands here never changes once others can see it.
///
/// In a file whose tiles lie evenly, most places follow from the tile's number. Then a byte per
/// tile tells what a word would: the table stays in a nearer cache, and what is done with the cells
/// need not wait for it (32 x 32 tiles of f64: summed in 1.01 times the time of a raw pointer, by
/// words 1.14; Xeon of family 6, model 167).
struct KnownPlaces {
  static constexpr Place::Tag kNoTile = Place::kUnknown;

  const Place::Tag* tags = &kNoTile;     // of what is no tile, then of each block that lies evenly
  const std::byte* values = nullptr;     // of block 0, where blocks do,
  std::uint64_t step = 0;                // and how far those of the next one are from there
  const std::uint64_t* words = nullptr;  // a place of each other block; made with the tags
  std::uint64_t rows = 0, cols = 0;      // of the grid, in tiles; 0 without one
  std::uint64_t word_rows = 0;           // rows, or 0: all tiles take the complete path
  std::uint64_t even_rows = 0, even_cols = 0;  // rows and cols, or 0: no tile lies evenly
  TileShape tile{1, 1};                        // the grid's, if there is one

  /// Of a tile that lies evenly. What is known stands in front of the conditions, so that a loop
  /// may load it once. One of these is no branch, since what is no tile has a tag, too.
  Place of_even_tile(std::uint64_t i, std::uint64_t j) const noexcept {
    const Place::Tag* const all_tags = tags;
    const std::byte* const first = values;
    const std::uint64_t n = even_rows, m = even_cols, apart = step;
    const std::uint64_t number = i * m + j;
    Place place;
    if (j < m) [[likely]] {
      const Place::Tag tag = load_once(all_tags[i < n ? number + 1 : 0]);
      if (tag != Place::kUnknown) [[likely]]
        place = {first + number * apart, tag};
    }
    return place;
  }
  /// Of a tile that does not.
  Place of_uneven_tile(std::uint64_t i, std::uint64_t j) const noexcept {
    return i < word_rows && j < cols ? Place::of_word(load_once(words[i * cols + j])) : Place();
  }
  /// Of any tile.
  Place of_tile(std::uint64_t i, std::uint64_t j) const noexcept {
    return i < word_rows && j < cols ? of_block(i * cols + j) : Place();
  }
  /// REQUIRES words. Of blocks without a grid nothing is known but that they were touched, so all
  /// lie evenly.
  Place of_block(std::uint64_t number) const noexcept {
    if (step != 0 || cols == 0) {
      const Place::Tag tag = load_once(tags[number + 1]);
      if (tag != Place::kUnknown) return {values + number * step, tag};
    }
    return Place::of_word(load_once(words[number]));
  }
};

/// What fetching a tile that was touched before needs, and nothing else. It compiles into the
/// caller's loop. There, the loads and branches of a fetch limit how many neighbouring fetches, and
/// so cache misses, are under way at once: one cell of a random tile of 32 x 32 f64 takes a raw
/// pointer 16 ns; with four branches a fetch it takes 18, with five 22, with six 24, and 27 where
/// what is known is also loaded for each (AMD EPYC of family 25, model 17).
class HotStore {
 public:
  /// What is known. A compiler may ask once for a whole loop, and keep the answer in registers. So
  /// a loop that began before a first tile was touched finds nothing here as long as it lasts.
  const KnownPlaces& known() const noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    return *known_;  // loads of x86-64 keep their order, and the answer is loaded through this one
#else
    return known_now();
#endif
  }
  /// The same, asked each time.
  const KnownPlaces& known_now() const noexcept { return *load_once(known_); }

 protected:
  explicit HotStore(const KnownPlaces& at_first) noexcept : known_(&at_first) {}
  mutable const KnownPlaces* known_;  // changes once, when a first block is touched
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

/// Five words, no reference count: valid while any copy of its Matrix or Frame lives. Any thread.
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
    if (place_.tag == detail::Place::dense(value_type_of<T>())) [[likely]] {
      return {place_.values, tile_.rows, tile_.cols, tile_.cols * sizeof(T)};
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
  Block(const detail::HotStore& hot, std::uint64_t number, detail::Place place,
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
  detail::Place place_;
  TileShape tile_;  // the grid's
};

}  // namespace dapple
