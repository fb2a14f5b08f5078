// Work that several threads share.
#pragma once

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace dapple::picture {

/// Calls `work()` on that many threads, of which this is one, and throws what one of them threw.
/// 0: one per processor.
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
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(guarded);
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dapple::picture
