// Bytes and tables that were made from a file and may be needed again, in bounded memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace dapple::detail {

/// What is kept: what somebody made, and about how many bytes it takes.
struct Cached {
  std::shared_ptr<const void> value;
  std::size_t bytes = 0;
};

/// The least recently used are dropped when the rest exceeds the budget; whoever holds one of them
/// keeps it alive. What takes more than half of the budget would push most of the others out: of
/// such, the last one is kept beside them. Any thread.
class BlockCache {
 public:
  /// Things of one key are the same.
  struct Key {
    std::uint64_t source;  // ByteSource::number, or another serial number
    std::uint64_t offset;
    friend bool operator==(const Key&, const Key&) = default;
  };
  using Make = std::function<Cached()>;

  explicit BlockCache(std::uint64_t budget) noexcept : budget_(budget) {}
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// What is kept under this key; otherwise what `make` makes, which is kept from then on. If
  /// several threads ask at once, one makes it and the others wait. Throws what `make` throws, to
  /// all of them. REQUIRES that `make` asks for nothing that waits for this key.
  Cached get(const Key& key, const Make& make);
  /// An empty one when nothing is kept.
  Cached find(const Key& key);
  /// Drops all that belongs to a source.
  void forget(std::uint64_t source) noexcept;

  std::uint64_t budget() const noexcept { return budget_; }
  /// How many bytes all that is kept takes, but what takes more than half of the budget.
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Making;
  struct Node {
    Key key;
    Cached cached;                   // unless it is being made
    std::shared_ptr<Making> making;  // while it is
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  using Nodes = std::list<Node>;  // recently used first
  struct Shard {
    std::mutex mutex;
    Nodes nodes;
    std::unordered_map<Key, Nodes::iterator, Hash> places;
  };
  static constexpr std::size_t kShards = 8;

  Shard& shard_of(const Key& key) noexcept { return shards_[Hash{}(key) / 64 % kShards]; }
  void finish(Shard& shard, const Key& key, const std::shared_ptr<Making>& making,
              const Cached& made);
  void drop_oldest(Shard& first) noexcept;
  Cached find_large(const Key& key);
  Cached keep_large(const Key& key, Cached made) noexcept;

  const std::uint64_t budget_;
  std::atomic<std::uint64_t> bytes_{0};
  std::array<Shard, kShards> shards_;
  std::mutex large_mutex_;  // locked after that of a shard
  std::pair<Key, Cached> large_{};
};

/// The one cache of the process, which all opened objects share.
BlockCache& block_cache() noexcept;

}  // namespace dapple::detail
