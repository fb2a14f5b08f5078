// Calls of the library without the GIL, and what a fork does meanwhile.
//
// A child of fork has one thread. The locks that other threads held at that moment would stay
// locked there forever, over things that are half made. So os.fork waits until no call is under
// way, and calls that start meanwhile wait for the fork.
#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

#include <optional>

namespace pydapple {

/// What take() gives, which waits for the GIL. Where the interpreter has ended meanwhile, Python up
/// to 3.13 unwinds the thread, which C++ above would not survive: it stays here until the process
/// ends.
template <class Take>
auto with_gil(const Take& take) noexcept {
  try {
    return take();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// The calling thread starts and ends to use the library. Called without the GIL.
void enter_library();
void leave_library() noexcept;

/// While it lives, this thread calls the library without the GIL.
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) { enter_library(); }
  ~WithoutGil() {
    leave_library();
    with_gil([this] { PyEval_RestoreThread(thread_); });
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* thread_;
};

/// The same, if there may be something to wait for; otherwise the GIL is kept, which is quicker.
class ReleaseIf {
 public:
  explicit ReleaseIf(bool waits) {
    if (waits) release_.emplace();
  }

 private:
  std::optional<WithoutGil> release_;
};

/// What WithoutGil is, for a thread that Python does not know.
class AtWork {
 public:
  AtWork() { enter_library(); }
  ~AtWork() { leave_library(); }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};

/// While it lives, the library waits for a callback, which may itself fork. Outlives the GIL that
/// the callback takes: who holds the GIL must not wait for a fork.
class InCallback {
 public:
  InCallback() noexcept { leave_library(); }
  ~InCallback() { enter_library(); }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;
};

/// While it lives, the calling thread holds the GIL.
class WithGil {
 public:
  WithGil() : state_(with_gil(&PyGILState_Ensure)) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Has os.fork wait. Called once, with the GIL.
void watch_forks();

}  // namespace pydapple
