#include "interruptible.h"

#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

namespace pydapple {

void run_interruptibly(std::packaged_task<void()> task, const std::function<void()>& meanwhile) {
  std::future<void> done = task.get_future();
  const auto shared = std::make_shared<std::packaged_task<void()>>(std::move(task));
  try {
    std::thread([shared] {
      const AtWork at_work;
      (*shared)();
    }).detach();
  } catch (const std::system_error&) {  // there are no more threads: signals wait
    const WithoutGil release;
    (*shared)();
  }
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
