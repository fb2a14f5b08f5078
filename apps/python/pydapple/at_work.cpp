#include "at_work.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace pydapple {

namespace nb = nanobind;

namespace {

struct Gate {
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  unsigned at_work = 0;  // threads
  unsigned forks = 0;
};

/// Never destroyed: threads may be at work when the process ends.
Gate* gate = new Gate;

/// A call that takes longer than this may be waiting for what the fork itself would bring about.
constexpr std::chrono::seconds kLongestWait{10};

void before_fork() {
  const nb::gil_scoped_release release;
  std::unique_lock lock(gate->mutex);
  ++gate->forks;
  gate->changed.wait_for(lock, kLongestWait, [] { return gate->at_work == 0; });
}

void after_fork_in_parent() {
  const std::lock_guard lock(gate->mutex);
  --gate->forks;
  gate->changed.notify_all();
}

/// The threads that waited at the old gate are gone.
void after_fork_in_child() { gate = new Gate; }

}  // namespace

void enter_library() {
  std::unique_lock lock(gate->mutex);
  gate->changed.wait(lock, [] { return gate->forks == 0; });
  ++gate->at_work;
}

void leave_library() noexcept {
  const std::lock_guard lock(gate->mutex);
  if (--gate->at_work == 0 && gate->forks > 0) gate->changed.notify_all();
}

void watch_forks() {
  nb::module_::import_("os").attr("register_at_fork")(
      nb::arg("before") = nb::cpp_function(&before_fork),
      nb::arg("after_in_parent") = nb::cpp_function(&after_fork_in_parent),
      nb::arg("after_in_child") = nb::cpp_function(&after_fork_in_child));
}

}  // namespace pydapple
