#include "lib/base/parallel.h"

#include <unistd.h>

#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/at_once.h"
#include "tests/check.h"
#include "tests/children.h"

using namespace dapple::detail;

namespace {

/// Pages of memory that this process has in use.
long resident_pages() {
  long size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

}  // namespace

TEST_CASE("parallel: every number is handed out once, and workers never overlap") {
  for (const unsigned threads : {0U, 1U, 2U, 64U}) {
    std::vector<std::atomic<int>> calls(1000), busy(worker_limit(threads));
    std::atomic<bool> overlap = false;
    parallel_for(calls.size(), threads, [&](std::uint64_t i, unsigned worker) {
      if (busy.at(worker)++ != 0) overlap = true;
      ++calls[i];
      --busy[worker];
    });
    CHECK_FALSE(overlap);
    for (const auto& n : calls) REQUIRE(n == 1);
  }
}

TEST_CASE("parallel: turns come in ascending order, whether they are taken or not") {
  for (const unsigned threads : {0U, 1U, 2U, 64U}) {
    std::vector<std::uint64_t> order;
    parallel_in_order(2000, threads, [&](std::uint64_t i, unsigned, Turn& turn) {
      if (i % 7 == 3) return;
      turn.take([&] { order.push_back(i); });  // no lock: turns do not overlap
    });
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      if (i % 7 != 3) wanted.push_back(i);
    }
    CHECK(order == wanted);
  }
}

TEST_CASE("parallel: a step that fails ends the others, and its exception comes out") {
  for (const unsigned threads : {1U, 2U, 64U}) {
    for (const std::uint64_t bad : {0U, 1U, 500U, 1999U}) {
      for (const bool in_turn : {false, true}) {
        std::uint64_t taken = 0;
        const auto run = [&] {
          parallel_in_order(2000, threads, [&](std::uint64_t i, unsigned, Turn& turn) {
            if (i == bad && !in_turn) throw std::runtime_error("before its turn");
            turn.take([&] {
              if (i == bad) throw std::runtime_error("in its turn");
              ++taken;
            });
          });
        };
        CHECK_THROWS_AS(run(), std::runtime_error);
        CHECK(taken == bad);
      }
    }
  }
}

TEST_CASE("parallel: of several steps that fail, the first is heard") {
  for (int i = 0; i < 200; ++i) {
    const auto run = [] {
      parallel_in_order(100, 0, [](std::uint64_t n, unsigned, Turn&) {
        if (n >= 20) throw std::runtime_error(std::to_string(n));
      });
    };
    CHECK_THROWS_WITH(run(), "20");
  }
}

TEST_CASE("parallel: a child of fork works alone where its parent has used several threads") {
  parallel_for(100, 2, [](std::uint64_t) {});
  const pid_t child = dapple::test::start_child([] {
    alarm(60);  // instead of waiting for threads that are not there
    std::uint64_t sum = 0;
    parallel_for(100, 2, [&](std::uint64_t i) { sum += i; });  // no lock: one thread
    return sum == 4950 && worker_limit(2) == 1 ? 0 : 1;
  });
  CHECK(dapple::test::status_of(child) == 0);
}

// Each call once made an arena of 7 KB, which oneTBB kept as long as calls followed each other, and
// searched for work at every call.
TEST_CASE("parallel: short calls in quick succession leave no memory behind") {
  std::atomic<std::uint64_t> sum = 0;
  const auto call = [&] { parallel_for(4, 2, [&](std::uint64_t i) { sum += i; }); };
  for (int k = 0; k < 100; ++k) call();
  const long before = resident_pages();
  for (int k = 0; k < 8000; ++k) call();
  CHECK(sum == 8100U * 6);
  CHECK((resident_pages() - before) * ::sysconf(_SC_PAGESIZE) < 16L << 20);
}

// A caller may hold a lock that its other tasks wait for.
TEST_CASE("parallel: a thread that waits for a loop runs nothing else") {
  thread_local bool caller = false;
  caller = true;
  std::atomic<bool> started = false, nested = false;
  std::atomic<int> others = 0;
  parallel_for(2, 2, [&](std::uint64_t) {
    if (caller) {
      for (int k = 0; k < 1000 && !started; ++k) ::usleep(100);
      return;
    }
    started = true;
    ++others;
    oneapi::tbb::this_task_arena::enqueue([&] {
      nested = caller;
      --others;
    });
    ::usleep(20'000);  // the caller waits
  });
  caller = false;
  while (others != 0) ::usleep(100);
  CHECK_FALSE(nested);
}

TEST_CASE("parallel: a loop of a task that was cancelled is not cut short") {
  std::atomic<int> done = 0;
  oneapi::tbb::task_group group;
  group.run_and_wait([&] {
    group.cancel();
    parallel_for(100, 2, [&](std::uint64_t) { ++done; });
  });
  CHECK(done == 100);
}

TEST_CASE("at once: every number is called once, and an error ends the loop") {
  std::vector<std::atomic<int>> calls(100);
  std::atomic<int> running{0}, most{0};
  at_once(calls.size(), [&](std::uint64_t i) {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++calls[i];
    --running;
  });
  for (const auto& count : calls) CHECK(count == 1);
  CHECK(most > 1);
  CHECK(most <= static_cast<int>(kAtOnce));
  std::atomic<int> begun{0};
  CHECK_THROWS_WITH(at_once(1000,
                            [&](std::uint64_t i) {
                              ++begun;
                              if (i == 5) throw std::runtime_error("five");
                              std::this_thread::sleep_for(std::chrono::milliseconds(2));
                            }),
                    "five");
  CHECK(begun < 1000);
  at_once(0, [](std::uint64_t) { FAIL("there is nothing to call"); });
}
