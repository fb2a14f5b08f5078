#include "lib/cache/block_cache.h"

#include <condition_variable>
#include <exception>
#include <utility>

namespace dapple::detail {

/// What others wait for.
struct BlockCache::Making {
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;
  Cached made;
  std::exception_ptr error;

  void set(const Cached& result, std::exception_ptr failure) noexcept {
    {
      const std::lock_guard lock(mutex);
      made = result;
      error = std::move(failure);
      done = true;
    }
    done_changed.notify_all();
  }
  Cached wait() {
    std::unique_lock lock(mutex);
    done_changed.wait(lock, [this] { return done; });
    if (error != nullptr) std::rethrow_exception(error);
    return made;
  }
};

BlockCache::~BlockCache() = default;

std::size_t BlockCache::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t h = key.source * 0x9e3779b97f4a7c15u + key.offset;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;  // a multiplicative mix of 64 bits
  return static_cast<std::size_t>(h ^ (h >> 29));
}

Cached BlockCache::find(const Key& key) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.places.find(key);
  if (found == shard.places.end()) return find_large(key);
  if (found->second->making != nullptr) return {};
  shard.nodes.splice(shard.nodes.begin(), shard.nodes, found->second);
  return found->second->cached;
}

Cached BlockCache::get(const Key& key, const Make& make) {
  Shard& shard = shard_of(key);
  std::shared_ptr<Making> making;
  bool mine = false;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.places.find(key);
    if (found == shard.places.end()) {
      if (Cached large = find_large(key); large.value != nullptr) return large;
      making = std::make_shared<Making>();
      shard.nodes.push_front({key, {}, making});
      shard.places.emplace(key, shard.nodes.begin());
      mine = true;
    } else if (found->second->making != nullptr) {
      making = found->second->making;
    } else {
      shard.nodes.splice(shard.nodes.begin(), shard.nodes, found->second);
      return found->second->cached;
    }
  }
  if (!mine) return making->wait();
  try {
    const Cached made = make();
    finish(shard, key, making, made);
    making->set(made, nullptr);
    return made;
  } catch (...) {
    finish(shard, key, making, {});
    making->set({}, std::current_exception());
    throw;
  }
}

/// Keeps what was made; drops the node when there is nothing to keep, or nothing of the source any
/// more.
void BlockCache::finish(Shard& shard, const Key& key, const std::shared_ptr<Making>& making,
                        const Cached& made) {
  Cached dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.places.find(key);
    if (found == shard.places.end() || found->second->making != making) return;
    if (made.value == nullptr || made.bytes > budget_ / 2) {
      if (made.value != nullptr) dropped = keep_large(key, made);
      shard.nodes.erase(found->second);
      shard.places.erase(found);
      return;
    }
    found->second->cached = made;
    found->second->making = nullptr;
    bytes_ += made.bytes;
  }
  drop_oldest(shard);
}

/// Drops the least recently used of this shard, then of the others, until the rest is within the
/// budget.
void BlockCache::drop_oldest(Shard& first) noexcept {
  for (std::size_t i = 0; i < kShards && bytes() > budget_; ++i) {
    Shard& shard = shards_[(static_cast<std::size_t>(&first - shards_.data()) + i) % kShards];
    Nodes dropped;  // destroyed without the lock
    const std::lock_guard lock(shard.mutex);
    const std::size_t kept = i == 0 ? 1 : 0;  // what was just made stays
    for (auto node = shard.nodes.end(); bytes() > budget_ && shard.nodes.size() > kept;) {
      if (node == shard.nodes.begin()) break;
      --node;
      if (node->making != nullptr) continue;
      bytes_ -= node->cached.bytes;
      shard.places.erase(node->key);
      const auto next = std::next(node);
      dropped.splice(dropped.end(), shard.nodes, node);
      node = next;
    }
  }
}

Cached BlockCache::find_large(const Key& key) {
  const std::lock_guard lock(large_mutex_);
  return large_.first == key ? large_.second : Cached{};
}

/// Gives the one before.
Cached BlockCache::keep_large(const Key& key, Cached made) noexcept {
  const std::lock_guard lock(large_mutex_);
  large_.first = key;
  return std::exchange(large_.second, std::move(made));
}

void BlockCache::forget(std::uint64_t source) noexcept {
  Cached large;  // destroyed without the lock
  {
    const std::lock_guard lock(large_mutex_);
    if (large_.first.source == source) large = std::exchange(large_.second, {});
  }
  for (Shard& shard : shards_) {
    Nodes dropped;
    const std::lock_guard lock(shard.mutex);
    for (auto node = shard.nodes.begin(); node != shard.nodes.end();) {
      const auto next = std::next(node);
      if (node->key.source == source) {
        if (node->making == nullptr) bytes_ -= node->cached.bytes;
        shard.places.erase(node->key);
        dropped.splice(dropped.end(), shard.nodes, node);
      }
      node = next;
    }
  }
}

BlockCache& block_cache() noexcept {
  // Never destroyed: threads may still read when the process ends, and of what is kept some is
  // Python's, which has ended before.
  static auto& cache = *new BlockCache(std::uint64_t{256} << 20);
  return cache;
}

}  // namespace dapple::detail
