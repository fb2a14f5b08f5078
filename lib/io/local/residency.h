// Which parts of a mapped file are in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dapple::detail {

/// Spares needless prefetching: madvise on resident pages costs a tenth of summing their values.
/// A hint: of large pieces one page answers for all, and the answer for a window of 256 KiB that is
/// in memory is kept, though pages may be evicted later. Any thread.
class Residency {
 public:
  /// For the file that is mapped at `base`.
  Residency(const std::byte* base, std::uint64_t size) noexcept;

  /// True when these bytes are probably in memory. REQUIRES n > 0, and that they are in the file.
  bool holds(std::uint64_t offset, std::uint64_t n) noexcept;
  /// True when all windows are known to be in memory.
  bool holds_all() const noexcept { return in_memory_.load(std::memory_order_relaxed) == windows_; }
  /// Forgets what is known if that is older than a second.
  void refresh() noexcept;

 private:
  enum class State : std::uint8_t { unknown, in_memory, in_part };  // zero is unknown
  struct Free {
    void operator()(std::atomic<State>* states) const noexcept {
      std::free(static_cast<void*>(states));
    }
  };
  bool in_memory(std::uint64_t offset, std::uint64_t n) const noexcept;
  void look_at(std::uint64_t window) noexcept;

  const std::byte* base_;
  std::uint64_t size_, page_, windows_;
  std::unique_ptr<std::atomic<State>[], Free> states_;  // calloc: untouched pages cost no memory
  std::atomic<std::uint64_t> in_memory_{0};             // windows in that state
  std::atomic<std::int64_t> refreshed_{0};              // when, in milliseconds
};

}  // namespace dapple::detail
