// Which parts of a mapped file are in memory, as far as asking costs little.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dapple::detail {

/// Asking the system to read bytes that are in memory costs a tenth of what summing them does, so
/// it is found out first whether they are: once per window of 2 MiB, as a whole, since that is a
/// system call, too. A hint: pages may leave memory again. Any thread.
class Residency {
 public:
  /// Of the file that is mapped at `base`.
  Residency(const std::byte* base, std::uint64_t size) noexcept;

  /// True when these bytes are likely to be in memory. REQUIRES 0 < n, bytes of the file.
  bool holds(std::uint64_t offset, std::uint64_t n) noexcept;

 private:
  enum class State : std::uint8_t { unknown, in_memory, in_part };  // zero is unknown
  struct Free {
    void operator()(std::atomic<State>* states) const noexcept {
      std::free(static_cast<void*>(states));
    }
  };
  bool holds_window(std::uint64_t window) noexcept;

  const std::byte* base_;
  std::uint64_t size_;
  std::unique_ptr<std::atomic<State>[], Free> states_;  // untouched ones cost no memory
};

}  // namespace dapple::detail
