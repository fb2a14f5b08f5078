// Where the entries of a block index live: in the mapped file, in a table in memory, or nowhere:
// then each is made when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "dapple/array.h"
#include "dapple/region.h"
#include "lib/index/entry.h"
#include "lib/io/byte_source.h"

namespace dapple::detail {

/// Entries in memory, 64 bytes each, aligned to 64, in huge pages when there are many.
class EntryTable {
 public:
  EntryTable() = default;
  EntryTable(const EntryTable&) = default;
  EntryTable(EntryTable&& other) noexcept { swap(other); }
  EntryTable& operator=(EntryTable other) noexcept {
    swap(other);
    return *this;
  }
  ~EntryTable() = default;

  void reserve(std::uint64_t n);
  void push_back(const Entry& entry) {
    if (size_ == lines_.size()) grow();
    store_entry(lines_[size_++].bytes, entry);
  }
  std::uint64_t size() const noexcept { return size_; }
  const std::byte* data() const noexcept {
    return reinterpret_cast<const std::byte*>(lines_.data());
  }
  Entry operator[](std::uint64_t i) const noexcept {
    return load_entry(data() + i * Entry::kBytes);
  }
  void set(std::uint64_t i, const Entry& entry) noexcept { store_entry(lines_[i].bytes, entry); }
  void pop_back() noexcept { --size_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static_assert(sizeof(Line) == Entry::kBytes);
  void swap(EntryTable& other) noexcept {
    lines_.swap(other.lines_);
    std::swap(size_, other.size_);
  }
  void grow();

  Array<Line> lines_;  // the first size_ are in use
  std::uint64_t size_ = 0;
};

/// Makes entries on demand, of a format whose files have tables of their own: opening one costs the
/// same however many blocks it has. Any thread.
class EntryMaker {
 public:
  virtual ~EntryMaker() = default;
  /// Entry `number`. Throws corrupt.
  virtual Entry make(std::uint64_t number) const = 0;

  /// The numbers of all `n` blocks in the order of the file. O(n log n) the first time. Throws
  /// corrupt.
  const std::vector<std::uint64_t>& file_order(std::uint64_t n) const;

 private:
  mutable std::once_flag ordered_;
  mutable std::vector<std::uint64_t> order_;
};

/// Moved, not copied: a copy would point into the table of the other.
class Entries {
 public:
  /// None.
  Entries() = default;
  Entries(Entries&&) = default;
  Entries& operator=(Entries&&) = default;
  explicit Entries(EntryTable table)
      : size_(table.size()), table_(std::move(table)), memory_(table_.data()) {}
  /// `n` entries in a mapped file, from byte `first` on.
  Entries(std::shared_ptr<const ByteSource> file, std::uint64_t first, std::uint64_t n)
      : size_(n), file_(std::move(file)), first_(first) {}
  /// `n` entries that are made on demand.
  Entries(std::unique_ptr<const EntryMaker> maker, std::uint64_t n)
      : size_(n), maker_(std::move(maker)) {}

  std::uint64_t size() const noexcept { return size_; }
  /// The file that holds the entries, or nullptr. If it is changed in place, reading an entry twice
  /// may give different results.
  const std::shared_ptr<const ByteSource>& file() const noexcept { return file_; }
  /// What makes them on demand, or nullptr.
  const EntryMaker* maker() const noexcept { return maker_.get(); }
  /// Where entry `number` is in the file.
  std::uint64_t byte_of(std::uint64_t number) const noexcept {
    return first_ + number * Entry::kBytes;
  }

  /// REQUIRES number < size(). Making one on demand may throw.
  Entry operator[](std::uint64_t number) const {
    const std::byte* p = memory_ != nullptr ? memory_ + number * Entry::kBytes : nullptr;
    if (file_ != nullptr) p = file_->at(byte_of(number), Entry::kBytes);
    return p != nullptr ? load_entry(p) : maker_->make(number);
  }
  /// A hint that these entries are looked at next: those far away are fetched at once.
  void will_need(std::span<const std::uint64_t> numbers) const noexcept;
  /// The bytes of all. REQUIRES a table in memory.
  std::span<const std::byte> bytes() const noexcept { return {memory_, size_ * Entry::kBytes}; }

 private:
  std::uint64_t size_ = 0;
  EntryTable table_;
  const std::byte* memory_ = nullptr;  // the table's bytes
  std::shared_ptr<const ByteSource> file_;
  std::uint64_t first_ = 0;
  std::unique_ptr<const EntryMaker> maker_;
};

}  // namespace dapple::detail
