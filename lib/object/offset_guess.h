// Where a block may lie, before its index entry is read.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "lib/object/index.h"

namespace dapple::detail {

/// Judges by the blocks that were fetched where the next one is: the blocks of many files lie
/// evenly. For advice to the system only, which reads the block while its index entry is still on
/// its way; a wrong guess costs a read that nobody needed. Any thread may ask and tell; what two of
/// them tell at once may mix, and give a wrong guess.
class OffsetGuess {
 public:
  /// The bytes of a block, if the last block told lay where it was expected.
  std::optional<Range> ask(std::uint64_t number) const noexcept {
    if (!sure_.load(std::memory_order_relaxed)) return std::nullopt;
    const std::uint64_t begin = expected(number);
    return Range{begin, begin + bytes_.load(std::memory_order_relaxed)};
  }

  void tell(std::uint64_t number, const Entry& entry) noexcept {
    const std::uint64_t last = number_.load(std::memory_order_relaxed);
    if (number == last) return;
    const bool right =
        expected(number) == entry.offset && bytes_.load(std::memory_order_relaxed) == entry.bytes;
    sure_.store(right, std::memory_order_relaxed);
    if (!right) {
      const std::uint64_t offset = offset_.load(std::memory_order_relaxed);
      const std::uint64_t stride = number > last ? (entry.offset - offset) / (number - last)
                                                 : (offset - entry.offset) / (last - number);
      stride_.store(stride, std::memory_order_relaxed);
      bytes_.store(entry.bytes, std::memory_order_relaxed);
    }
    number_.store(number, std::memory_order_relaxed);
    offset_.store(entry.offset, std::memory_order_relaxed);
  }

 private:
  std::uint64_t expected(std::uint64_t number) const noexcept {
    return offset_.load(std::memory_order_relaxed) +
           (number - number_.load(std::memory_order_relaxed)) *
               stride_.load(std::memory_order_relaxed);
  }

  // The last block told, and the distance from one block to the next.
  std::atomic<std::uint64_t> number_{0}, offset_{0}, bytes_{0}, stride_{0};
  std::atomic<bool> sure_{false};
};

}  // namespace dapple::detail
