#include "lib/io/piece_buffer.h"

#include <algorithm>
#include <cstring>

namespace dapple::detail {

namespace {

constexpr std::size_t kPage = 4096;

// True for bytes just before a page boundary: copying from there to the start of a page is four
// times as slow (glibc bug 30994).
bool copies_slowly(const std::byte* bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes) % kPage > kPage - 16;
}

}  // namespace

void PieceBuffer::put(std::span<const std::byte> bytes) {
  if (bytes.size() >= kPiece) {
    const std::size_t page_left = (kPage - offset() % kPage) % kPage;
    if (!copies_slowly(bytes.data() + page_left)) {
      copy(bytes.first(page_left));
      flush();
      const std::size_t rest = (bytes.size() - page_left) % kPage;
      const auto pages = bytes.subspan(page_left, bytes.size() - page_left - rest);
      (*take_)(offset(), pages);
      start(offset() + pages.size(), *take_);
      bytes = bytes.last(rest);
    }
  }
  copy(bytes);
}

void PieceBuffer::copy(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t n = std::min(left(), bytes.size());
    std::memcpy(claim(n), bytes.data(), n);
    bytes = bytes.subspan(n);
  }
}

void PieceBuffer::put_zeros(std::uint64_t count) {
  while (count > 0) {
    const std::size_t n = std::min<std::uint64_t>(left(), count);
    std::memset(claim(n), 0, n);
    count -= n;
  }
}

void PieceBuffer::flush() {
  if (end_ >= kPiece) hand_out();
  if (begin_ < end_) (*take_)(piece_ + begin_, {memory_.data() + begin_, end_ - begin_});
  begin_ = end_;
}

void PieceBuffer::hand_out() {
  (*take_)(piece_ + begin_, {memory_.data() + begin_, kPiece - begin_});
  std::memcpy(memory_.data(), memory_.data() + kPiece, end_ - kPiece);
  begin_ = 0;
  end_ -= kPiece;
  piece_ += kPiece;
}

}  // namespace dapple::detail
