#include "interruptible.h"

#include <chrono>
#include <thread>

namespace pydapple {

void run_interruptibly(std::packaged_task<void()> task, const std::function<void()>& meanwhile) {
  std::future<void> done = task.get_future();
  std::thread([task = std::move(task)]() mutable {
    const AtWork at_work;
    task();
  }).detach();
  for (;;) {
    {
      nb::gil_scoped_release release;
      if (done.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
    }
    check_signals();
    if (meanwhile) meanwhile();
  }
  done.get();
}

}  // namespace pydapple
