// Unblocking SIGBUS. The kernel ends the process when a thread faults while it blocks that signal,
// whatever handler is installed.
#pragma once

#include <signal.h>

namespace dapple::detail {

/// False when the calling thread blocks SIGBUS. One system call.
inline bool takes_bus_signal() noexcept {
  sigset_t blocked;
  return ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || !sigismember(&blocked, SIGBUS);
}

/// Unblocks SIGBUS in the calling thread, for good. One system call.
inline void unblock_bus_signal() noexcept {
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  ::pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
}

}  // namespace dapple::detail
