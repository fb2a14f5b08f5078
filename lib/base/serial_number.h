// Numbers that tell things of one process apart.
#pragma once

#include <atomic>
#include <cstdint>

namespace dapple::detail {

/// A number that no earlier call gave. Any thread.
inline std::uint64_t serial_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace dapple::detail
