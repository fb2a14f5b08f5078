// Calls that wait for something far away, many at once, or while something else is done.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace dapple::detail {

/// Calls that are under way at one time.
inline constexpr std::uint64_t kAtOnce = 16;

/// Calls f(i) once for each i < n, in threads of their own, whatever the number of processors: they
/// mostly wait. The first exception ends the loop and is rethrown here, after the calls under way
/// have returned.
template <class F>
void at_once(std::uint64_t n, const F& f) {
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (std::uint64_t i = next++; i < n; i = next++) f(i);
    } catch (...) {
      next = n;  // start no more calls
      const std::lock_guard lock(mutex);
      if (error == nullptr) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      while (threads.size() + 1 < std::min(n, kAtOnce)) threads.emplace_back(work);
    } catch (const std::system_error&) {  // those that there are do the rest
    }
    work();
  }
  if (error != nullptr) std::rethrow_exception(error);
}

/// Makes a call that waits in a thread of its own while this lives; what it throws is lost. In this
/// thread, before anything else, where none can be started.
class Meanwhile {
 public:
  template <class F>
  explicit Meanwhile(const F& f) {
    const auto quietly = [f] {
      try {
        f();
      } catch (...) {
      }
    };
    try {
      thread_ = std::jthread(quietly);
    } catch (const std::system_error&) {
      quietly();
    }
  }

 private:
  std::jthread thread_;
};

}  // namespace dapple::detail
