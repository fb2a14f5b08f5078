// A race in what two workers of a loop do, which the thread sanitizer has to report although it
// passes over oneTBB's own code (main.cpp): this program must fail.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "lib/base/parallel.h"

TEST_CASE("a race between the tasks of a loop") {
  if (dapple::detail::worker_limit(2) < 2) {
    std::puts("one processor, on which nothing races");
    std::fflush(stdout);
    std::_Exit(77);  // skipped, says Meson
  }
  int unguarded = 0;
  // One worker alone may take both steps of a loop, although the first waits a while for the other;
  // and of two accesses at the very same moment the sanitizer may miss one.
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::atomic<unsigned> started{0};
    dapple::detail::parallel_for(2, 2, [&](std::uint64_t) {
      ++started;
      for (int spin = 0; spin < 1'000'000 && started < 2;) ++spin;
      unguarded = unguarded + 1;
    });
  }
  CHECK(unguarded > 0);
}
