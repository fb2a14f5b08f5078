// Random access to rows of blocks without a walk from the start of the block.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <tuple>
#include <vector>

#include "dapple/array.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// The number of entries of a CSR block before each row, or before every 8th row when rows are so
/// short that a complete directory would not be small compared with the block.
class RowDirectory {
 public:
  static constexpr std::uint64_t kStep = 8;  // at most

  RowDirectory() = default;
  /// Walks over the rows. Takes at most `most` bytes, or `bytes_for` the rows if that is more.
  /// Throws corrupt. O(rows).
  RowDirectory(const Store& store, const Entry& entry, std::size_t most);

  /// A cursor at `row`, or at most 7 rows before it.
  RowCursor cursor(std::uint64_t row) const noexcept {
    const std::uint64_t i = row >> shift_;
    if (!words_.empty()) return {i << shift_, words_[i]};
    if (!halves_.empty()) return {i << shift_, halves_[i]};
    return {};
  }
  void prefetch(std::uint64_t row) const noexcept {
    if (!halves_.empty()) __builtin_prefetch(&halves_[row >> shift_]);
    if (!words_.empty()) __builtin_prefetch(&words_[row >> shift_]);
  }
  /// The entries before each row, and before the end; nullptr unless all are known, in 32 bits.
  const std::uint32_t* positions() const noexcept {
    return shift_ == 0 && !halves_.empty() ? halves_.data() : nullptr;
  }
  std::size_t bytes() const noexcept { return halves_.size() * 4 + words_.size() * 8; }
  /// The size of the smaller directory for this many rows.
  static std::uint64_t bytes_for(std::uint64_t rows) noexcept { return (rows / kStep + 1) * 8; }

 private:
  Array<std::uint32_t> halves_;  // one of the two, depending on the number of entries
  Array<std::uint64_t> words_;
  unsigned shift_ = 0;  // of a row's number
};

/// A block whose rows are being read. What each row needs is in the first cache line.
struct alignas(64) BlockRows {
  const std::byte* data = nullptr;  // dense values in place, or rows as they are in a CSR block
  std::size_t row_step = 0;         // of dense values in place
  /// `RowDirectory::positions` of a CSR block with `data`, or nullptr.
  const std::uint32_t* positions = nullptr;
  std::uint32_t cols = 0;
  ValueType value_type = ValueType::u8;
  bool empty = false;   // an empty block
  bool by_row = false;  // a CSR block whose codec finds rows by a cursor
  mutable std::atomic<std::uint64_t> used{0};
  RowDirectory directory;
  Entry entry;  // confirmed; a copy, because an entry in place may change
};

/// A cache of the blocks whose rows were read recently, in bounded memory. Any thread.
class RowAccess {
 public:
  explicit RowAccess(const Store& store, std::size_t budget = std::size_t{64} << 20);

  /// Loads the blocks that are not in the cache, and may evict others. Throws corrupt, io.
  void make(std::span<const std::uint64_t> numbers);

  /// While a reader lives, nothing is evicted.
  class Reader {
   public:
    explicit Reader(const RowAccess& access) : access_(access), lock_(access.mutex_) {}
    /// nullptr when the block was not loaded, or was evicted.
    const BlockRows* find(std::uint64_t number) const noexcept {
      const auto* const place = access_.slot(number);
      const BlockRows* const rows = place == nullptr ? nullptr : place->get();
      if (rows == nullptr) return nullptr;
      const std::uint64_t now = access_.clock_.load(std::memory_order_relaxed);
      if (rows->used.load(std::memory_order_relaxed) != now) {
        rows->used.store(now, std::memory_order_relaxed);
      }
      return rows;
    }

   private:
    const RowAccess& access_;
    std::shared_lock<std::shared_mutex> lock_;
  };

  /// Loads a block without caching it.
  std::unique_ptr<BlockRows> load(std::uint64_t number) const;

  /// The size of the cache.
  std::size_t bytes() const;

 private:
  using Page = std::array<std::unique_ptr<BlockRows>, 512>;

  std::unique_ptr<BlockRows>* slot(std::uint64_t number) const noexcept {
    Page* const page = pages_[number / std::tuple_size_v<Page>].get();
    return page == nullptr ? nullptr : &(*page)[number % std::tuple_size_v<Page>];
  }
  void forget_least_used();

  const Store& store_;
  const std::size_t budget_;
  mutable std::atomic<std::uint64_t> clock_{0};
  mutable std::shared_mutex mutex_;           // guards what follows
  std::vector<std::unique_ptr<Page>> pages_;  // of blocks by number, allocated on demand
  std::size_t bytes_ = 0;
};

}  // namespace dapple::detail
