#include "lib/dbdf/walk.h"

#include <algorithm>

namespace dapple::detail::dbdf {

namespace {

// Windows double from the first to the largest: where the first block is a large one, most of a
// large window would be for nothing. The smaller ones are read, since a map that few bytes are
// looked at in costs more.
constexpr std::size_t kFirstWindow = 4 << 10, kLargestRead = 64 << 10, kLargestWindow = 256 << 10;
// Behind a block of this size the next header is read alone.
constexpr std::uint64_t kFarJump = 32 << 10;

// Small blocks are often of one size: the header so many items further on is asked for from memory,
// in case (10^6 blocks of 538 bytes: 96 ms, so 80), to its last byte, which is often on the next
// line (the same 57 ms, so 37; AMD EPYC of family 25, model 17).
constexpr std::uint64_t kAhead = 16;

}  // namespace

Walk::Walk(const MappedFile& file, std::uint64_t body, std::uint64_t rows, std::uint64_t cols)
    : file_(&file),
      rows_(rows),
      cols_(cols),
      at_(body),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kLargestRead)),
      window_at_(body),
      next_window_(kFirstWindow) {}

// The bytes of the next item's header, as many of them as the file has.
std::span<const std::byte> Walk::look() {
  const std::uint64_t left = file_->size() - at_;
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(left, kLongestItemHeader));
  const std::uint64_t window_end = window_at_ + window_size_;
  if (window_end - at_ < wanted || at_ >= window_end) {
    const bool far = at_ > window_end && at_ - window_end >= kFarJump;
    window_size_ = static_cast<std::size_t>(
        std::min<std::uint64_t>(left, far ? kLongestItemHeader : next_window_));
    window_at_ = at_;
    if (window_size_ > kLargestRead) {
      window_ = file_->map() + at_;
      // What was cut off a guarded file reads as items without cells, as many as it had room for.
      if (!file_->is_intact()) file_->fail_changed("it");
    } else {
      file_->read_at(at_, {buffer_.get(), window_size_});
      window_ = buffer_.get();
    }
    if (!far) next_window_ = std::min(2 * next_window_, kLargestWindow);
  }
  return {window_ + (at_ - window_at_), wanted};
}

bool Walk::next(Item& item) {
  if (at_ == file_->size()) return false;
  const std::uint64_t left = file_->size() - at_;
  const std::span<const std::byte> bytes = look();
  read_item_header(bytes, at_, rows_, cols_, left, file_->name(), item);
  const std::uint64_t length = item.entry.offset + item.entry.bytes - at_;
  const std::uint64_t window_left = window_at_ + window_size_ - at_;
  if (length <= window_left / kAhead) {
    const std::byte* const ahead = bytes.data() + kAhead * length;
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + kPosition + kDenseHeader - 1);
  }
  at_ += length;
  return true;
}

}  // namespace dapple::detail::dbdf
