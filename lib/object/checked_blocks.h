// Which blocks were compared with the bytes that their index entries point to, and where the values
// of dense tiles are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "dapple/detail.h"
#include "dapple/region.h"
#include "dapple/value_type.h"

namespace dapple::detail {

/// One byte (tag) per block says what is known about it. For tiles at regular distances in the
/// file the address of the values follows from the number, so that a loop over millions of small
/// tiles needs no other table; for other tiles it is stored. Any thread; no lock after `make`.
class CheckedBlocks {
 public:
  /// Where the values of tile 0 are, and the distance to those of the next tile. A guess: it is
  /// used only for tiles that were found there.
  struct Even {
    const std::byte* values = nullptr;
    std::uint64_t step = 0;
  };

  CheckedBlocks() = default;
  ~CheckedBlocks();
  CheckedBlocks(const CheckedBlocks&) = delete;
  CheckedBlocks& operator=(const CheckedBlocks&) = delete;

  /// Makes the table for `n` blocks if there is none; calls `even` for the guess. If there is no
  /// memory for it, every block stays unknown.
  template <class GuessEven>
  void make(std::uint64_t n, const GuessEven& even) {
    if (tags_.load(std::memory_order_acquire) != nullptr) return;
    const std::lock_guard lock(mutex_);
    if (tags_.load(std::memory_order_relaxed) != nullptr) return;
    even_ = even();  // may throw
    if (!allocate(n)) return;
    tags_.store(reinterpret_cast<std::atomic<std::uint8_t>*>(addresses_ + n),
                std::memory_order_release);
  }

  bool was_compared(std::uint64_t number) const noexcept { return tag(number) != kUnknown; }
  void set_compared(std::uint64_t number) noexcept { set_tag(number, kCompared); }
  /// The same for a dense tile of the grid's full shape with these values.
  void set_compared(std::uint64_t number, const std::byte* values, ValueType type) noexcept;

  /// The values of a dense tile of the grid's full shape that was compared and has this type;
  /// nullptr for any other block.
  const std::byte* values(std::uint64_t number, ValueType type) const noexcept {
    const std::uint8_t tag = this->tag(number);
    if (tag == tag_of(type)) return even_.values + number * even_.step;
    if (tag != (kElsewhere | tag_of(type))) return nullptr;
    return addresses_[number].load(std::memory_order_relaxed);
  }

  /// The tags, for TileTable; nullptr when tiles are not at regular distances.
  const std::atomic<std::uint8_t>* even_tags() const noexcept {
    return even_.step != 0 ? tags_.load(std::memory_order_acquire) : nullptr;
  }
  const Even& even() const noexcept { return even_; }

 private:
  static constexpr std::uint8_t kUnknown = 0, kElsewhere = 0x40, kCompared = 0x80;
  static constexpr std::uint8_t tag_of(ValueType type) noexcept {
    return static_cast<std::uint8_t>(type);
  }
  std::uint8_t tag(std::uint64_t number) const noexcept {
    const auto* const tags = tags_.load(std::memory_order_acquire);
    return tags != nullptr ? tags[number].load(std::memory_order_acquire) : kUnknown;
  }
  void set_tag(std::uint64_t number, std::uint8_t tag) noexcept;
  bool allocate(std::uint64_t n) noexcept;

  std::mutex mutex_;  // held while the table is made
  std::uint64_t n_ = 0;
  std::atomic<const std::byte*>* addresses_ = nullptr;     // n_ of them, then n_ tags
  std::atomic<std::atomic<std::uint8_t>*> tags_{nullptr};  // set last
  Even even_;
};

}  // namespace dapple::detail
