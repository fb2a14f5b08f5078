// Where single rows of blocks are, so that rows at random cost no walk from their block's start.
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

/// The entries of a CSR block before every 8th row. A walk over the block's rows makes it; where it
/// comes from makes no difference to who uses it.
class RowDirectory {
 public:
  static constexpr std::uint64_t kStep = 8;

  RowDirectory() = default;
  /// Walks over the rows. Throws corrupt. O(rows).
  RowDirectory(const Store& store, const Entry& entry);

  /// At the last row known that is not after `row`: at most 7 rows above it.
  RowCursor cursor(std::uint64_t row) const noexcept {
    const std::uint64_t i = row / kStep;
    if (!words_.empty()) return {i * kStep, words_[i]};
    if (!halves_.empty()) return {i * kStep, halves_[i]};
    return {};
  }
  void prefetch(std::uint64_t row) const noexcept {
    if (!halves_.empty()) __builtin_prefetch(&halves_[row / kStep]);
    if (!words_.empty()) __builtin_prefetch(&words_[row / kStep]);
  }
  std::size_t bytes() const noexcept { return halves_.size() * 4 + words_.size() * 8; }
  /// What one for so many rows takes at most.
  static std::uint64_t bytes_for(std::uint64_t rows) noexcept { return (rows / kStep + 1) * 8; }

 private:
  Array<std::uint32_t> halves_;  // one of them, by the number of entries
  Array<std::uint64_t> words_;
};

/// A block whose rows are asked for.
struct BlockRows {
  const std::byte* data = nullptr;  // dense values in place, or rows as they are in a CSR block
  std::size_t row_step = 0;         // of dense values in place
  bool by_row = false;              // a CSR block whose codec finds rows by a cursor
  Entry entry;                      // confirmed; a copy, so that it stays
  RowDirectory directory;
  mutable std::atomic<std::uint64_t> used{0};
};

/// The blocks whose rows were asked for lately, in bounded memory. Any thread.
class RowAccess {
 public:
  explicit RowAccess(const Store& store, std::size_t budget = std::size_t{64} << 20);

  /// Makes those of these blocks that are not there, and may forget others. Throws corrupt, io.
  void make(std::span<const std::uint64_t> numbers);

  /// While this lives, what it finds stays.
  class Reader {
   public:
    explicit Reader(const RowAccess& access) : access_(access), lock_(access.mutex_) {}
    /// nullptr when it was not made, or is forgotten.
    const BlockRows* find(std::uint64_t number) const noexcept;

   private:
    const RowAccess& access_;
    std::shared_lock<std::shared_mutex> lock_;
  };

  /// One that is not kept.
  std::unique_ptr<BlockRows> load(std::uint64_t number) const;

  /// Bytes that are kept.
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
  std::vector<std::unique_ptr<Page>> pages_;  // of blocks by number, made as they are needed
  std::size_t bytes_ = 0;
};

}  // namespace dapple::detail
