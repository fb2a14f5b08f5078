// Loops over several threads. The only user of oneTBB.
#pragma once

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dapple::detail {

/// Most threads that a call with this `threads` option uses; 0 asks for one per processor. Never
/// more than there are processors: oneTBB has no such threads to give, and says so on stderr.
inline unsigned worker_limit(unsigned threads) {
  if (threads == 1) return 1;  // without waking oneTBB
  const auto processors =
      static_cast<unsigned>(std::max(1, oneapi::tbb::info::default_concurrency()));
  return threads != 0 ? std::min(threads, processors) : processors;
}

/// Calls f(i), or f(i, worker), once for each i < n, handing out the numbers in ascending order to
/// at most `worker_limit(threads)` workers; `worker` is below that limit, and no two calls with
/// the same worker overlap. With one worker everything runs in the calling thread. The first
/// exception ends the loop and is thrown here; calls already under way are waited for.
template <class F>
void parallel_for(std::uint64_t n, unsigned threads, const F& f) {
  const auto call = [&f](std::uint64_t i, unsigned worker) {
    if constexpr (std::invocable<const F&, std::uint64_t, unsigned>) {
      f(i, worker);
    } else {
      f(i);
    }
  };
  const auto workers = static_cast<unsigned>(std::min<std::uint64_t>(n, worker_limit(threads)));
  if (workers <= 1) {
    for (std::uint64_t i = 0; i < n; ++i) call(i, 0);
    return;
  }
  std::atomic<std::uint64_t> next{0};
  const auto work = [&](unsigned worker) {
    try {
      for (std::uint64_t i = next++; i < n; i = next++) call(i, worker);
    } catch (...) {
      next = n;  // nothing new is started
      throw;
    }
  };
  oneapi::tbb::task_arena arena(static_cast<int>(workers));
  arena.execute(
      [&] { oneapi::tbb::parallel_for(0U, workers, work, oneapi::tbb::simple_partitioner{}); });
}

/// The same in two steps: prepare(i, worker) side by side, then deliver(i, worker) one at a time
/// and in ascending order of i, so that what is delivered does not depend on the number of threads.
template <class Prepare, class Deliver>
void parallel_in_order(std::uint64_t n, unsigned threads, const Prepare& prepare,
                       const Deliver& deliver) {
  std::mutex mutex;  // guards what follows
  std::condition_variable turn;
  std::uint64_t next = 0;
  bool failed = false;
  parallel_for(n, threads, [&](std::uint64_t i, unsigned worker) {
    try {
      prepare(i, worker);
      std::unique_lock lock(mutex);
      // Numbers are handed out in ascending order, so the one waited for is under way.
      turn.wait(lock, [&] { return next == i || failed; });
      if (failed) return;
      deliver(i, worker);
      ++next;
    } catch (...) {
      {
        const std::lock_guard lock(mutex);
        failed = true;
      }
      turn.notify_all();
      throw;
    }
    turn.notify_all();
  });
}

}  // namespace dapple::detail
