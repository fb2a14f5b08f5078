// Which parts of a mapped file are in memory, as far as asking costs little.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace dapple::detail {

/// Advice to read bytes that are in memory anyway costs more than to look at them: a look at each
/// of their pages and a system call (6 us for 512 KiB, a tenth of what it takes to sum them; 0.7 us
/// for a small block, twice what else its first fetch takes). So it is asked first, and what was
/// found is kept. Of large pieces, one in so many is asked about while all are in memory (to ask
/// takes up to 3 us, so that sums of all tiles of 512 KiB took 1.06 times as long as without), and
/// of small ones while none is (cold tiles of 4 KiB 1.13 times a pread, without 1.04). A hint:
/// pages may leave memory again. Any thread.
class Residency {
 public:
  /// Of the file that is mapped at `base`.
  Residency(const std::byte* base, std::uint64_t size) noexcept;

  /// True when these bytes are likely to be in memory. REQUIRES 0 < n, bytes of the file.
  bool holds(std::uint64_t offset, std::uint64_t n) noexcept;

  /// So many answers in a row are the same before as many that follow are not asked for.
  static constexpr unsigned kTrust = 16;

 private:
  enum class State : std::uint8_t { unknown, in_memory, in_part };  // zero is unknown
  /// Answers that are often the same. Threads that count at the same time lose some of it.
  class Streak {
   public:
    /// True when the answer is taken for granted this time.
    bool is_granted() noexcept;
    void tell(bool same) noexcept;

   private:
    std::atomic<unsigned> told_{0}, granted_{0};
  };
  struct Free {
    void operator()(std::atomic<State>* states) const noexcept;
  };
  State state_of(std::uint64_t window) noexcept;
  bool all_in_memory(std::uint64_t offset, std::uint64_t n) const noexcept;
  bool holds_large(std::uint64_t offset, std::uint64_t n) noexcept;

  const std::byte* base_;
  std::uint64_t size_;
  std::uint64_t page_;
  Streak large_held_, small_missing_;
  // One per window; untouched ones cost no memory.
  std::unique_ptr<std::atomic<State>[], Free> states_;
};

}  // namespace dapple::detail
