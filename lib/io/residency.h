// Which parts of a mapped file are in memory.
#pragma once

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
  std::uint64_t size_, page_;
  std::unique_ptr<std::atomic<State>[], Free> states_;  // calloc: untouched pages cost no memory
};

}  // namespace dapple::detail
