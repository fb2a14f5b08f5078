// Writing past the caches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dapple::detail {

/// Output of this size and more leaves the caches before anybody reads it, and is written past
/// them. Ordinary stores would first fetch each line that they are about to overwrite: 4096 x 4096
/// cells in tiles of 256 x 256, read as f64: from u8 8.4 GB/s of output with ordinary stores, 20
/// past the caches; from f64 7.9 and 17.
inline constexpr std::uint64_t kStreamBytes = std::uint64_t{16} << 20;

inline constexpr std::size_t kCopyLine = 64;  // of a cache, bytes

/// Where in a line, in whole words, what will be copied to `to` had better stand: lines are copied
/// from whole ones then (rows of 8000 bytes: 26.6 ms, so 25.7).
inline std::size_t place_in_line(const std::byte* to) noexcept {
  constexpr std::size_t kWord = 8;
  return reinterpret_cast<std::uintptr_t>(to) % kCopyLine / kWord * kWord;
}

/// memcpy, whole lines past the caches. Behind the last one of a thread comes `finish_streams`.
void stream_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept;

/// Bytes that come a few at a time, at most kMost, on their way past the caches: they gather here
/// and leave in whole lines. A part of a line would be stored in the ordinary way: the line is read
/// first, and no store behind it is done before that.
template <std::size_t kMost>
class LineStage {
 public:
  /// The first byte goes to `to`.
  explicit LineStage(std::byte* to) noexcept : to_(to) {}

  /// Where the next bytes are put, at most kMost of them.
  std::byte* room() noexcept { return bytes_.data() + held_; }
  /// So many were put there.
  void added(std::size_t n) noexcept {
    held_ += n;
    if (held_ < kEnough) return;
    const std::size_t part = (reinterpret_cast<std::uintptr_t>(to_) + held_) % kCopyLine;
    const std::size_t whole = held_ - part;
    stream_copy(to_, bytes_.data(), whole);
    std::memcpy(bytes_.data(), bytes_.data() + whole, kCopyLine);  // the part, in few instructions
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
  // While many lines leave, nothing is read: 10^7 entries of 12 bytes taken apart take 22 ms with
  // 1 KiB at once, and 24 with 4 (a memcpy of them 18; Xeon of family 6, model 167).
  static constexpr std::size_t kEnough = 1024;

  std::byte* to_;
  std::size_t held_ = 0;
  alignas(kCopyLine) std::array<std::byte, kEnough + kMost + kCopyLine> bytes_;
};

/// Makes what was written past the caches visible to other threads, like any other store.
void finish_streams() noexcept;

}  // namespace dapple::detail
