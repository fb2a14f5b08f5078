// Random access to rows of blocks without a walk from the start of the block.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "dapple/array.h"
#include "lib/object/block_rows.h"
#include "lib/object/row_counts.h"
#include "lib/object/store.h"

namespace dapple::detail {

/// The number of entries of a block before each row, or before every 2^n-th row when memory is
/// short.
class RowDirectory {
 public:
  RowDirectory() = default;
  /// Walks over the rows and keeps the position of each, or of fewer if they would take more than
  /// `most` bytes. REQUIRES a block with a cursor. Throws corrupt. O(rows).
  RowDirectory(const BlockRows& block, std::size_t most);
  /// The same from counts in the file. Nothing when they do not add up to the entries of the block.
  static std::optional<RowDirectory> from(const RowCounts& counts, const Entry& entry,
                                          std::size_t most);

  /// A cursor at `row`, or at the last row before it with a position.
  RowCursor cursor(std::uint64_t row) const noexcept {
    const std::uint64_t i = row >> shift_;
    if (!words_.empty()) return {i << shift_, words_[i]};
    if (!halves_.empty()) return {i << shift_, halves_[i]};
    return {};
  }
  /// True when a row with this cursor and that many entries may be where the directory says: it
  /// does not reach past the next position.
  bool agrees(RowCursor at, std::uint64_t count, const Entry& entry) const noexcept {
    const std::uint64_t next = (at.row >> shift_) + 1;
    std::uint64_t end = entry.stored;
    if (next < words_.size()) end = words_[next];
    if (next < halves_.size()) end = halves_[next];
    const bool last = at.row + 1 == entry.rows || (at.row + 1) >> shift_ == next;
    return at.entries <= end && (last ? count == end - at.entries : count <= end - at.entries);
  }
  /// The entries before each row, and before the end; nullptr unless all are known, in 32 bits.
  const std::uint32_t* positions() const noexcept {
    return shift_ == 0 && !halves_.empty() ? halves_.data() : nullptr;
  }
  std::size_t bytes() const noexcept { return halves_.size() * 4 + words_.size() * 8; }

 private:
  void reserve(const Entry& entry, unsigned shift, std::size_t most);
  void put_encoded(const BlockRows& block);
  void put(std::uint64_t i, std::uint64_t entries) noexcept {
    if (!halves_.empty()) {
      halves_[i] = static_cast<std::uint32_t>(entries);
    } else {
      words_[i] = entries;
    }
  }

  Array<std::uint32_t> halves_;  // one of the two, depending on the number of entries
  Array<std::uint64_t> words_;
  unsigned shift_ = 0;  // of a row's number
};

/// A block whose rows are looked up, and where they are. What each row needs is in the first cache
/// line.
struct alignas(64) IndexedRows {
  IndexedRows(const Store& store, const Entry& entry) : block(store, entry) {}

  const std::byte* data = nullptr;  // dense values in place, or rows of CSR entries
  /// `RowDirectory::positions` of CSR entries, in place or encoded.
  const std::uint32_t* positions = nullptr;
  std::size_t row_step = 0;  // of dense values in place
  std::uint32_t rows = 0, cols = 0;
  ValueType value_type = ValueType::u8;
  BlockRows::Way way = BlockRows::Way::empty;
  bool stored_directory = false;  // the directory is made of counts in the file
  mutable std::atomic<std::uint64_t> used{0};
  BlockRows block;
  RowDirectory directory;        // of a block with a cursor
  std::uint64_t payload_at = 0;  // where `data` is in the file
};

/// A cache of the blocks whose rows were read recently, in bounded memory. Any thread.
class RowAccess {
 public:
  explicit RowAccess(const Store& store, std::size_t budget = std::size_t{64} << 20);

  /// Loads the blocks that are not in the cache, and may evict others. Throws corrupt, io.
  void make(std::span<const std::uint64_t> numbers);

  /// A cursor at `row` of a CSR block, or above it where a walk is as quick or nothing else can be
  /// relied on. REQUIRES that the thread holds no reader. Throws corrupt.
  RowCursor cursor(const Entry& entry, std::uint64_t row);
  /// To walk over so few rows takes no longer than to look them up.
  static constexpr std::uint64_t kNear = 16;

  /// While a reader lives, nothing is evicted.
  class Reader {
   public:
    explicit Reader(const RowAccess& access) : access_(access), lock_(access.mutex_) {}
    /// nullptr when the block was not loaded, or was evicted.
    const IndexedRows* find(std::uint64_t number) const noexcept {
      const auto* const place = access_.slot(number);
      const IndexedRows* const rows = place == nullptr ? nullptr : place->get();
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
  std::unique_ptr<IndexedRows> load(std::uint64_t number) const;

  /// The size of the cache.
  std::size_t bytes() const;
  /// True every other time. Gathers that decode go through the file down and up in turn: what the
  /// last one decoded last is kept, and would be pushed out before a second way down came to it.
  bool turn() const noexcept { return turns_.fetch_add(1, std::memory_order_relaxed) % 2 != 0; }

 private:
  using Page = std::array<std::unique_ptr<IndexedRows>, 512>;

  std::unique_ptr<IndexedRows>* slot(std::uint64_t number) const noexcept {
    Page* const page = pages_[number / std::tuple_size_v<Page>].get();
    return page == nullptr ? nullptr : &(*page)[number % std::tuple_size_v<Page>];
  }
  std::unique_ptr<IndexedRows> load(std::uint64_t number, const Entry& entry) const;
  RowCursor cursor_in(const IndexedRows& rows, std::uint64_t row) const;
  void ask_for(std::span<const std::uint64_t> numbers) const;
  void forget_least_used();

  const Store& store_;
  const std::size_t budget_;
  mutable std::atomic<std::uint64_t> clock_{0};
  mutable std::atomic<unsigned> turns_{0};
  mutable std::shared_mutex mutex_;           // guards what follows
  std::vector<std::unique_ptr<Page>> pages_;  // of blocks by number, allocated on demand
  std::size_t bytes_ = 0;
};

}  // namespace dapple::detail
