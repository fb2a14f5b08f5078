// Long work of the library that looks at no signals itself, such as a product with a large matrix.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "at_work.h"
#include "core.h"

namespace pydapple {

/// Stored values from which work takes so long that Ctrl-C must be seen meanwhile: some tenths of a
/// second. Below, starting a thread would be what takes long.
inline constexpr std::uint64_t kLongWork = std::uint64_t{1} << 26;

/// What work() gives, computed without the GIL. Where it is `long_work`, a thread of its own
/// computes while this one looks at signals; after Ctrl-C nobody waits for it, so `work` must own
/// all that it uses, and may use nothing of Python.
template <class F>
auto interruptible(bool long_work, F work) {
  if (!long_work) {
    const WithoutGil release;
    return work();
  }
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto result = task.get_future();
  std::thread([task = std::move(task)]() mutable {
    const AtWork at_work;
    task();
  }).detach();
  for (;;) {
    {
      nb::gil_scoped_release release;
      if (result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
    }
    check_signals();
  }
  return result.get();
}

}  // namespace pydapple
