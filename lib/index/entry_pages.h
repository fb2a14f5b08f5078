// Index entries that are made on demand, for formats whose files have tables of their own: opening
// one costs the same however many blocks it has.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dapple/blocked_object.h"
#include "lib/index/entry.h"

namespace dapple::detail {

/// Makes the entries of a format's blocks. Any thread.
class EntryMaker {
 public:
  virtual ~EntryMaker() = default;
  /// Entry `number`. Throws corrupt.
  virtual Entry make(std::uint64_t number) const = 0;
  /// Blocks by kind; may take time linear in their number. Throws corrupt.
  virtual BlockCounts counts() const = 0;
};

/// Any thread. Entries stay at their addresses.
class EntryPages {
 public:
  EntryPages(std::unique_ptr<const EntryMaker> maker, std::uint64_t count);
  ~EntryPages();
  EntryPages(const EntryPages&) = delete;
  EntryPages& operator=(const EntryPages&) = delete;

  /// The 64 bytes of entry `number`. Takes a lock only the first time. Throws what the maker
  /// throws. REQUIRES number < count.
  const std::byte* at(std::uint64_t number);

  std::uint64_t size() const noexcept { return count_; }
  BlockCounts counts() const { return maker_->counts(); }

  /// The number of the i-th block in file order. The first call costs O(n log n), but keeps no
  /// entries.
  std::uint64_t in_file_order(std::uint64_t i);

 private:
  static constexpr std::uint64_t kPerPage = 64;
  struct Page {
    std::atomic<std::uint64_t> made{0};  // a bit per entry
    alignas(64) std::byte entries[kPerPage * Entry::kBytes];
  };
  struct Free {
    void operator()(std::atomic<Page*>* pages) const noexcept;
  };

  std::unique_ptr<const EntryMaker> maker_;
  std::uint64_t count_;
  // From calloc: pages of null pointers cost no memory until they are touched.
  std::unique_ptr<std::atomic<Page*>, Free> pages_;
  std::mutex mutex_;  // held while an entry is made
  std::once_flag ordered_;
  std::vector<std::uint64_t> order_;
};

}  // namespace dapple::detail
