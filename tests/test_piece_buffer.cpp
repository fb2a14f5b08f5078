// Gathering bytes on their way to a file (lib/piece_buffer.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "lib/io/piece_buffer.h"
#include "tests/check.h"
#include "tests/support.h"

using namespace dapple;
using detail::PieceBuffer;
using detail::TakePiece;

namespace {

constexpr std::size_t kPieceBytes = PieceBuffer::kPiece;

/// The n-th byte of what is written.
std::byte nth_byte(std::uint64_t n) { return static_cast<std::byte>(n * 7 % 251); }

std::vector<std::byte> some_bytes(std::uint64_t first, std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = nth_byte(first + i);
  return bytes;
}

/// Where pieces began and how long they were, and whether they held what they should.
struct TakenPieces {
  std::uint64_t first, next;
  std::vector<std::uint64_t> begins{};
  bool sound = true;

  explicit TakenPieces(std::uint64_t offset) : first(offset), next(offset) {}

  void take(std::uint64_t offset, std::span<const std::byte> piece) {
    sound = sound && offset == next && !piece.empty();
    for (std::size_t i = 0; i < piece.size(); ++i) {
      sound = sound && piece[i] == nth_byte(offset - first + i);
    }
    begins.push_back(offset);
    next = offset + piece.size();
  }
};

}  // namespace

TEST_CASE(
    "piece buffer: bytes come out in order, in pieces that begin at multiples of their size") {
  test::Rng rng(31);
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{30}, std::uint64_t{kPieceBytes - 1},
        5 * kPieceBytes + 12345, (std::uint64_t{1} << 40) + 777}) {
    CAPTURE(offset);
    TakenPieces pieces(offset);
    const TakePiece take = [&](std::uint64_t at, auto piece) { pieces.take(at, piece); };
    PieceBuffer buffer;
    buffer.start(offset, take);
    std::uint64_t done = 0;
    while (done < 3 * kPieceBytes + 1000) {
      CHECK(buffer.offset() == offset + done);
      if (rng.below(2) == 0) {
        const auto n = static_cast<std::size_t>(rng.between(0, PieceBuffer::kOverhang));
        std::byte* const at = buffer.claim(n);
        for (std::size_t i = 0; i < n; ++i) at[i] = nth_byte(done + i);
        done += n;
      } else {
        const auto n = static_cast<std::size_t>(rng.between(0, 100'000));
        buffer.put(some_bytes(done, n));
        done += n;
      }
    }
    // As much as is left, and a little more.
    const std::size_t n = buffer.left() + PieceBuffer::kOverhang;
    std::byte* const at = buffer.claim(n);
    for (std::size_t i = 0; i < n; ++i) at[i] = nth_byte(done + i);
    done += n;
    buffer.flush();
    CHECK(pieces.sound);
    CHECK(pieces.next == offset + done);
    CHECK(pieces.begins.size() >= 4);
    CHECK(std::all_of(pieces.begins.begin() + 1, pieces.begins.end(),
                      [](std::uint64_t begin) { return begin % kPieceBytes == 0; }));
  }
}

TEST_CASE("piece buffer: what fills pages is taken from where it is, wherever that is") {
  constexpr std::size_t kMost = kPieceBytes + 9000;
  constexpr std::uint64_t kOffsets[] = {0, 23, 4095};
  // Every distance from the start of a page, among them those that are slow to copy.
  std::vector<std::byte> memory(kMost + 2 * 4096);
  for (std::size_t shift = 0; shift < 4096; shift += shift < 4064 ? 508 : 1) {
    CAPTURE(shift);
    const std::size_t phase = reinterpret_cast<std::uintptr_t>(memory.data()) % 4096;
    std::byte* const from = memory.data() + (4096 - phase) + shift;
    const std::uint64_t offset = kOffsets[shift % std::size(kOffsets)];
    TakenPieces pieces(offset);
    const TakePiece take = [&](std::uint64_t at, auto piece) { pieces.take(at, piece); };
    PieceBuffer buffer;
    buffer.start(offset, take);
    std::uint64_t done = 0;
    for (const std::size_t n :
         {std::size_t{11}, kMost, kPieceBytes - 1, kPieceBytes, std::size_t{1}}) {
      for (std::size_t i = 0; i < n; ++i) from[i] = nth_byte(done + i);
      buffer.put({from, n});
      done += n;
    }
    buffer.flush();
    CHECK(pieces.sound);
    CHECK(pieces.next == offset + done);
  }
}

TEST_CASE("piece buffer: nothing is handed out twice, and nothing where nothing came") {
  TakenPieces pieces(100);
  const TakePiece take = [&](std::uint64_t at, auto piece) { pieces.take(at, piece); };
  PieceBuffer buffer;
  buffer.start(100, take);
  buffer.flush();
  CHECK(pieces.begins.empty());
  buffer.put(some_bytes(0, 50));
  buffer.flush();
  buffer.flush();
  buffer.put(some_bytes(50, kPieceBytes - 150));
  buffer.flush();
  buffer.put(some_bytes(kPieceBytes - 100, 10));
  buffer.flush();
  CHECK(pieces.sound);
  CHECK(pieces.begins == std::vector<std::uint64_t>{100, 150, kPieceBytes});
}
