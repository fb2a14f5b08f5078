// Copying with non-temporal stores, which bypass the caches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dapple::detail {

/// Output of at least this size leaves the caches before it is read. Ordinary stores would also
/// fetch each line before overwriting it, which halves the speed of large reads.
inline constexpr std::uint64_t kStreamBytes = std::uint64_t{16} << 20;

inline constexpr std::size_t kCopyLine = 64;  // bytes of a cache line

/// The offset in a cache line, rounded down to a word, at which a buffer should start for its lines
/// to coincide with those of `to`.
inline std::size_t place_in_line(const std::byte* to) noexcept {
  constexpr std::size_t kWord = 8;
  return reinterpret_cast<std::uintptr_t>(to) % kCopyLine / kWord * kWord;
}

/// memcpy that writes whole lines with non-temporal stores. Each thread calls `finish_streams`
/// after its last one.
void stream_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept;

/// Collects bytes that arrive at most kMost at a time and writes them with `stream_copy` in whole
/// lines. Partial lines would fall back to ordinary stores, which stall on reading the line.
template <std::size_t kMost>
class LineStage {
 public:
  /// The first byte goes to `to`.
  explicit LineStage(std::byte* to) noexcept : to_(to) {}

  /// Room for the next bytes, at most kMost.
  std::byte* room() noexcept { return bytes_.data() + held_; }
  /// `n` bytes were put there.
  void added(std::size_t n) noexcept {
    held_ += n;
    if (held_ < kEnough) return;
    const std::size_t part = (reinterpret_cast<std::uintptr_t>(to_) + held_) % kCopyLine;
    const std::size_t whole = held_ - part;
    stream_copy(to_, bytes_.data(), whole);
    std::memcpy(bytes_.data(), bytes_.data() + whole, kCopyLine);  // a constant size is inlined
    to_ += whole;
    held_ = part;
  }
  /// Writes whatever is left; the next byte goes to `to`.
  void restart_at(std::byte* to) noexcept {
    stream_copy(to_, bytes_.data(), held_);
    to_ = to;
    held_ = 0;
  }

 private:
  // Small, because reading stalls while a long burst of lines is written.
  static constexpr std::size_t kEnough = 1024;

  std::byte* to_;
  std::size_t held_ = 0;
  alignas(kCopyLine) std::array<std::byte, kEnough + kMost + kCopyLine> bytes_;
};

/// Orders this thread's non-temporal stores before its later stores, so that other threads that
/// synchronise with it see them.
void finish_streams() noexcept;

}  // namespace dapple::detail
