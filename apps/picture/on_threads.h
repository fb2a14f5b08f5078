// Work that several threads share.
#pragma once

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace dapple::picture {

/// Calls `work()` on that many threads, of which this is one, and throws what one of them threw.
/// 0: one per processor. On fewer where the system starts no more.
template <class Work>
void on_threads(unsigned threads, const Work& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < threads) others.emplace_back(guarded);
    } catch (const std::system_error&) {  // those that there are do the rest
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dapple::picture
