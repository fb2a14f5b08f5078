// Which blocks were compared with the bytes that their index entries point to (rule 2.6), and where
// the values of dense tiles are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "dapple/detail.h"
#include "dapple/region.h"
#include "dapple/value_type.h"

namespace dapple::detail {

/// A byte per block tells what is known of it. Where tiles lie at even distances in the file, the
/// address of their values follows from their numbers, so that a loop over millions of small tiles
/// needs no other table; of other tiles it is kept, too. Any thread; no lock after `make`.
class Places {
 public:
  /// Where the values of tile 0 are, and how far apart those of neighbours are. A guess: it is used
  /// for a tile only when that tile was found there.
  struct Even {
    const std::byte* values = nullptr;
    std::uint64_t step = 0;
  };

  Places() = default;
  ~Places();
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  /// Makes a table for `n` blocks, of which nothing is known yet, if there is none. `even` may be
  /// called to guess. Without room for a table nothing is ever known.
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
  /// The same for a dense tile of the grid's full shape, whose values are at `values`.
  void set_compared(std::uint64_t number, const std::byte* values, ValueType type) noexcept;

  /// The values of a dense tile of the grid's full shape that was compared, if they are of that
  /// type; nullptr for any other block.
  const std::byte* values(std::uint64_t number, ValueType type) const noexcept {
    const std::uint8_t tag = this->tag(number);
    if (tag == tag_of(type)) return even_.values + number * even_.step;
    if (tag != (kElsewhere | tag_of(type))) return nullptr;
    return addresses_[number].load(std::memory_order_relaxed);
  }

  /// Of tiles at even distances, for TileTable; no tags where there are none.
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
  std::atomic<const std::byte*>* addresses_ = nullptr;     // n, and then as many tags:
  std::atomic<std::atomic<std::uint8_t>*> tags_{nullptr};  // set when all else is there
  Even even_;
};

}  // namespace dapple::detail
