// Long work of the library that looks at no signals itself, such as a product with a large matrix.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "at_work.h"
#include "core.h"

namespace pydapple {

/// Stored values from which work takes so long that Ctrl-C must be seen meanwhile: some tenths of a
/// second. Below, starting a thread would be what takes long.
inline constexpr std::uint64_t kLongWork = std::uint64_t{1} << 26;

/// Waits for a task in a thread of its own, and looks at signals and calls `meanwhile`, with the
/// GIL, while it does.
void run_interruptibly(std::packaged_task<void()> task, const std::function<void()>& meanwhile);

/// What work() gives, computed without the GIL. Where it is `long_work`, a thread of its own
/// computes while this one looks at signals, and calls `meanwhile` some times a second; after
/// Ctrl-C nobody waits for it, so `work` must own all that it uses, and may use nothing of Python.
template <class F>
auto interruptible(bool long_work, F work, const std::function<void()>& meanwhile = {}) {
  if (!long_work) {
    const WithoutGil release;
    return work();
  }
  using Result = decltype(work());
  if constexpr (std::is_void_v<Result>) {
    run_interruptibly(std::packaged_task<void()>(std::move(work)), meanwhile);
  } else {
    const auto result = std::make_shared<std::optional<Result>>();
    run_interruptibly(std::packaged_task<void()>(
                          [work = std::move(work), result]() mutable { result->emplace(work()); }),
                      meanwhile);
    return std::move(**result);
  }
}

}  // namespace pydapple
