// A block of vectors: lengths, counts of stored items, indices, then one run of all items.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dapple/region.h"
#include "lib/foreign/idv/idv_block.h"
#include "lib/foreign/idv/idv_codec.h"

namespace dapple::detail::idv {

/// One vector. A dense one stores all of its items, a sparse one those at `indices`.
struct VectorRow {
  std::uint64_t row = 0;         // within the block
  std::uint64_t length = 0;      // slots
  std::uint64_t first_item = 0;  // in the block's run of items
  std::uint64_t items = 0;
  bool dense = false;
  const std::byte* indices = nullptr;  // i32 each, of a sparse one

  /// Slot of stored item `i`, unchecked.
  std::uint32_t slot(std::uint64_t i) const noexcept {
    return dense ? static_cast<std::uint32_t>(i) : load_le<std::uint32_t>(indices + i * 4);
  }
};

/// Bytes of a block of `n` vectors of a common length in front of indices and items.
constexpr std::uint64_t vector_head_bytes(std::uint64_t n) noexcept { return 12 + n * 4; }

/// Borrows the block, which must outlive it.
class VectorRun {
 public:
  /// The `n` vectors of a column's block. Throws corrupt unless lengths, counts and the number of
  /// indices agree with each other and with the codec. The indices themselves are checked row by
  /// row, by `each`. O(n).
  VectorRun(const BlockBytes& block, const ValueCodec& codec, std::uint64_t n);

  /// Stands at the items.
  BlockReader& items() noexcept { return in_; }
  std::uint64_t item_count() const noexcept { return item_count_; }
  bool all_dense() const noexcept { return sparse_rows_ == 0; }

  /// Calls `f(const VectorRow&)` for each of `rows`, in order. Throws corrupt when a sparse one's
  /// indices do not ascend below its length. O(rows before + items of these).
  template <class F>
  void each(Range rows, F&& f) const {
    std::uint64_t item = 0, index = 0;
    for (std::uint64_t r = 0; r < rows.end; ++r) {
      const VectorRow row = row_at(r, item, index);
      if (r >= rows.begin) {
        check_indices(row);
        f(row);
      }
      item += row.items;
      if (!row.dense) index += row.items;
    }
  }

 private:
  std::int32_t count(std::uint64_t row) const noexcept {
    return load_le<std::int32_t>(counts_.data() + row * 4);
  }
  std::uint64_t length(std::uint64_t row) const noexcept {
    return common_length_ > 0 ? common_length_ : load_le<std::uint32_t>(lengths_.data() + row * 4);
  }
  VectorRow row_at(std::uint64_t row, std::uint64_t item, std::uint64_t index) const noexcept;
  void count_items(std::uint64_t lengths_at, std::uint64_t counts_at);
  void check_indices(const VectorRow& row) const;

  BlockReader in_;
  std::uint64_t n_;
  std::uint64_t common_length_ = 0;
  std::span<const std::byte> lengths_;  // only where no length is common
  std::span<const std::byte> counts_;
  std::span<const std::byte> indices_;
  std::uint64_t indices_at_ = 0;
  std::uint64_t index_count_ = 0;
  std::uint64_t item_count_ = 0;
  std::uint64_t sparse_rows_ = 0;
};

}  // namespace dapple::detail::idv
