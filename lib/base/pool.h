// A pool of objects that are costly to make.
#pragma once

#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace dapple::detail {

/// Thread-safe.
template <class T>
class Pool {
 public:
  /// Returns one that was given back, or a new one.
  T take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return T();
    T object = std::move(free_.back());
    free_.pop_back();
    return object;
  }

  /// Keeps the object for reuse; destroys it when there is no memory to keep it.
  void give_back(T object) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      free_.push_back(std::move(object));
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  std::mutex mutex_;
  std::vector<T> free_;
};

}  // namespace dapple::detail
