// What a block holds: a run of fixed-size items, of texts, or of vectors of one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/region.h"
#include "lib/foreign/idv/idv_block.h"
#include "lib/foreign/idv/idv_codec.h"
#include "lib/object/store.h"

namespace dapple::detail::idv {

/// One number that an item is made of. Most items are one; a date with zone is ticks and minutes,
/// a row identifier a low and a high half.
struct ItemPart {
  ValueType value_type = ValueType::u8;
  std::string_view suffix;  // of the column's label
};

/// The parts of an item, in the order of their columns; of a text, its code (idv_meaning.h).
std::span<const ItemPart> parts_of(const ItemType& item) noexcept;

/// True when the first part of an item is ticks of 100 ns.
bool is_time(const ItemType& item) noexcept;

/// The items of a block, or of all vectors in it. Borrows the block's bytes.
class ItemRun {
 public:
  /// REQUIRES an item of fixed size. Throws corrupt unless the rest of `in` is `n` items.
  ItemRun(ByteReader in, const ItemType& item, std::uint64_t n);

  /// Part `part` of item `i`, in the low bytes of a word. Throws corrupt for a Boolean that is
  /// neither. REQUIRES i < n.
  std::uint64_t bits(std::size_t part, std::uint64_t i) const;

  /// Copies part `part` of items first .. first + n - 1 to `target`, `step` bytes apart, as
  /// values of `type`. Returns how many: less than `n` when the next one does not fit (rule R6).
  /// Throws corrupt. REQUIRES first + n <= n of the run.
  std::uint64_t copy(std::size_t part, std::uint64_t first, std::uint64_t n, ValueType type,
                     std::byte* target, std::size_t step) const;

  /// Where part `part` of item `i` is, when it has bytes of its own; and how far apart they are.
  struct Place {
    const std::byte* data = nullptr;
    std::size_t step = 0;
  };
  Place place(std::size_t part, std::uint64_t i) const noexcept;

 private:
  bool packed() const noexcept {
    return item_->layout == Layout::bits || item_->layout == Layout::bits2;
  }
  std::uint64_t packed_bits(std::uint64_t i) const;

  ByteReader in_;  // of the block
  std::uint64_t at_;
  const std::byte* data_;
  const ItemType* item_;
  std::uint64_t n_;
};

/// A block of texts: end positions in UTF-16 code units, then one UTF-8 string of all of them.
class TextRun {
 public:
  /// The `n` texts that the rest of `in` holds. Throws corrupt when their number, their positions
  /// or the UTF-8 are not in order, or bytes are left. Borrows the block's bytes. O(bytes).
  TextRun(ByteReader& in, std::uint64_t n);

  /// Appends text `i` as UTF-8; nothing for a missing one. A position may lie between the two
  /// halves of a surrogate pair: each half becomes U+FFFD, as .NET writes it. REQUIRES i < n.
  void append(std::uint64_t i, std::string& out) const;
  bool missing(std::uint64_t i) const noexcept { return ends_[i].missing; }

 private:
  struct End {
    std::uint32_t units = 0;  // position in UTF-16 code units
    std::uint32_t byte = 0;   // and in the string: of the sequence that a split one splits
    bool split = false;
    bool missing = false;
  };
  void place_ends(const ByteReader& in, std::uint64_t text_at);

  std::vector<End> ends_;
  std::string_view text_;
};

// A block of vectors: lengths, counts of stored items, indices, then one run of all items.

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

  /// Begins at the items.
  ByteReader& items() noexcept { return in_; }
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

  ByteReader in_;
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
