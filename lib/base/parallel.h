// Loops over several threads. The only user of oneTBB.
#pragma once

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>

#include "lib/base/bus_signal.h"

namespace dapple::detail {

/// True in a child of fork if its parent has used several threads: oneTBB would wait for those of
/// its threads that it had there.
inline bool has_lost_threads() {
  static const pid_t starter = ::getpid();
  return ::getpid() != starter;
}

/// The number of threads that a call with this `threads` option uses at most; 0 asks for one per
/// processor. Never more than there are processors: oneTBB would warn on stderr.
inline unsigned worker_limit(unsigned threads) {
  if (threads == 1 || has_lost_threads()) return 1;  // without waking oneTBB
  const auto processors =
      static_cast<unsigned>(std::max(1, oneapi::tbb::info::default_concurrency()));
  return threads != 0 ? std::min(threads, processors) : processors;
}

// The thread sanitizer does not understand the fences that oneTBB uses to hand work to its threads
// and back, so each hand-over is announced. Workers are not inlined into oneTBB's functions, where
// reports are suppressed (tests/main.cpp).
#if defined(__SANITIZE_THREAD__)
#define DAPPLE_WORK [[gnu::noinline]]
inline void hand_over(const void* p) { __tsan_release(const_cast<void*>(p)); }
inline void take_over(const void* p) { __tsan_acquire(const_cast<void*>(p)); }
#else
#define DAPPLE_WORK
inline void hand_over(const void*) {}
inline void take_over(const void*) {}
#endif

/// The body of each worker of a loop: takes the next index until none is left.
template <class Call>
class Workers {
 public:
  Workers(std::uint64_t n, const Call& call)
      : n_(n), call_(call), takes_bus_signal_(takes_bus_signal()) {
    hand_over(this);
  }
  ~Workers() { take_over(this); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  DAPPLE_WORK void operator()(unsigned worker) const {
    take_over(this);
    if (takes_bus_signal_) unblock_bus_signal();  // it may read a guarded map, like the caller
    try {
      for (std::uint64_t i = next_++; i < n_; i = next_++) call_(i, worker);
    } catch (...) {
      next_ = n_;  // start no more calls
      failed_ = true;
      hand_over(this);
      throw;
    }
    hand_over(this);
  }
  /// A call threw.
  bool failed() const noexcept { return failed_; }

 private:
  const std::uint64_t n_;
  const Call& call_;
  const bool takes_bus_signal_;
  mutable std::atomic<std::uint64_t> next_{0};
  mutable std::atomic<bool> failed_{false};
};

/// Calls f(i), or f(i, worker), once for each i < n, handing out the numbers in ascending order to
/// at most `worker_limit(threads)` workers; `worker` is below that limit, and no two calls with
/// the same worker overlap. With one worker everything runs in the calling thread. The first
/// exception ends the loop and is rethrown here, after the calls under way have returned.
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
  const Workers work(n, call);
  try {
    // While it waits, this thread runs no task of the caller or of an outer loop, and no error of
    // theirs ends this loop. An arena for each call would do the same, but oneTBB gives arenas up
    // more slowly than short calls make them.
    oneapi::tbb::task_group_context context(oneapi::tbb::task_group_context::isolated);
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(0U, workers, work, oneapi::tbb::simple_partitioner{}, context);
    });
  } catch (const std::runtime_error&) {
    if (work.failed()) throw;
    work(0);  // no thread could be started: do the rest in this one
  }
}

/// Lets numbered steps of parallel work through one at a time, in ascending order.
class Turnstile {
 public:
  /// An earlier step failed, so this one's turn never comes.
  struct Closed {};

  /// Waits until all steps below `number` have left. Throws Closed.
  void enter(std::uint64_t number) {
    if (!has_come(number)) throw Closed{};
  }
  /// Waits like `enter`. False when the turn never comes.
  bool has_come(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return next_ == number || closed_; });
    return !closed_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    ++next_;
    moved_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    moved_.notify_all();
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable moved_;
  std::uint64_t next_ = 0;
  bool closed_ = false;
};

/// The ordered part of one step of `parallel_in_order`.
class Turn {
 public:
  Turn(Turnstile& stile, std::uint64_t number) : stile_(stile), number_(number) {}

  /// Calls f() when all steps before this one have done the same; at most once in a step.
  template <class F>
  void take(const F& f) {
    stile_.enter(number_);
    f();
    taken_ = true;
    stile_.leave();
  }
  bool taken() const noexcept { return taken_; }

 private:
  Turnstile& stile_;
  std::uint64_t number_;
  bool taken_ = false;
};

/// One step of the functions below: calls f(turn), and takes the turn if f does not. Rethrows an
/// error of `f` in the step's turn, unless an earlier step failed.
template <class F>
void run_in_turn(Turnstile& stile, std::uint64_t number, const F& f) {
  Turn turn(stile, number);
  try {
    f(turn);
    if (!turn.taken()) turn.take([] {});
  } catch (const Turnstile::Closed&) {
    return;  // the step that failed throws why
  } catch (...) {
    if (turn.taken() || stile.has_come(number)) {
      stile.close();
      throw;
    }
  }
}

/// As `parallel_for`, calling f(i, worker, turn). What f does inside `turn.take` happens in
/// ascending order of i, whatever the number of threads; the rest runs concurrently. Of several
/// exceptions thrown before or in a turn, the one of the lowest i is rethrown here.
template <class F>
void parallel_in_order(std::uint64_t n, unsigned threads, const F& f) {
  Turnstile stile;
  // Indices are handed out in ascending order, so any step that others wait for is running.
  parallel_for(n, threads, [&](std::uint64_t i, unsigned worker) {
    run_in_turn(stile, i, [&](Turn& turn) { f(i, worker, turn); });
  });
}

/// The same when the number of steps is not known: next(worker), called by one worker at a time,
/// prepares the step that this worker then runs with f(worker, turn), and returns false when there
/// are no more.
template <class Next, class F>
void parallel_stream(unsigned threads, const Next& next, const F& f) {
  Turnstile stile;
  std::mutex mutex;  // guards what follows
  std::uint64_t found = 0;
  bool done = false;
  parallel_for(worker_limit(threads), threads, [&](std::uint64_t, unsigned worker) {
    while (true) {
      std::unique_lock lock(mutex);
      if (done) return;
      run_in_turn(stile, found++, [&](Turn& turn) {
        try {
          const bool more = next(worker);
          done = !more;
          lock.unlock();
          if (more) f(worker, turn);
        } catch (...) {
          if (!lock.owns_lock()) lock.lock();
          done = true;
          lock.unlock();  // the step may have to wait for its turn
          throw;
        }
      });
    }
  });
}

}  // namespace dapple::detail
