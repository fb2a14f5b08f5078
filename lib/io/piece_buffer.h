// Bytes on their way to a file, gathered in pieces that the system takes fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "dapple/array.h"

namespace dapple::detail {

/// Takes bytes that follow each other in a file; `offset` is where there the first of them goes.
using TakePiece = std::function<void(std::uint64_t offset, std::span<const std::byte> piece)>;

/// Gathers bytes that follow each other in a file, and hands them out in pieces that end at
/// multiples of kPiece there, so that each but the first and the last fills pages of its own, and
/// stands as far from the start of a line as there. The system keeps pages together that are
/// written at once, and copies bytes faster that stand alike (24 MB in pieces of 256 KiB, from byte
/// 30 on, to ext4 of Linux 6.18 on an AMD EPYC of family 25, model 17: 4.1 ms, so 3.0, in pieces of
/// 1 MiB 2.3; 10.2 where bytes go 1 to 15 further behind the start of a page than they stand, as
/// bug 30994 of glibc tells). One thread.
class PieceBuffer {
 public:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  /// The most that is claimed beyond what is left of a piece.
  static constexpr std::size_t kOverhang = 64;

  /// Throws bad_alloc.
  PieceBuffer() : memory_(kPiece + kOverhang) {}

  /// The next byte goes to `offset` in the file. `take` gets the pieces, and must outlive the last
  /// `flush`. Bytes that were gathered before and not handed out are forgotten.
  void start(std::uint64_t offset, const TakePiece& take) noexcept {
    begin_ = end_ = static_cast<std::size_t>(offset % kPiece);
    piece_ = offset - begin_;
    take_ = &take;
  }

  /// Where in the file the next byte goes.
  std::uint64_t offset() const noexcept { return piece_ + end_; }

  /// How many bytes the piece can still take: at least one. Hands out one that is full.
  std::size_t left() {
    if (end_ >= kPiece) hand_out();
    return kPiece - end_;
  }

  /// Room for the next `n` bytes, which must be filled before the next call. REQUIRES that they are
  /// no more than are left, and kOverhang.
  std::byte* claim(std::size_t n) {
    if (end_ >= kPiece) hand_out();
    std::byte* const at = memory_.data() + end_;
    end_ += n;
    return at;
  }

  /// The next bytes. Whole pages of many are taken from where they lie, unless that is slow.
  void put(std::span<const std::byte> bytes);
  void put_zeros(std::uint64_t count);

  /// Hands out what was gathered.
  void flush();

 private:
  void copy(std::span<const std::byte> bytes);
  void hand_out();

  Array<std::byte> memory_;          // as the piece's bytes in the file
  std::uint64_t piece_ = 0;          // where the piece is in the file, a multiple of kPiece
  std::size_t begin_ = 0, end_ = 0;  // of it, what is gathered; may reach beyond the piece
  const TakePiece* take_ = nullptr;
};

}  // namespace dapple::detail
