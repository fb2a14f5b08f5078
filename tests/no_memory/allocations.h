// Memory that runs out, at whichever allocation of a thread.
#pragma once

#include <cstdint>
#include <new>

#include "dapple/error.h"

namespace dapple::test {

/// `n` more allocations of this thread succeed, and the one after them fails.
void fail_after(std::uint64_t n);

/// From here on none fails. True when one did.
bool stop_failing();

/// How many objects were made with new and are there.
std::int64_t live_objects();

/// Runs `f` while the allocation after the next `n` fails. True when there was one.
template <class F>
bool fails_after(std::uint64_t n, const F& f) {
  fail_after(n);
  f();
  return stop_failing();
}

/// Runs `f`; false when it threw for want of memory, or because of that before.
template <class F>
bool succeeds(const F& f) {
  try {
    f();
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const Error&) {
  }
  return false;
}

}  // namespace dapple::test
