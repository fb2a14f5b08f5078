// Objects that are costly to make, used by one thread after the other.
#pragma once

#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace dapple::detail {

/// Any thread.
template <class T>
class Pool {
 public:
  /// One that was given back, or a new one. Throws what making it does.
  T take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return T();
    T object = std::move(free_.back());
    free_.pop_back();
    return object;
  }

  /// That there is no memory to keep it is no error.
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
