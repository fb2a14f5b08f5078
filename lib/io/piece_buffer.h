// Collects the bytes of a file into pieces that the system writes fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "dapple/array.h"

namespace dapple::detail {

/// Receives a run of bytes of a file, whose first is at `offset` there.
using TakePiece = std::function<void(std::uint64_t offset, std::span<const std::byte> piece)>;

/// Collects consecutive bytes of a file and hands them out in pieces that end at multiples of
/// kPiece in the file and are aligned in memory as in the file: writing whole, equally aligned
/// pages to the page cache is almost twice as fast. One thread.
class PieceBuffer {
 public:
  static constexpr std::size_t kPiece = std::size_t{2} << 20;
  /// How many bytes may be claimed beyond the end of a piece.
  static constexpr std::size_t kOverhang = 64;

  /// Throws bad_alloc.
  PieceBuffer() : memory_(kPiece + kOverhang) {}

  /// Starts at `offset` in the file, discarding bytes that were not handed out. `take` receives the
  /// pieces, and must outlive the last `flush`.
  void start(std::uint64_t offset, const TakePiece& take) noexcept {
    begin_ = end_ = static_cast<std::size_t>(offset % kPiece);
    piece_ = offset - begin_;
    take_ = &take;
  }

  /// The offset in the file of the next byte.
  std::uint64_t offset() const noexcept { return piece_ + end_; }

  /// How many bytes the piece can still take, at least one. Hands out the piece if it is full.
  std::size_t left() {
    if (end_ >= kPiece) hand_out();
    return kPiece - end_;
  }

  /// Room for the next `n` bytes, to be filled before the next call. REQUIRES at most kOverhang
  /// bytes more than are left.
  std::byte* claim(std::size_t n) {
    if (end_ >= kPiece) hand_out();
    std::byte* const at = memory_.data() + end_;
    end_ += n;
    return at;
  }

  /// Appends bytes. Whole pages of long runs are handed out without a copy unless that is slow.
  void put(std::span<const std::byte> bytes);
  void put_zeros(std::uint64_t count);

  /// Hands out all collected bytes.
  void flush();

 private:
  void copy(std::span<const std::byte> bytes);
  void hand_out();

  Array<std::byte> memory_;
  std::uint64_t piece_ = 0;          // offset of memory_ in the file, a multiple of kPiece
  std::size_t begin_ = 0, end_ = 0;  // collected bytes of memory_; may reach beyond the piece
  const TakePiece* take_ = nullptr;
};

}  // namespace dapple::detail
