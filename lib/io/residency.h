// Which parts of a mapped file are in memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace dapple::detail {

/// Spares needless prefetching: madvise on resident pages costs a tenth of summing their values.
/// A hint: of large pieces one page stands for all, and the answer for a window of 256 KiB that is
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
  /// True while the system takes pages away that were used a second or two before: then what was
  /// asked for may be gone again, and no answer is kept. `used` is a place that is about to be
  /// read. Refreshes; takes some 10 ns.
  bool loses_pages(std::uint64_t used) noexcept {
    remember(used);
    refresh();
    return loses_pages_.load(std::memory_order_relaxed);
  }

 private:
  enum class State : std::uint8_t { unknown, in_memory, in_part };  // zero is unknown
  struct Free {
    void operator()(std::atomic<State>* states) const noexcept {
      std::free(static_cast<void*>(states));
    }
  };
  bool in_memory(std::uint64_t offset, std::uint64_t n) const noexcept;
  void look_at(std::uint64_t window) noexcept;
  void remember(std::uint64_t used) noexcept {
    if (used >= size_ || used_count_.load(std::memory_order_relaxed) >= used_.size()) return;
    const std::uint32_t at = used_count_.fetch_add(1, std::memory_order_relaxed);
    if (at < used_.size()) used_[at].store(used, std::memory_order_relaxed);
  }

  const std::byte* base_;
  std::uint64_t size_, page_, windows_;
  std::unique_ptr<std::atomic<State>[], Free> states_;  // calloc: untouched pages cost no memory
  std::atomic<std::uint64_t> in_memory_{0};             // windows in that state
  std::atomic<std::int64_t> refreshed_{0};              // when, in milliseconds
  std::array<std::atomic<std::uint64_t>, 16> used_{};   // the first places since then
  std::atomic<std::uint32_t> used_count_{0};
  std::atomic<bool> loses_pages_{false};
};

}  // namespace dapple::detail
