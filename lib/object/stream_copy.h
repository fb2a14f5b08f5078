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

/// memcpy, whole lines past the caches. Behind the last one of a thread comes `finish_streams`.
void stream_copy(std::byte* to, const std::byte* from, std::size_t n) noexcept;

/// Bytes of which a few come at a time, on their way past the caches: they gather until there are
/// `kEnough`, and leave in whole lines. A part of a line would be stored in the ordinary way: the
/// line is read first, and no store behind it is done before that.
template <std::size_t kEnough>
class LineStage {
 public:
  /// The first byte goes to `to`.
  explicit LineStage(std::byte* to) noexcept : to_(to) {}

  /// Where the next bytes are put, at most kEnough of them.
  std::byte* room() noexcept { return bytes_.data() + held_; }
  /// So many were put there.
  void added(std::size_t n) noexcept {
    held_ += n;
    if (held_ >= kEnough) write(held_ - (reinterpret_cast<std::uintptr_t>(to_) + held_) % kLine);
  }
  /// Writes whatever is left; the next byte goes to `to`.
  void restart_at(std::byte* to) noexcept {
    write(held_);
    to_ = to;
  }

 private:
  static constexpr std::size_t kLine = 64;
  static_assert(kEnough >= kLine);

  void write(std::size_t n) noexcept {
    stream_copy(to_, bytes_.data(), n);
    to_ += n;
    held_ -= n;
    std::memmove(bytes_.data(), bytes_.data() + n, held_);
  }

  std::byte* to_;
  std::size_t held_ = 0;
  alignas(kLine) std::array<std::byte, 2 * kEnough> bytes_;
};

/// Makes what was written past the caches visible to other threads, like any other store.
void finish_streams() noexcept;

}  // namespace dapple::detail
