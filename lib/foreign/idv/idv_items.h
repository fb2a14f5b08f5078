// A run of fixed-size items in one block, and the columns of numbers that they make.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

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
  /// REQUIRES an item of fixed size. Throws corrupt unless `bytes`, which start at byte `at` of
  /// the block, are those of `n` items.
  ItemRun(const BlockBytes& block, std::uint64_t at, std::span<const std::byte> bytes,
          const ItemType& item, std::uint64_t n);

  /// Part `part` of item `i`, in the low bytes of a word. Throws corrupt for a Boolean that is
  /// neither. REQUIRES i < n.
  std::uint64_t bits(std::size_t part, std::uint64_t i) const;

  /// Copies part `part` of items first .. first + n - 1 to `target`, `step` bytes apart, as
  /// values of `type`. Returns how many: less than `n` when the next one does not fit (rule R6).
  /// Throws corrupt. REQUIRES first + n <= n of the run.
  std::uint64_t copy(std::size_t part, std::uint64_t first, std::uint64_t n, ValueType type,
                     std::byte* target, std::size_t step) const;

  /// Where part `part` of item `i` lies, when it has bytes of its own; and how far apart they are.
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

  const BlockBytes* block_;
  std::uint64_t at_;
  const std::byte* data_;
  const ItemType* item_;
  std::uint64_t n_;
};

}  // namespace dapple::detail::idv
